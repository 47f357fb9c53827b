"""Compares folders of images with real Keras: order, labels, split and pixels.

    check_images.py WEFT SCRATCH

The files are written by PIL, in every kind of colours that is read. Keras' own functions list them (index_directory) and
make pixels of them on JAX (_load_image_grain: PIL, then keras.ops.image.resize); weft hands its own out by `predict` of a
model that changes nothing, and its labels as the losses of a model that is always 0.
"""

import json
import pathlib
import subprocess
import sys

import numpy
from keras.src.utils import dataset_utils, image_dataset_utils
from PIL import Image

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")


def write_images(folder):
    """Classes b, a and c.d, with a folder inside one, sizes that differ, and files that are no images."""
    draw = numpy.random.default_rng(7)
    kinds = [("a", "1.png", "RGB"), ("a", "2.PNG", "L"), ("a", "10.png", "RGBA"), ("a", "deep/0.jpg", "RGB"), ("a", "deep-er/0.jpg", "L"),
             ("b", "grey.jpeg", "L"), ("b", "bits.png", "1"), ("b", "palette.png", "P"), ("b", "la.png", "LA"),
             ("c.d", "x.jpg", "RGB"), ("c.d", "y.png", "clear"), ("c.d", "z.png", "palette-clear"), ("c.d", "w.jpg", "progressive")]
    for number, (group, name, mode) in enumerate(kinds):
        path = folder / group / name
        path.parent.mkdir(parents=True, exist_ok=True)
        high, wide = 20 + 3 * number, 41 - 2 * number
        smooth = numpy.linspace(0, 200, high * wide).reshape(high, wide, 1) + draw.uniform(0, 55, (high, wide, 4))
        image = Image.fromarray(smooth.astype("uint8"), "RGBA")
        how = {"progressive": {"progressive": True, "quality": 80}, "clear": {"transparency": tuple(image.convert("RGB").getpixel((3, 3)))},
               "palette-clear": {"transparency": 5}}.get(mode, {})
        image = image.convert({"progressive": "RGB", "clear": "RGB", "palette-clear": "P"}.get(mode, mode))
        image.save(path, **how)
    (folder / "b" / "notes.txt").write_text("no image")
    (folder / ".hidden").mkdir()
    (folder / "stray.png").write_bytes(b"not read")


def layer(kind, name, **config):
    return {"class_name": kind, "config": {"name": name, **config}}


def model(path, shape, layers):
    path.write_text(json.dumps({
        "class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, *shape], "layers": layers},
        "compile_config": {"loss": "mean_absolute_error", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.0}}}}))
    return path


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def listed(folder, names=None, seed=None):
    return dataset_utils.index_directory(str(folder), "inferred", ENDINGS, class_names=names, shuffle=seed is not None, seed=seed,
                                         verbose=False)


class Checker:
    def __init__(self, weft, scratch):
        self.weft, self.scratch, self.folder, self.bad, self.count = weft, scratch, scratch / "images", 0, 0
        write_images(self.folder)

    def say(self, name, error):
        self.bad += bool(error)
        self.count += 1
        print(f"{name}: {error or 'as Keras'}")

    def pixels(self, name, size, channels, flags, crop=False, interpolation="bilinear", names=None, seed=None):
        same = model(self.scratch / "same.json", (*size, channels), [layer("Activation", "same", activation="linear")])
        run(self.weft, "predict", same, "--data", self.folder, "--batch-size", 4, "--verbose", 0, "--out", self.scratch / "p.npy", *flags)
        found = numpy.load(self.scratch / "p.npy")
        paths, _, _ = listed(self.folder, names, seed)
        wanted = numpy.stack([numpy.asarray(image_dataset_utils._load_image_grain(
            path, size, channels, interpolation, "channels_last", crop_to_aspect_ratio=crop)) for path in paths])
        off = "another shape" if found.shape != wanted.shape else numpy.abs(found - wanted).max(axis=(1, 2, 3))
        worst = 0 if isinstance(off, str) else int(off.argmax())
        self.say(name, off if isinstance(off, str) else f"{paths[worst]} differs by {off[worst]}" if off[worst] > 0.02 else "")

    def labels(self, name, flags, wanted, classes=None):
        zero = model(self.scratch / "zero.json", (8, 8, 3), [
            layer("Flatten", "f"), layer("Dense", "d", units=classes or 1, kernel_initializer="zeros")])
        run(self.weft, "fit", zero, "--data", self.folder, "--batch-size", 1, "--no-shuffle", "--verbose", 0, "--history-steps",
            "--history", self.scratch / "h.json", "--seed", 1, *flags)
        history = json.loads((self.scratch / "h.json").read_text())
        found = history["steps"]["loss"]
        self.say(name, "" if numpy.allclose(found, wanted, atol=1e-6) else f"{found}, not {list(wanted)}")


def main():
    checker = Checker(sys.argv[1], pathlib.Path(sys.argv[2]))
    for channels in (1, 3, 4):
        checker.pixels(f"{channels} channels", (16, 24), channels, [])
    for interpolation in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
        checker.pixels(interpolation, (64, 10), 3, ["--interpolation", interpolation], interpolation=interpolation)
    checker.pixels("cropped", (16, 24), 3, ["--crop-to-aspect-ratio"], crop=True)
    checker.pixels("shuffled", (8, 8), 3, ["--image-seed", 123], seed=123)
    checker.pixels("named classes", (8, 8), 3, ["--class-names", "c.d,a"], names=["c.d", "a"])
    _, labels, names = listed(checker.folder)
    checker.labels("labels", [], labels)
    _, shuffled, _ = listed(checker.folder, seed=9)
    kept, _ = dataset_utils.get_training_or_validation_split(list(shuffled), None, 0.3, "training")
    checker.labels("the part to train on", ["--image-seed", 9, "--validation-split", 0.3], kept)
    checker.labels("one-hot labels", [], [1 / 3] * len(labels), classes=len(names))
    print(f"{checker.count} cases, {checker.bad} bad")
    return 1 if checker.bad or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
