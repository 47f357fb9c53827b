"""Compares folders of images with real Keras: order, labels, split and pixels.

    check_images.py WEFT SCRATCH

PIL writes the files, in every kind of colours that weft reads; bitmaps that PIL reads but does not write are made here. Keras'
own functions list them (index_directory) and decode them on JAX (_load_image_grain: PIL, then keras.ops.image.resize).
Weft's pixels come from `predict` of a model that changes nothing, its labels from the losses of a model whose output is 0.
"""

import json
import pathlib
import struct
import subprocess
import sys

import numpy
from keras.src.utils import dataset_utils, image_dataset_utils
from PIL import Image

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")


def write_images(folder):
    """Writes classes b, a and c.d, with folders inside one, images of different sizes, and files that are no images."""
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
    write_gifs(folder / "gifs", draw)
    write_bitmaps(folder / "maps", draw)
    (folder / "b" / "notes.txt").write_text("no image")
    (folder / ".hidden").mkdir()
    (folder / "stray.png").write_bytes(b"not read")


def write_gifs(folder, draw):
    """Writes GIFs: with a palette, grey, interlaced, transparent, with a frame smaller than the screen, and with two frames."""
    folder.mkdir()
    pictures = [Image.fromarray(draw.integers(0, 256, (19, 23, 3), "uint8"), "RGB") for _ in range(2)]
    numbers = pictures[0].quantize(32)
    numbers.save(folder / "plain.gif", interlace=0)
    numbers.save(folder / "woven.gif", interlace=1)
    numbers.save(folder / "clear.gif", transparency=7)
    pictures[0].convert("L").save(folder / "grey.gif")
    pictures[0].save(folder / "moving.gif", save_all=True, append_images=pictures[1:], duration=50)
    for name, control in (("small", b""), ("small-clear", b"!\xf9\x04\x01\x00\x00\x02\x00")):
        # A screen of 9 x 7 whose frame of 2 x 3 lies at (4, 1): numbers 1, 2, 3, 0, 1, 2 in codes of 3 bits.
        codes = [4, 1, 2, 3, 0, 1, 2, 5]  # clear, ..., end
        widths = [3, 3, 3, 3, 4, 4, 4, 4]  # the table grows
        bits = sum(code << sum(widths[:i]) for i, code in enumerate(codes))
        data = bits.to_bytes((sum(widths) + 7) // 8, "little")
        palette = bytes(draw.integers(0, 256, 12, "uint8"))
        (folder / f"{name}.gif").write_bytes(
            b"GIF89a" + struct.pack("<HHBBB", 9, 7, 0x81, 3, 0) + palette + control + b"," + struct.pack("<HHHHB", 4, 1, 2, 3, 0)
            + bytes([2, len(data)]) + data + b"\x00;")


def bitmap(wide, high, bits, rows, coding=0, masks=b"", palette=b"", upright=True, header=40):
    """A bitmap of rows as they are in the file."""
    said = struct.pack("<IHH", 12, wide, high) if header == 12 else struct.pack("<Iii", header, wide, high if upright else -high)
    said += struct.pack("<HH", 1, bits)
    if header > 12:
        said += struct.pack("<IIiiII", coding, len(rows), 2835, 2835, len(palette) // 4, 0)
    said += masks
    if header > 52:
        said += bytes(header - len(said))
    start = 14 + len(said) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(rows), 0, 0, start) + said + palette + rows


def write_bitmaps(folder, draw):
    folder.mkdir()
    colors = Image.fromarray(draw.integers(0, 256, (11, 13, 3), "uint8"), "RGB")
    for name, mode in (("rgb", "RGB"), ("grey", "L"), ("bits", "1"), ("numbers", "P"), ("alpha", "RGBA")):
        colors.convert(mode).save(folder / f"{name}.bmp")

    def noise(count):
        return draw.integers(0, 256, count, "uint8").tobytes()

    def masks(*values):
        return struct.pack(f"<{len(values)}I", *values)

    sixteen = noise(64)
    runs8 = bytes([3, 9, 2, 200, 0, 0, 0, 3, 1, 2, 3, 0, 2, 77, 0, 0, 5, 5, 0, 1])
    runs4 = bytes([5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 0, 4, 0x89, 0, 2, 1, 0, 0, 1])
    files = {
        "top-down": bitmap(5, 3, 24, noise(48), upright=False), "os2": bitmap(5, 3, 8, noise(24), palette=noise(768), header=12),
        "four": bitmap(5, 3, 4, noise(12), palette=noise(64)), "one": bitmap(11, 2, 1, noise(8), palette=noise(8)),
        "fifteen": bitmap(5, 4, 16, sixteen[:48]), "thirty-two": bitmap(3, 4, 32, noise(48)),
        "sixteen": bitmap(5, 4, 16, sixteen[:48], 3, masks(0xF800, 0x7E0, 0x1F)),
        "masks": bitmap(3, 4, 32, noise(48), 3, masks(0xFF000000, 0xFF0000, 0xFF00)),
        "masks-alpha": bitmap(3, 4, 32, noise(48), 3, masks(0xFF0000, 0xFF00, 0xFF, 0xFF000000), header=56),
        "masks-v5": bitmap(3, 4, 32, noise(48), 3, masks(0xFF, 0xFF00, 0xFF0000, 0xFF000000), header=124),
        "runs8": bitmap(5, 3, 8, runs8, 1, palette=noise(1024)), "runs4": bitmap(5, 3, 4, runs4, 2, palette=noise(64))}
    for name, content in files.items():
        (folder / f"{name}.bmp").write_bytes(content)


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
    checker.labels("one-hot labels", [], [1 / len(names)] * len(labels), classes=len(names))
    print(f"{checker.count} cases, {checker.bad} bad")
    return 1 if checker.bad or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
