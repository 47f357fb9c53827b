"""Writes models of the field with real Keras: keras.applications, and models as people write them with layers and keras.ops.

    KERAS_BACKEND=jax python write_models.py whole|narrow FOLDER [NAME ...]

whole: FOLDER/NAME.json, the model as it is used, for `weft explain` and `weft compile`. narrow: FOLDER/NAME, a small twin
with the figures of a few steps, for test/exec/check_fixture.py:

    python write_models.py narrow /tmp/narrow && python ../exec/check_fixture.py WEFT /tmp/narrow/resnet50 all
"""

import json
import pathlib
import sys
import typing

import keras
import numpy as np
from keras import applications

import written_models

SEED, STEPS, CLASSES = 1337, 5, 5


class Twin(typing.NamedTuple):
    """A narrow model: its smallest input, rate and batch, and the options that make it narrow.

    Deep stacks of batch normalizations amplify the last digit of a weight to percents of a gradient, so that two correct programs
    part after one step of an ordinary rate. A batch of 16 images and a rate of 1e-6 keep five steps comparable.
    """

    constructor: str
    size: int = 64
    options: dict = {}
    rate: float = 1e-6
    batch: int = 16


APPLICATIONS = {
    "resnet50": Twin("ResNet50", rate=1e-7),
    "vgg16": Twin("VGG16", 32, rate=0.1, batch=8),
    "mobilenetv2": Twin("MobileNetV2", 96, {"alpha": 0.35}),
    "mobilenetv3small": Twin("MobileNetV3Small", 64, {"alpha": 0.75}, 1e-4),
    "mobilenetv3large": Twin("MobileNetV3Large", 64, {"alpha": 0.75}, 1e-4),
    "efficientnetb0": Twin("EfficientNetB0", rate=1e-4),
    "efficientnetv2b0": Twin("EfficientNetV2B0", rate=1e-4),
    "densenet121": Twin("DenseNet121"),
    "convnexttiny": Twin("ConvNeXtTiny", 32, rate=1e-2, batch=8),
    "xception": Twin("Xception", 71),
    "inceptionv3": Twin("InceptionV3", 75),
    "nasnetmobile": Twin("NASNetMobile", 32),
}
WRITTEN = Twin("", rate=1e-2, batch=8)
MESHES = {"mp-2x4": [2, 4], "mp-8x1": [8, 1]}


def application(name, whole):
    twin = APPLICATIONS[name]
    options = {} if whole else dict(input_shape=(twin.size, twin.size, 3), classes=CLASSES, **twin.options)
    return getattr(applications, twin.constructor)(weights=None, **options)


def built(name, whole):
    model = application(name, whole) if name in APPLICATIONS else written_models.MODELS[name](whole)
    rate = APPLICATIONS.get(name, WRITTEN).rate
    model.compile(keras.optimizers.SGD(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=name not in APPLICATIONS))
    return model


def inputs(model, samples, classes):
    random = np.random.RandomState(3)
    out = {}
    for tensor in model.inputs:
        shape = (samples, *tensor.shape[1:])
        isText = "int" in keras.backend.standardize_dtype(tensor.dtype)
        out[tensor.name] = random.randint(0, 20, shape).astype("int32") if isText else random.uniform(0, 1, shape).astype("float32")
    return out, random.randint(0, classes, (samples, *model.output_shape[1:-1])).astype("int32")


