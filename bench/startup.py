#!/usr/bin/env python3
"""Start times of JAX programs on Weft, beside JAX's own CPU devices in the same run.

    python3 bench/startup.py --python VENV/bin/python --library build/lib/libWeftPjrt.so [--rounds 3] [--json]

VENV holds bench/requirements.txt. The platforms take turns; cells are medians over the rounds. Each
round has a cache folder of its own, which starts empty.

  plugin           `import jax; jax.devices()` over `import jax` alone, ms
  new              one op that no process has compiled before: `lowered.compile()`, median of ten ops, ms
  from memory      the same ten again, after jax.clear_caches()
  from disk        the same ten in a second process (JAX's CPU: with JAX's own compilation cache)
  Keras, new       the programs that Keras compiles until its train step: a model of two layers with dropout and Adam,
                   ModelParallel on 2x4 devices; the sum over the programs as JAX's monitoring tells it, ms
  Keras, from disk the same in a second process
  train step       its train step, new and from disk
"""

import argparse
import json
import os
import statistics
import tempfile
import time

import two_platforms

FIGURES = ["plugin", "new", "from memory", "from disk", "Keras programs", "Keras, new", "Keras, from disk",
           "train step, new", "train step, from disk"]


def ten_ops():
    import jax.numpy as jnp
    from jax import lax

    return [lambda x: x + 1, lambda x: x * x, jnp.exp, lambda x: x.astype("int32"), lambda x: x.sum(0),
            lambda x: x.T, lambda x: jnp.broadcast_to(x, (2, 4, 8)), lambda x: lax.slice(x, (0, 0), (2, 4)),
            lambda x: jnp.concatenate([x, x]), lambda x: jnp.maximum(x, 0)]


def compile_times(argument):
    import jax

    times = []
    for function in ten_ops():
        lowered = jax.jit(function).lower(argument)
        begin = time.perf_counter()
        lowered.compile()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def measure_ops():
    """Measures, in a process of its own, ten one-op programs, twice."""
    begin = time.perf_counter()
    import jax

    imported = time.perf_counter()
    jax.devices()
    plugin = 1e3 * (time.perf_counter() - imported)
    jax.jit(lambda x: x - 1).lower(jax.ShapeDtypeStruct((3,), "float32")).compile()  # loads the compiler
    argument = jax.ShapeDtypeStruct((4, 8), "float32")
    first = compile_times(argument)
    jax.clear_caches()
    return {"import": 1e3 * (imported - begin), "plugin": plugin, "first": first,
            "again": compile_times(argument)}


def measure_keras():
    """Measures, in a process of its own, the compilations of Keras up to and including its first train step."""
    os.environ["KERAS_BACKEND"] = "jax"
    import jax

    times = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: times.append(1e3 * seconds) if "backend_compile" in event else None)
    import keras
    import numpy as np

    mesh = keras.distribution.DeviceMesh((2, 4), ("batch", "model"), keras.distribution.list_devices())
    layouts = keras.distribution.LayoutMap(mesh)
    layouts["d1/kernel"] = (None, "model")
    layouts["d1/bias"] = ("model",)
    layouts["d2/kernel"] = ("model", None)
    keras.distribution.set_distribution(
        keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch"))
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(32, activation="relu", name="d1"),
                              keras.layers.Dropout(0.1), keras.layers.Dense(2, name="d2")])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    x = np.random.default_rng(0).normal(size=(64, 20)).astype("float32")
    model.fit(x, (x[:, 0] > 0).astype("int32"), batch_size=32, verbose=0)
    step = max(times)  # the train step takes by far the longest, on either platform
    return {"count": len(times) - 1, "others": sum(times) - step, "step": step}


def one_round(args, platform):
    # Both find the plugin; JAX's CPU uses JAX's own cache.
    with tempfile.TemporaryDirectory() as folder:
        more = {"PYTHONPATH": str(two_platforms.BENCH.parent / "tools" / "pjrt" / "python")}
        if platform == "cpu":
            more |= {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                     "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
        new, known, keras, again = (two_platforms.figures(args, platform, 8, ["--child", what], folder, **more)
                                    for what in ("ops", "ops", "keras", "keras"))
    return {"plugin": known["plugin"], "new": new["first"], "from memory": new["again"], "from disk": known["first"],
            "Keras programs": keras["count"], "Keras, new": keras["others"], "Keras, from disk": again["others"],
            "train step, new": keras["step"], "train step, from disk": again["step"]}


def main():
    parser = two_platforms.arguments(__doc__, rounds=3)
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--child", choices=("ops", "keras"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measure_ops() if args.child == "ops" else measure_keras()))
        return
    found = two_platforms.in_turn(args.rounds, lambda platform: one_round(args, platform))
    medians = {platform: two_platforms.medians(runs, FIGURES) for platform, runs in found.items()}
    if args.json:
        print(json.dumps({"rounds": args.rounds, **medians}))
        return
    print("| ms | JAX's CPU | Weft | ratio |\n|---|---|---|---|")
    for name in FIGURES:
        peer, ours = medians["cpu"][name], medians["weft"][name]
        ratio = "" if name == "Keras programs" else f"{peer / ours:.1f}x"
        print(f"| {name} | {peer:.3g} | {ours:.3g} | {ratio} |")


if __name__ == "__main__":
    main()
