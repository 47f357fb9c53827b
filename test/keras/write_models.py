"""Writes models of the field with real Keras: keras.applications and what people write with layers and keras.ops.

    KERAS_BACKEND=jax python write_models.py whole|narrow FOLDER [NAME ...]

whole: FOLDER/NAME.json, the model as it is used, for `weft explain` and `weft compile`. narrow: FOLDER/NAME, a small twin
with the figures of a few steps, for test/exec/check_fixture.py:

    python write_models.py narrow /tmp/narrow && python ../exec/check_fixture.py WEFT /tmp/narrow/resnet50 all
"""

import json
import pathlib
import sys

import keras
import numpy as np
from keras import applications

import written_models

SEED, BATCH, SAMPLES, STEPS, CLASSES = 1337, 8, 16, 5, 5

# Constructor, smallest input, what makes it narrow.
APPLICATIONS = {
    "resnet50": ("ResNet50", 32, {}),
    "vgg16": ("VGG16", 32, {}),
    "mobilenetv2": ("MobileNetV2", 32, {"alpha": 0.35}),
    "mobilenetv3small": ("MobileNetV3Small", 32, {"alpha": 0.75}),
    "mobilenetv3large": ("MobileNetV3Large", 32, {"alpha": 0.75}),
    "efficientnetb0": ("EfficientNetB0", 32, {}),
    "efficientnetv2b0": ("EfficientNetV2B0", 32, {}),
    "densenet121": ("DenseNet121", 32, {}),
    "convnexttiny": ("ConvNeXtTiny", 32, {}),
    "xception": ("Xception", 71, {}),
    "inceptionv3": ("InceptionV3", 75, {}),
    "nasnetmobile": ("NASNetMobile", 32, {}),
}
MESHES = {"mp-2x4": [2, 4], "mp-8x1": [8, 1]}


def application(name, whole):
    constructor, size, narrow = APPLICATIONS[name]
    options = {} if whole else dict(input_shape=(size, size, 3), classes=CLASSES, **narrow)
    return getattr(applications, constructor)(weights=None, **options)


def built(name, whole):
    model = application(name, whole) if name in APPLICATIONS else written_models.MODELS[name](whole)
    model.compile(keras.optimizers.SGD(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=name not in APPLICATIONS))
    return model


def inputs(model, classes):
    random = np.random.RandomState(3)
    out = {}
    for tensor in model.inputs:
        shape = (SAMPLES, *tensor.shape[1:])
        isText = "int" in keras.backend.standardize_dtype(tensor.dtype)
        out[tensor.name] = random.randint(0, 20, shape).astype("int32") if isText else random.uniform(0, 1, shape).astype("float32")
    return out, random.randint(0, classes, (SAMPLES, *model.output_shape[1:-1])).astype("int32")


def trained(text, x, y, nudge):
    """What the steps leave, by the names of golden.npz."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(SEED)
    model = keras.models.model_from_json(text)
    x = x[next(iter(x))] if len(x) == 1 else x
    part = lambda begin: {k: v[begin:begin + BATCH] for k, v in x.items()} if isinstance(x, dict) else x[begin:begin + BATCH]
    found = {f"initial/{v.path}": v.numpy() for v in model.variables}
    if nudge:
        for v in model.trainable_variables:
            v.assign(v.numpy() * np.float32(1 + 1e-7))
    found["predict/initial"] = model.predict(part(0), batch_size=BATCH, verbose=0)
    found["steps/loss"] = []
    for step in range(STEPS):
        begin = step * BATCH % SAMPLES
        found["steps/loss"].append(model.train_on_batch(part(begin), y[begin:begin + BATCH], return_dict=True)["loss"])
    found |= {f"final/{v.path}": v.numpy() for v in model.variables}
    return {key: np.asarray(value) for key, value in found.items()}


def difference(a, b):
    a, b = a.astype("float64"), b.astype("float64")
    return np.linalg.norm(a - b) / (np.linalg.norm(a) or 1)


def noise(found, nudged):
    """Variables whose gradient is zero but for rounding: biases of attention keys, and in front of normalizations."""
    return [name.removeprefix("final/") for name in found if name.startswith("final/") and difference(found[name], nudged[name]) > 0.02]


def tolerance(found, nudged, left_out):
    """Four times what a nudge of the weights does, for each part."""
    out = {}
    for part in ("initial", "steps", "final", "optimizer", "evaluate", "predict"):
        worst = {"rel": 2e-6, "l2": 2e-6}
        for name in found:
            a, b = found[name].astype("float64"), nudged[name].astype("float64")
            if name.partition("/")[0] == part != "initial" and name.partition("/")[2] not in left_out:
                worst["rel"] = max(worst["rel"], 4 * abs(a - b).max() / (abs(a).max() or 1))
                worst["l2"] = max(worst["l2"], 4 * difference(a, b))
        out[part] = worst
    return out


def write_narrow(folder, name):
    keras.backend.clear_session()
    model = built(name, False)
    x, y = inputs(model, CLASSES if name in APPLICATIONS else model.output_shape[-1])
    text, map_of_layouts = model.to_json(), layouts(model)
    found, nudged = trained(text, x, y, False), trained(text, x, y, True)
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(text)
    data = {"x": next(iter(x.values()))} if len(x) == 1 else {f"x/{key}": value for key, value in x.items()}
    np.savez(folder / "golden.npz", **found, **data, y=y)
    case = {"case": name, "seed": SEED, "batch_size": BATCH, "steps": STEPS, "samples": SAMPLES, "predict_samples": BATCH,
            "data": {"stored_in_golden": True}, "noise_driven": noise(found, nudged),
            "suggested_tolerance": tolerance(found, nudged, noise(found, nudged))}
    (folder / "case.json").write_text(json.dumps(case, indent=1))
    for mesh, shape in MESHES.items():
        config = {"device_mesh": {"shape": shape, "axis_names": ["data", "model"], "devices": None},
                  "layout_map": map_of_layouts, "batch_dim_name": "data", "regex": "fullmatch"}
        (folder / f"distribution-{mesh}.json").write_text(json.dumps({"class_name": "ModelParallel", "config": config}))
    print(name, model.count_params(), "weights; tolerance of the final ones", case["suggested_tolerance"]["final"], flush=True)


def layouts(model):
    """Kernels of four dimensions and matrices by their last one, where eight divides it."""
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
