"""Trains a fixture's model with Keras under one of its distributions and compares with its golden values.

    fixture_fit.py FOLDER... [--distribution none|NAME] [--data FOLDER]     NAME of distribution-NAME.json
    fixture_fit.py FOLDER --distribution none --nudge 11,1e-6     weights drawn with seed 11 within 1e-6 of the golden ones

Steps of train_on_batch, evaluate and predict, then fit on a fresh model, as the README of the fixtures says; each
tensor within the tolerance that case.json records. A difference that a nudge makes, too, is the model's and not a device's. Devices are
those of JAX_PLATFORMS: eight for a distribution.
"""

import argparse
import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402


def widened(value):
    array = np.asarray(value)
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def distribution_of(folder, name):
    if name == "none":
        return None
    spec = json.loads((folder / f"distribution-{name}.json").read_text())
    config, api = spec["config"], keras.distribution
    shape, axes = config["device_mesh"]["shape"], config["device_mesh"]["axis_names"]
    devices = api.list_devices()[:int(np.prod(shape))]
    mesh = api.DeviceMesh(tuple(shape), axes, np.array(devices))
    if spec["class_name"] == "DataParallel":
        return api.DataParallel(device_mesh=mesh)
    layouts = api.LayoutMap(mesh)
    for path, dimensions in config["layout_map"].items():
        layouts[path] = tuple(dimensions)
    return api.ModelParallel(layout_map=layouts, batch_dim_name=config["batch_dim_name"])


class Fixture:
    """A training case: its facts, its golden values, its data."""

    def __init__(self, folder, distribution, data, nudge=None):
        self.folder, self.distribution, self.nudge = folder, distribution, nudge
        self.facts = json.loads((folder / "case.json").read_text())
        with np.load(folder / "golden.npz") as golden:
            self.golden = {name: golden[name] for name in golden.files}
        self.x, self.y = self.arrays("x", data), self.arrays("y", data)
        self.weight = self.arrays("sample_weight", None)
        if isinstance(self.weight, dict):  # Keras takes weights of samples in the order of the outputs
            self.y, self.weight = list(self.y.values()), list(self.weight.values())
        self.batch = self.facts["batch_size"]

    def arrays(self, name, data):
        """An array of golden.npz or a dict of them; else a slice of a file of `data`."""
        if name in self.golden:
            return self.golden[name]
        parts = {key.split("/", 1)[1]: value for key, value in self.golden.items() if key.startswith(name + "/")}
        if parts or data is None:
            return parts or None
        source = self.facts["data"]
        with np.load(data / pathlib.Path(source["file"]).name) as file:
            array = file[source[name]][slice(*source["slice"])]
        if name == "y":
            return array.astype("int32")
        array = array.astype("float32") / np.float32(source.get("divide_by", 1.0))
        return array[..., None] if source.get("channels") else array

    def load(self):
        keras.utils.clear_session(free_memory=True)
        keras.config.set_dtype_policy("float32")
        keras.distribution.set_distribution(distribution_of(self.folder, self.distribution))
        keras.utils.set_random_seed(self.facts["seed"])
        if "archive" in self.facts:
            model = keras.saving.load_model(self.folder / self.facts["archive"])
        else:
            model = keras.models.model_from_json((self.folder / "model.json").read_text())
        if self.nudge:
            seed, size = self.nudge.split(",")
            random = np.random.default_rng(int(seed))
            for variable in model.trainable_variables:
                value = widened(variable.value)
                variable.assign((value * (1 + random.uniform(-1, 1, value.shape) * float(size))).astype("float32"))
        return model

    def part(self, value, index):
        if isinstance(value, dict):
            return {name: array[index] for name, array in value.items()}
        if isinstance(value, list):
            return [array[index] for array in value]
        return None if value is None else value[index]

    def samples(self):
        x = next(iter(self.x.values())) if isinstance(self.x, dict) else self.x
        return len(x)


def predictions(fixture, model, name):
    some = fixture.part(fixture.x, slice(0, fixture.facts["predict_samples"]))
    found = model.predict(some, batch_size=fixture.facts["predict_samples"], verbose=0)
    if isinstance(found, (list, tuple)):
        found = dict(zip(model.output_names, found))
    if isinstance(found, dict):
        return {f"predict/{name}/{key}": widened(value) for key, value in found.items()}
    return {f"predict/{name}": widened(found)}


