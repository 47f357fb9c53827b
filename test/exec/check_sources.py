"""The same samples from every kind of file train the same bits as from an .npz in memory.

    check_sources.py WEFT FIXTURES SCRATCH

Files are read whole, and in parts (--data-memory 0): .npy of both byte orders, .npz with and without compression, HDF5 of
one piece, of chunks and compressed, a .csv. h5py writes the HDF5 files; without it those are left out. The messages about
damaged and unsuitable files are in errors-data.test.
"""

import csv
import importlib.util
import pathlib
import struct
import subprocess
import sys
import zipfile

import npz_values

KINDS = {"f": "f4", "d": "f8", "B": "u1", "i": "i4", "q": "i8"}


def npy(shape, values, order="<"):
    """An .npy file of an array.array."""
    header = repr({"descr": order + KINDS[values.typecode], "fortran_order": False, "shape": tuple(shape)}).encode()
    header = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + b"\n"
    data = values[:]
    if order == ">":
        data.byteswap()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data.tobytes()


def write_h5(path, arrays, **how):
    import h5py
    import numpy
    with h5py.File(path, "w") as file:
        for name, (shape, values) in arrays.items():
            file.create_dataset(name, data=numpy.array(values, dtype=KINDS[values.typecode]).reshape(shape), **how)


def sources(arrays, folder):
    """(name, flags) of files with the same x and y. The table's names have quotes, which a flag
    doubles."""
    for name, how in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(folder / f"{name}.npz", "w", how) as archive:
            for key, (shape, values) in arrays.items():
                archive.writestr(f"{key}.npy", npy(shape, values))
        yield name, ["--data", folder / f"{name}.npz"]
    for order, word in (("<", "little"), (">", "big")):
        for key, (shape, values) in arrays.items():
            (folder / f"{word}-{key}.npy").write_bytes(npy(shape, values, order))
        yield word, ["--x", folder / f"{word}-x.npy", "--y", folder / f"{word}-y.npy[0:{arrays['y'][0][0]}]"]
    if importlib.util.find_spec("h5py"):
        for name, how in (("plain", {}), ("chunks", {"chunks": True}), ("packed", {"compression": "gzip", "chunks": True})):
            write_h5(folder / f"{name}.h5", arrays, **how)
            yield name, ["--data", folder / f"{name}.h5"]
        yield "named", ["--x", f"{folder}/packed.h5:x", "--y", f"{folder}/plain.h5:y"]
    with open(folder / "table.csv", "w", newline="") as file:
        (rows, wide), x = arrays["x"]
        y = arrays["y"][1]
        table = csv.writer(file)
        names = [f'"{i}" of x' for i in range(wide)]
        table.writerow(["note", *names, "price"])
        typed = ",".join(f'"""{i}"" of x"' for i in range(wide))
        for i in range(rows):
            table.writerow(["a, b\n\"c\"", *map(repr, x[i * wide:(i + 1) * wide]), repr(y[i])])
    yield "table", ["--data", folder / "table.csv", "--inputs", typed, "--targets", "price"]


def train(weft, model, folder, flags):
    out = folder / "w.npz"
    done = subprocess.run([str(word) for word in (
        weft, "fit", model, "--seed", 3, "--epochs", 3, "--batch-size", 7, "--validation-split", 0.2, "--verbose", 0, "--history",
        folder / "h.json", "--save-weights", out, *flags)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{flags}: {done.stderr}")
    return npz_values.read(out), (folder / "h.json").read_text()


def main():
    weft, fixtures, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    model = fixtures / "callbacks" / "model.json"
    arrays = npz_values.read(fixtures / "callbacks" / "data.npz")
    arrays = {key: arrays[key] for key in ("x", "y")}
    wanted = train(weft, model, folder, ["--data", fixtures / "callbacks" / "data.npz"])
    bad, count = 0, 0
    for name, flags in sources(arrays, folder):
        for memory in ("256MiB", "0"):
            same = train(weft, model, folder, [*flags, "--data-memory", memory]) == wanted
            bad += not same
            count += 1
            print(f"{name}, {memory} in memory: {'the same bits' if same else 'OTHER BITS'}")
    print(f"{count} runs, {bad} bad")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