def trained(text, x, y, nudge=None):
    """The results of the steps, by the names of golden.npz. A nudge moves each weight by its last digit: up, down, or either way."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(SEED)
    model = keras.models.model_from_json(text)
    x = x[next(iter(x))] if len(x) == 1 else x
    batch = len(y) // 2
    part = lambda begin: {k: v[begin:begin + batch] for k, v in x.items()} if isinstance(x, dict) else x[begin:begin + batch]
    found = {f"initial/{v.path}": v.numpy() for v in model.variables}
    if nudge:
        signs = np.random.RandomState(1)
        for v in model.trainable_variables:
            sign = {"up": 1, "down": -1, "either": signs.choice([-1, 1], v.shape)}[nudge]
            v.assign((v.numpy() * (1 + 1e-7 * np.float64(sign))).astype("float32"))
    found["predict/initial"] = model.predict(part(0), batch_size=batch, verbose=0)
    found["steps/loss"] = []
    for step in range(STEPS):
        begin = step * batch % len(y)
        found["steps/loss"].append(model.train_on_batch(part(begin), y[begin:begin + batch], return_dict=True)["loss"])
    found |= {f"final/{v.path}": v.numpy() for v in model.variables}
    return {key: np.asarray(value) for key, value in found.items()}


def difference(a, b):
    a, b = a.astype("float64"), b.astype("float64")
    return np.linalg.norm(a - b) / (np.linalg.norm(a) or 1)


def noise(found, nudged):
    """Variables whose gradient is zero but for rounding: biases of attention keys, and in front of normalizations."""
    return [name.removeprefix("final/") for name in found
            if name.startswith("final/") and max(difference(found[name], other[name]) for other in nudged) > 1e-3]


def tolerances(found, nudged):
    """Four times the change by the nudges, for each tensor."""
    out = {}
    for name, value in found.items():
        a = value.astype("float64")
        moved = [(abs(a - other[name]).max() / (abs(a).max() or 1), difference(a, other[name])) for other in nudged]
        least = [2e-6, 2e-6] if name.startswith("initial/") else np.maximum(2e-6, 4 * np.max(moved, axis=0))
        out[name] = {"rel": float(least[0]), "l2": float(least[1])}
    return out


def write_narrow(folder, name):
    keras.backend.clear_session()
    model = built(name, False)
    batch = APPLICATIONS.get(name, WRITTEN).batch
    x, y = inputs(model, 2 * batch, CLASSES if name in APPLICATIONS else model.output_shape[-1])
    # Scales of 1e-6 are raised: they would hide the blocks that they scale.
    text, map_of_layouts = model.to_json().replace('"init_values": 1e-06', '"init_values": 0.1'), layouts(model)
    found, nudged = trained(text, x, y), [trained(text, x, y, nudge) for nudge in ("up", "down", "either")]
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(text)
    data = {"x": next(iter(x.values()))} if len(x) == 1 else {f"x/{key}": value for key, value in x.items()}
    np.savez(folder / "golden.npz", **found, **data, y=y)
    case = {"case": name, "seed": SEED, "batch_size": batch, "steps": STEPS, "samples": 2 * batch, "predict_samples": batch,
            "data": {"stored_in_golden": True}, "noise_driven": noise(found, nudged),
            "tolerance_of": tolerances(found, nudged)}
    (folder / "case.json").write_text(json.dumps(case, indent=1))
    for mesh, shape in MESHES.items():
        config = {"device_mesh": {"shape": shape, "axis_names": ["data", "model"], "devices": None},
                  "layout_map": map_of_layouts, "batch_dim_name": "data", "regex": "fullmatch"}
        (folder / f"distribution-{mesh}.json").write_text(json.dumps({"class_name": "ModelParallel", "config": config}))
    print(summary(name, model, case, found), flush=True)


def summary(name, model, case, found):
    """The sharpness of the comparison: the allowed difference beside the change in five steps, both relative to the values."""
    compared = [key.removeprefix("final/") for key in found if key.startswith("final/")]
    compared = [key for key in compared if key not in case["noise_driven"]]
    allowed = case["tolerance_of"]
    changes = [difference(found["initial/" + key], found["final/" + key]) for key in compared]
    shares = [allowed["final/" + key]["l2"] / change for key, change in zip(compared, changes) if change]
    return (f"{name}: {model.count_params()} weights, {len(compared)} of {len(model.variables)} variables are compared, losses to "
            f"{allowed['steps/loss']['rel']:.1e}; five steps change them by {np.median(changes):.1e} (median), of which "
            f"{np.median(shares):.1%} (median) are allowed as difference")


def layouts(model):
    """The layout map: matrices and kernels of four dimensions are sharded on their last dimension if eight divides it."""
    out = {}
    for v in model.trainable_variables:
        if v.path.endswith("kernel") and len(v.shape) in (2, 4) and v.shape[-1] % 8 == 0:
            out[v.path] = [None] * (len(v.shape) - 1) + ["model"]
    return out


def main():
    kind, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or [*APPLICATIONS, *written_models.MODELS]:
        if kind == "narrow":
            write_narrow(folder, name)
            continue
        keras.backend.clear_session()
        (folder / f"{name}.json").write_text(built(name, True).to_json())


if __name__ == "__main__":
    main()