def trained(fixture):
    """Values of the steps, and of the model after them."""
    model = fixture.load()
    found = {f"initial/{v.path}": widened(v.value) for v in model.variables}
    found |= predictions(fixture, model, "initial")
    starts, logs = range(0, fixture.samples(), fixture.batch), []
    for step in range(fixture.facts["steps"]):
        start = starts[step % len(starts)]
        x, y, weight = (fixture.part(value, slice(start, start + fixture.batch)) for value in (fixture.x, fixture.y, fixture.weight))
        logs.append(model.train_on_batch(x, y, sample_weight=weight, return_dict=True))
    found |= {f"steps/{key}": np.array([log[key] for log in logs], "float32") for key in logs[0]}
    found |= {f"final/{v.path}": widened(v.value) for v in model.variables}
    found |= {f"optimizer/{v.path}": widened(v.value) for v in model.optimizer.variables}
    results = model.evaluate(fixture.x, fixture.y, sample_weight=fixture.weight, batch_size=fixture.batch, verbose=0, return_dict=True)
    found |= {f"evaluate/{key}": np.float32(value) for key, value in results.items()}
    return found | predictions(fixture, model, "final")


def fitted(fixture):
    """History of fit on a fresh model, in the golden values' form."""
    facts = fixture.facts.get("fit")
    if not facts:
        return {}, {}
    model = fixture.load()
    history = model.fit(fixture.x, fixture.y, sample_weight=fixture.weight, batch_size=fixture.batch, epochs=facts["epochs"],
                        shuffle=False, verbose=0).history
    return tuple({f"fit/{key}": np.array(value, "float32") for key, value in each.items()} for each in (history, facts["history"]))


def complaints(fixture, found, expected):
    """The values outside of their tolerance, and the largest relative difference of each part."""
    noise, tolerance = set(fixture.facts["noise_driven"]), dict(fixture.facts["suggested_tolerance"])
    # fit has twice the steps; its metrics are running means of them.
    tolerance["fit"] = {norm: max(tolerance["steps"][norm], tolerance["evaluate"][norm]) for norm in ("rel", "l2")}
    wrong, worst = [], {}
    for key, want in expected.items():
        part, _, rest = key.partition("/")
        if part not in tolerance or part == "gradient" or key in noise or (part != "initial" and rest in noise):
            continue
        if key not in found:
            wrong.append(f"{key} is missing")
            continue
        a, b = np.asarray(found[key], "float64"), np.asarray(want, "float64")
        for norm, size in (("rel", lambda array: np.abs(array).max(initial=0)), ("l2", lambda array: np.linalg.norm(array.ravel()))):
            scale = size(b) or 1.0
            share = size(a - b) / scale
            # Initial values may be off by 5e-7.
            limit = max(tolerance[part][norm], 5e-7)
            worst[part] = max(worst.get(part, 0.0), share / limit)
            if not share <= limit:
                wrong.append(f"{key} differs by {share:.3g} ({norm}), more than {limit:.3g}")
    return wrong, worst


def train_and_compare(folder, distribution, options):
    """Prints the differences; returns whether the outcome is as recorded."""
    fixture = Fixture(folder, distribution, options.data, options.nudge)
    refused = fixture.facts["difference_from_one_device"].get(distribution, {}).get("error")
    try:
        found = trained(fixture)
        history, expected = fitted(fixture)
    except Exception as error:  # Keras' own refusal may be the golden value
        if refused == type(error).__name__:
            print(f"{folder.name} {distribution}: refused with {refused}, as recorded", flush=True)
            return True
        raise
    wrong, worst = complaints(fixture, found | history, fixture.golden | expected)
    shares = ", ".join(f"{part} {share:.2f}" for part, share in worst.items())
    print(f"{folder.name} {distribution}: {len(wrong)} tensors out of tolerance; share of the tolerance used: {shares}", flush=True)
    print("".join(line + "\n" for line in wrong[:8]), end="", flush=True)
    return not wrong and not refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--distribution", help="none or one of the folder's; all of them without it")
    parser.add_argument("--data", type=pathlib.Path, help="where mnist24k.npz lies")
    parser.add_argument("--nudge", metavar="SEED,SIZE")
    options = parser.parse_args()
    good = True
    for folder in options.folders:
        names = sorted(path.stem.removeprefix("distribution-") for path in folder.glob("distribution-*.json"))
        for name in [options.distribution] if options.distribution else ["none", *names]:
            good &= train_and_compare(folder, name, options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
