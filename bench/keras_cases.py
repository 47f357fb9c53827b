"""Models of Keras under keras.distribution that the benches here train, on any platform of JAX.

  mlp   784-128-10, batch 128, Adam(0.01), accuracy      cnn   convnet of the Keras multi-GPU guide, batch 64, Adam(1e-3)
  gpt   4 layers, width 256, 8 heads, 128 characters of a vocabulary of 65, batch 32, Adam(3e-4)

  1     one device, no distribution
  dp    DataParallel over all devices
  mp, tp    ModelParallel on a (devices / 4, 4) mesh ("data", "model") in the Megatron layout
  bf16  as a suffix of these: weights, activations and gradients in bfloat16
  fsdp  every weight sharded on its largest dimension over the axis that also shards the batch

The data of batches() are seeded noise: neither times nor bytes depend on them.
"""

import statistics
import time

import numpy as np

CASES = ("mlp-dp", "mlp-mp", "cnn-dp", "gpt-dp", "gpt-tp", "gpt-fsdp", "gpt-dp-bf16")
BATCH = {"mlp": 128, "cnn": 64, "gpt": 32}
LEARNING_RATE = {"mlp": 0.01, "cnn": 1e-3, "gpt": 3e-4}
VOCABULARY, LENGTH = 65, 128


def mlp():
    import keras

    return keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(),
                             keras.layers.Dense(128, activation="relu", name="up"),
                             keras.layers.Dense(10, name="down")])


def cnn():
    import keras

    layers = keras.layers
    model = keras.Sequential([keras.Input((28, 28, 1)), layers.Rescaling(1 / 255)])
    for filters, size, strides, padding in ((12, 3, 1, "same"), (24, 6, 2, "valid"), (32, 6, 2, "same")):
        model.add(layers.Conv2D(filters, size, strides=strides, padding=padding, use_bias=False))
        model.add(layers.BatchNormalization(scale=False, center=True))
        model.add(layers.ReLU())
    for layer in (layers.GlobalAveragePooling2D(), layers.Dense(256, activation="relu"), layers.Dropout(0.5),
                  layers.Dense(10)):
        model.add(layer)
    return model


