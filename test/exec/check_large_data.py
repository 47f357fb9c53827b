"""Data larger than memory: training on 400 MB stays within 128 MiB, and a backup belongs to its data.

    check_large_data.py WEFT FIXTURES SCRATCH

The file is sparse. The step is compiled before, so that only training is measured: the peak of a process that runs
20 steps in a random order. With all data in memory the process is larger than the file.
"""

import array
import json
import pathlib
import struct
import subprocess
import sys

import npz_values

ROWS, WIDE = 100_000, 1024
LIMIT = 128 << 20


def write_sparse(path, shape):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.truncate(file.tell() + 4 * shape[0] * shape[1])


def run(*words, status=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr}")
    return done.stderr


def model(path):
    dense = {"class_name": "Dense", "config": {"name": "d", "units": 4}}
    path.write_text(json.dumps({"class_name": "Sequential", "config": {
        "name": "m", "build_input_shape": [None, WIDE], "layers": [dense]}, "compile_config": {"optimizer": "sgd", "loss": "mse"}}))


def check_memory(weft, folder):
    write_sparse(folder / "x.npy", (ROWS, WIDE))
    write_sparse(folder / "y.npy", (ROWS, 4))
    run(weft, "compile", folder / "m.json", "--step", "train", "--batch-size", 256, "-o", folder / "m.weft")
    peaks = []
    for flags in ([], ["--data-memory", "1GB"]):
        run(weft, "fit", folder / "m.weft", "--x", folder / "x.npy", "--y", folder / "y.npy", "--batch-size", 256, "--max-steps", 20,
            "--seed", 1, "--verbose", 0, "--stats", folder / "s.json", *flags)
        stats = json.loads((folder / "s.json").read_text())
        if stats["data_wait_ms"]["total"] < 0 or stats["steps"] != 20:
            sys.exit(f"stats: {stats}")
        peaks.append(stats["peak_rss_bytes"])
    print(f"{4 * ROWS * WIDE:,} bytes of data: peak {peaks[0]:,} bytes, in memory {peaks[1]:,}")
    if not peaks[0] < LIMIT < 4 * ROWS * WIDE < peaks[1]:
        sys.exit(f"not within {LIMIT:,}")


def check_backup(weft, folder):
    """Checks that training goes on from a backup with the same data in another file, and that other data of the same size are
    refused."""
    for name, value in (("one", 1.0), ("same", 1.0), ("other", 2.0)):
        npz_values.write(folder / f"{name}.npz", {"x": ((32, WIDE), array.array("f", [value] * 32 * WIDE)),
                                                  "y": ((32, 4), array.array("f", [0.0] * 128))})
    fit = [weft, "fit", folder / "m.json", "--seed", 1, "--verbose", 0, "--callback",
           f"BackupAndRestore({str(folder / 'state')!r}, delete_checkpoint=False)"]
    run(*fit, "--data", folder / "one.npz", "--epochs", 1)
    run(*fit, "--data", folder / "same.npz", "--data-memory", "0", "--epochs", 2)
    said = run(*fit, "--data", folder / "other.npz", "--epochs", 3, status=1)
    if "was made with another data" not in said:
        sys.exit(f"another file of data: {said}")
    print("a backup knows its data")


def main():
    weft, folder = sys.argv[1], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    model(folder / "m.json")
    check_memory(weft, folder)
    check_backup(weft, folder)


if __name__ == "__main__":
    main()
