#!/usr/bin/env python3
"""Many train steps of Keras through JAX: does memory grow, does anything hang?

    JAX_PLATFORMS=weft WEFT_DEVICES=cpu:8 python bench/steps.py [--case mlp-dp] [--steps 10000] [--stuck 300]

model.fit(verbose=0), so that nothing waits between steps, in 20 epochs (more than 20 batches of
bench/keras_cases.py are repeated). Prints the resident memory after epochs and ends with 1 where it
grew by more than --allowed MiB since the fourth epoch, or where an epoch took longer than --stuck seconds.
"""

import argparse
import faulthandler
import os
import sys
import time

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402

import keras_cases  # noqa: E402

EPOCHS = 20


def resident_mib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


class Watch(keras.callbacks.Callback):
    """A callback that records memory at the end of each epoch, and ends the process if one is stuck."""

    def __init__(self, stuck):
        super().__init__()
        self.stuck, self.memory, self.began = stuck, [], time.perf_counter()
        faulthandler.dump_traceback_later(stuck, exit=True)

    def on_epoch_end(self, epoch, logs=None):
        faulthandler.dump_traceback_later(self.stuck, exit=True)
        self.memory.append(resident_mib())
        print(f"epoch {epoch + 1}: {self.memory[-1]:.1f} MiB, loss {logs['loss']:.4f}, "
              f"{time.perf_counter() - self.began:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=keras_cases.CASES, default="mlp-dp")
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--stuck", type=int, default=300)
    parser.add_argument("--allowed", type=float, default=16)
    args = parser.parse_args()
    each = max(1, args.steps // EPOCHS)
    some = list(keras_cases.batches(args.case, min(each, 20)))
    x, y = (np.concatenate([some[i % len(some)][part] for i in range(each)]) for part in (0, 1))
    model = keras_cases.compiled_model(args.case, 8)
    watch = Watch(args.stuck)
    model.fit(x, y, batch_size=keras_cases.BATCH[args.case.split("-")[0]], epochs=EPOCHS, verbose=0,
              callbacks=[watch])
    faulthandler.cancel_dump_traceback_later()
    grown = max(watch.memory[4:]) - watch.memory[3]
    print(f"{EPOCHS * each} steps: {grown:+.1f} MiB since the fourth epoch, at most {args.allowed:g} are allowed")
    sys.exit(grown > args.allowed)


if __name__ == "__main__":
    main()
