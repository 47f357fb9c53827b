"""Cases that readers of tables, images, HDF5 files and weights refuse: sections sources and weight-files."""

import json
import struct
import zlib


def png(width, height, kind=2, depth=8, rows=None):
    """A PNG image, with a header that may claim anything."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    wide = {0: 1, 2: 3}[kind] * depth // 8 * width
    data = zlib.compress(b"".join(b"\0" + bytes(wide) for _ in range(height))) if rows is None else rows
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
            + chunk(b"IDAT", data) + chunk(b"IEND", b""))


class SourceCases:
    def table(self, name, text, *flags):
        return ["fit", self.fixtures / "callbacks" / "model.json", "--seed", "1", "--data", self.write(name, text),
                *(flags or ("--inputs", "a,b", "--targets", "c"))]

    def images(self, name, files, *flags):
        folder = self.scratch / name
        for file, content in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        folder.mkdir(exist_ok=True)
        return ["fit", self.fixtures / "seed-cnn" / "model.json", "--seed", "1", "--max-steps", "1", "--data", folder, *flags]

    def sources(self):
        rows = "a,b,c\n1,2,3\n"
        yield "no columns named", self.table("plain.csv", rows, "--data-memory", "1MB")
        yield "no such column", self.table("near.csv", "area,b,c\n1,2,3\n", "--inputs", "areas", "--targets", "c")
        yield "nothing like it", self.table("far.csv", rows, "--inputs", "nothing_like_it", "--targets", "c")
        yield "column twice", self.table("twice.csv", "a,b,a\n1,2,3\n")
        yield "empty table", self.table("empty.csv", "")
        yield "no targets", self.table("targets.csv", rows, "--inputs", ",".join("ab" * 6))
        for name, line in (("missing", "1,,3"), ("text", "1,two,3"), ("beyond", "1,1e999,3"), ("short", "1,2"),
                           ("quote", '1,"2,3'), ("behind", '1,"2"x,3'), ("inside", '1,2"x,3'), ("return", "1,2\r,3")):
            yield f"field: {name}", self.table(f"{name}.csv", rows + line + "\n")
        texts = "a,b,c\nx,2,3\n"
        twelve = ",".join("ab" * 6)
        yield "text of other data", self.table("texts.csv", texts, "--inputs", twelve, "--targets", "c", "--validation-data", self.table(
            "unknown.csv", "a,b,c\ny,2,3\n")[-5])
        yield "text without a vocabulary", ["predict", self.fixtures / "callbacks" / "model.json", "--seed", "1", "--data",
                                            self.scratch / "texts.csv", "--inputs", "a,b", "--out", self.scratch / "p.npy"]
        yield "missing elsewhere", self.table("else.csv", rows, "--inputs", "a", "--targets", "c", "--missing", "b=1")
        yield "missing text", self.table("word.csv", rows + "1,,3\n", "--inputs", "a,b", "--targets", "c", "--missing", "no")
        yield "long line", self.table("long.csv", rows + "1" * (1 << 20) + ",2,3")
        yield "wide table", self.table("wide.csv", "a," * 65537)
        yield from self.image_cases()
        yield from self.hdf5_cases()
        for name, words in (("whole", []), ("in parts", ["--data-memory", "0"])):
            yield f"CRC, {name}", ["fit", self.model_file, "--seed", "1", "--data", self.altered_data(), *words]
        order = self.scratch / "order.npy"
        order.write_bytes(fortran_npy())
        yield "Fortran's order", ["fit", self.model_file, "--seed", "1", "--x", order, "--y", f"{self.good_data}:y", "--data-memory", "0"]
        yield "numerics of steps", ["fit", self.program("train"), "--data", self.good_data, "--check-numerics"]
        yield "overflow", ["fit", self.write("overflow.json", json.dumps(overflow())), "--seed", "1", "--data", self.write_npz(
            "zeros.npz", x=((4, 3), bytes(12)), y=((4, 3), bytes(12))), "--check-numerics"]

    def altered_data(self):
        """The data with another bit in the middle of an array, which is stored without compression."""
        content = bytearray(self.good_data.read_bytes())
        content[len(content) // 2] ^= 1
        return self.write("altered.npz", bytes(content))

    def image_cases(self):
        good = png(4, 4)
        yield "no image", self.images("none", {"notes.txt": b"text"})
        yield "folder for an array", ["fit", self.model_file, "--seed", "1", "--x", self.images("array", {"a/1.png": good})[-1],
                                      "--y", f"{self.good_data}:y"]
        yield "no class", self.images("flat", {"1.png": good})
        yield "GIF", self.images("gif", {"a/1.gif": b"GIF89a" + bytes(7) + b";"})
        for name, content in (("bits", bmp(2, 2, 7, 0)), ("header", b"BM" + bytes(12) + b"\x29" + bytes(60)), ("short", bmp(20, 2, 24, 0))):
            yield f"BMP: {name}", self.images(f"bmp-{name}", {"a/1.bmp": content})
        yield "no such class", self.images("classes", {"rose/1.png": good}, "--class-names", "roses")
        yield "no class like it", self.images("other", {"rose/1.png": good}, "--class-names", "nothing_like_it")
        for name, content in (("text", b"text"), ("cut", good[:-20]), ("large", png(1 << 15, 1 << 15, rows=b"")),
                              ("deep", png(4, 4, kind=0, depth=16))):
            yield f"image: {name}", self.images(name, {"a/1.png": content})
        yield "images for rows", ["fit", self.fixtures / "callbacks" / "model.json", "--seed", "1", "--data",
                                  self.images("rows", {"a/1.png": good})[-1]]

    def hdf5_cases(self):
        yield "damaged HDF5", ["fit", self.model_file, "--seed", "1", "--data", self.write("bad.h5", b"\x89HDF" + bytes(100))]
        h5 = self.weight_file()
        yield "no array in HDF5", ["fit", self.model_file, "--seed", "1", "--x", f"{self.write('some.h5', h5)}:x",
                                   "--y", f"{self.good_data}:y"]

    def weight_files(self):
        def predict(name, content):
            return ["predict", self.model_file, "--data", self.good_data, "--batch-size", "8", "--weights",
                    self.write(name, content), "--out", self.scratch / "p.npy"]
        entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        for name, header in (("gaps", {"a": {**entry, "data_offsets": [4, 12]}}), ("type", {"a": {**entry, "dtype": "F99"}}),
                             ("places", {"a": {"dtype": "F32", "shape": [2]}}), ("shape", {"a": {**entry, "shape": [3]}}),
                             ("other", {"a": entry})):
            yield f"tensors: {name}", predict(f"{name}.safetensors", tensors(json.dumps(header), 12 if name == "gaps" else 8))
        yield "tensors: no object", predict("list.safetensors", tensors("{1}", 8))
        yield "tensors: cut", predict("cut.safetensors", struct.pack("<Q", 1000) + b"{}")
        yield "no map", predict("none.weights.json", "{}")
        yield "unknown key", predict("key.weights.json", '{"weight_map": {}, "other": 1}')
        yield "outside", predict("outside.weights.json", '{"weight_map": {"/a/vars": "../a.h5"}}')
        yield "no part", predict("part.weights.json", '{"weight_map": {"/a/vars": "gone_00000.weights.h5"}}')
        yield "large variable", ["fit", self.model_file, "--data", self.good_data, "--seed", "1", "--save-weights",
                                 self.scratch / "w.weights.json", "--max-shard-size", "1kB"]


def tensors(header, size):
    return struct.pack("<Q", len(header)) + header.encode() + bytes(size)


def bmp(wide, high, bits, coding):
    """A bitmap with one row of 16 bytes."""
    return b"BM" + struct.pack("<IHHIIiiHHI", 70, 0, 0, 54, 40, wide, high, 1, bits, coding) + bytes(20 + 16)


def fortran_npy():
    header = repr({"descr": "|u1", "fortran_order": True, "shape": (8, 28, 28)}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8 * 784)


def overflow():
    """A model whose last layer multiplies 3e37 by 1e38."""
    dense = {"class_name": "Dense", "config": {"name": "first", "units": 3, "use_bias": False}}
    log = {"class_name": "Activation", "config": {"name": "second", "activation": "log_sigmoid"}}
    scale = {"class_name": "Rescaling", "config": {"name": "huge", "scale": 1e38, "offset": 1e38}}
    again = {"class_name": "Rescaling", "config": {"name": "beyond", "scale": 1e38}}
    return {"class_name": "Sequential", "config": {"name": "m", "build_input_shape": [None, 3], "layers": [dense, log, scale, again]},
            "compile_config": {"optimizer": "sgd", "loss": "mse"}}