def gpt(depth=4, width=256, heads=8, length=LENGTH, vocabulary=VOCABULARY):
    import keras

    layers = keras.layers
    tokens = keras.Input((length,), dtype="int32")
    positions = keras.ops.cumsum(keras.ops.ones_like(tokens), axis=-1) - 1
    x = layers.Embedding(vocabulary, width, name="token")(tokens)
    x = x + layers.Embedding(length, width, name="position")(positions)
    for i in range(depth):
        h = layers.LayerNormalization(name=f"block{i}_norm1")(x)
        attend = layers.MultiHeadAttention(heads, width // heads, name=f"block{i}_attention")
        x = x + attend(h, h, use_causal_mask=True)
        h = layers.LayerNormalization(name=f"block{i}_norm2")(x)
        h = layers.Dense(4 * width, activation="gelu", name=f"block{i}_up")(h)
        x = x + layers.Dense(width, name=f"block{i}_down")(h)
    x = layers.LayerNormalization(name="norm")(x)
    return keras.Model(tokens, layers.Dense(vocabulary, name="head")(x))


MLP_MEGATRON = {
    ".*up/kernel": (None, "model"),
    ".*up/bias": ("model",),
    ".*down/kernel": ("model", None),
}
# The 65 rows of the vocabulary do not divide over 4 devices: token table and head stay replicated.
GPT_MEGATRON = {
    ".*_attention/(query|key|value)/kernel": (None, "model", None),
    ".*_attention/(query|key|value)/bias": ("model", None),
    ".*_attention/attention_output/kernel": ("model", None, None),
    ".*_up/kernel": (None, "model"),
    ".*_up/bias": ("model",),
    ".*_down/kernel": ("model", None),
}
# The largest dimension of each weight is sharded; that of head/bias (65) does not divide, so it stays
# replicated.
GPT_FSDP = {
    "(token|position)/embeddings": (None, "data"),
    ".*norm[12]?/(gamma|beta)": ("data",),
    ".*_attention/(query|key|value)/kernel": ("data", None, None),
    ".*_attention/(query|key|value)/bias": (None, "data"),
    ".*_attention/attention_output/kernel": (None, None, "data"),
    ".*_attention/attention_output/bias": ("data",),
    ".*_up/kernel": (None, "data"),
    ".*_up/bias": ("data",),
    ".*_down/kernel": ("data", None),
    ".*_down/bias": ("data",),
    "head/kernel": ("data", None),
}


def distribution(case, devices):
    import keras

    family, kind = case.split("-")[:2]
    if kind == "1":
        return None
    if kind == "dp":
        return keras.distribution.DataParallel(devices=keras.distribution.list_devices()[:devices])
    shape, axes = ((devices,), ("data",)) if kind == "fsdp" else ((devices // 4, 4), ("data", "model"))
    layout_map = keras.distribution.LayoutMap(keras.distribution.DeviceMesh(shape, axes))
    layouts = {"mlp": MLP_MEGATRON, "gpt": GPT_FSDP if kind == "fsdp" else GPT_MEGATRON}[family]
    for path, layout in layouts.items():
        layout_map[path] = layout
    return keras.distribution.ModelParallel(layout_map=layout_map, batch_dim_name="data")


def distribution_file(case, devices):
    """The distribution as a JSON value for Weft's command line; nothing for one device."""
    kind = case.split("-")[1]
    if kind == "1":
        return None
    mesh = {"dp": ([devices], ["batch"]), "fsdp": ([devices], ["data"])}.get(kind, ([devices // 4, 4], ["data", "model"]))
    config = {"device_mesh": {"shape": mesh[0], "axis_names": mesh[1], "devices": None}}
    if kind == "dp":
        return {"class_name": "DataParallel", "config": config}
    layouts = {"mlp": MLP_MEGATRON, "gpt": GPT_FSDP if kind == "fsdp" else GPT_MEGATRON}[case.split("-")[0]]
    return {"class_name": "ModelParallel", "config": {**config, "layout_map": layouts, "batch_dim_name": "data"}}


def compiled_model(case, devices):
    """Sets the distribution; returns the model."""
    import keras

    family = case.split("-")[0]
    keras.distribution.set_distribution(distribution(case, devices))
    keras.utils.set_random_seed(1234)
    keras.config.set_dtype_policy("bfloat16" if case.endswith("-bf16") else "float32")
    model = {"mlp": mlp, "cnn": cnn, "gpt": gpt}[family]()
    model.compile(optimizer=keras.optimizers.Adam(LEARNING_RATE[family]),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=[] if family == "gpt" else ["accuracy"])
    model.optimizer.build(model.trainable_variables)
    return model


def batches(case, count):
    """Host arrays: pairs of inputs and labels."""
    family = case.split("-")[0]
    rng, size = np.random.default_rng(0), BATCH[case.split("-")[0]]
    for _ in range(count):
        if family == "gpt":
            text = rng.integers(0, VOCABULARY, (size, LENGTH + 1), dtype="int32")
            yield text[:, :-1], text[:, 1:]
        else:
            shape = (28, 28) if family == "mlp" else (28, 28, 1)
            yield rng.random((size, *shape), dtype="float32"), rng.integers(0, 10, size, dtype="int32")


def train_step(model):
    """The step of model.fit, jitted, its variables and its metrics."""
    import jax

    def step(variables, metrics, batch):
        logs, (*variables, _) = model.train_step((*variables, metrics), batch)
        return logs, tuple(variables)

    groups = (model.trainable_variables, model.non_trainable_variables, model.optimizer.variables)
    variables = tuple([v.value for v in group] for group in groups)
    metrics = [v.value for v in model.metrics_variables]
    shardings = jax.tree.map(lambda a: a.sharding, variables)
    return jax.jit(step, donate_argnums=0, out_shardings=(None, shardings)), variables, metrics


def on_devices(batch):
    import jax
    import keras

    spread = keras.distribution.distribution()
    if spread is None:
        return jax.device_put(batch)
    return tuple(jax.device_put(a, spread.get_data_layout(a.shape).backend_layout) for a in batch)


def median_step_ms(compiled, variables, metrics, batches, steps):
    """Milliseconds of a call of the compiled train step, after one that warms it up, and the last loss."""
    import jax

    times = []
    for i in range(steps + 1):
        begin = time.perf_counter()
        logs, variables = compiled(variables, metrics, batches[i % len(batches)])
        jax.block_until_ready((logs, variables))
        times.append(time.perf_counter() - begin)
        loss = float(logs["loss"])
    return 1e3 * statistics.median(times[1:]), loss
