"""Measures Keras 3 on JAX, the peer of Weft, on virtual CPU devices.

    python bench/keras_jax.py --case mlp-dp [--devices 8] [--epochs 3] [--steps 100]

One process is one measurement and prints one JSON line. The script sets XLA_FLAGS itself, before
JAX loads. Cases: mlp-1 (one device), mlp-dp (DataParallel over 8), mlp-mp (ModelParallel on a
(2, 4) mesh in the Megatron layout) of bench/keras_cases.py, on MNIST.

Figures
  cold_start_s   start of the process until the first step of fit is done (10 ms resolution)
  fit_step_ms    median step in fit, the loss read after each step as the progress bar does
  bare_step_ms   median call of the same train step, compiled ahead, data already on devices
  peak_rss_mib   ru_maxrss after fit and evaluate
  train_*, test_*                     after the last epoch of fit
  trace_s, lower_s, xla_compile_s     the stages of jit(step).trace().lower().compile()
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import time

import numpy as np

import keras_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = keras_cases.BATCH["mlp"]
CASES = {"mlp-1": 1, "mlp-dp": 8, "mlp-mp": 8}


def process_age():
    """Seconds since the kernel started this process."""
    fields = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def seconds(function):
    """Returns the wall time of one call and its result."""
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def mnist():
    arrays = np.load(ROOT / "examples" / "data" / "mnist24k.npz")
    return [
        (arrays[f"x_{part}"].astype("float32") / 255, arrays[f"y_{part}"].astype("int32"))
        for part in ("train", "test")
    ]


def step_clock(warm_up):
    """A callback that waits for each step, as the progress bar does, and keeps the times."""
    import keras

    class StepClock(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.ends = [] if epoch == 0 else self.ends + [None]

        def on_train_batch_end(self, batch, logs=None):
            float(logs["loss"])
            if not self.ends:
                self.cold_start_s = process_age()
            self.ends.append(time.perf_counter())

        def on_test_batch_end(self, batch, logs=None):
            float(logs["loss"])

        def median_ms(self):
            pairs = list(zip(self.ends, self.ends[1:]))[warm_up:]
            return 1e3 * statistics.median(b - a for a, b in pairs if a and b)

    return StepClock()


def measure_bare_step(model, train, steps):
    """Compiles the train step ahead and runs it on data that is already in place."""
    model.reset_metrics()
    jitted, variables, metrics = keras_cases.train_step(model)
    x, y = train
    starts = range(0, min(steps + 1, len(x) // BATCH) * BATCH, BATCH)
    batches = [keras_cases.on_devices((x[i:i + BATCH], y[i:i + BATCH])) for i in starts]
    trace_s, traced = seconds(lambda: jitted.trace(variables, metrics, batches[0]))
    lower_s, lowered = seconds(traced.lower)
    xla_s, compiled = seconds(lowered.compile)
    step_ms, _ = keras_cases.median_step_ms(compiled, variables, metrics, batches, steps)
    return {"bare_step_ms": step_ms, "trace_s": trace_s, "lower_s": lower_s, "xla_compile_s": xla_s}


def measure(args):
    train, test = mnist()
    model = keras_cases.compiled_model(args.case, args.devices)
    start = [(v, np.array(v.value)) for v in (*model.variables, *model.optimizer.variables)]
    clock = step_clock(warm_up=5)
    history = model.fit(*train, batch_size=BATCH, epochs=args.epochs, verbose=0,
                        callbacks=[clock]).history
    tested = model.evaluate(*test, batch_size=1000, verbose=0, return_dict=True, callbacks=[clock])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for variable, value in start:
        variable.assign(value)
    return {
        "cold_start_s": clock.cold_start_s,
        "fit_step_ms": clock.median_ms(),
        "peak_rss_mib": peak,
        **{f"train_{name}": values[-1] for name, values in history.items()},
        **{f"test_{name}": value for name, value in tested.items()},
        **measure_bare_step(model, train, args.steps),
    }


def main():
    parser = argparse.ArgumentParser(description="Measure Keras 3 on JAX on virtual CPU devices.")
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--devices", type=int, help="virtual CPU devices (8; 1 for mlp-1)")
    parser.add_argument("--steps", type=int, default=100, help="timed bare steps")
    parser.add_argument("--epochs", type=int, default=3, help="epochs of fit")
    parser.add_argument("--write-model", help="writes bench/mlp/model.json to this path and stops")
    args = parser.parse_args()
    os.environ["KERAS_BACKEND"] = "jax"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if args.write_model:
        pathlib.Path(args.write_model).write_text(keras_cases.compiled_model("mlp-1", 1).to_json())
        return
    if not args.case:
        parser.error("give --case or --write-model")
    args.devices = args.devices or CASES[args.case]
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={args.devices}"
    print(json.dumps({"case": args.case, "devices": args.devices, **measure(args)}))


if __name__ == "__main__":
    main()
