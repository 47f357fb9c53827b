"""A training of several processes goes on from its backup with the bits of one process that was not interrupted.

    check_mpi_backup.py WEFT FIXTURES SCRATCH [--devices DEVICES] MPIRUN...
"""

import pathlib
import shutil
import subprocess
import sys

import patience


def run(words, status=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=patience.HANG)
    if done.returncode != status:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr}")


def main():
    weft, fixtures, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    devices, mpirun = "cpu:2", sys.argv[4:]
    if mpirun[0] == "--devices":
        devices, mpirun = mpirun[1], mpirun[2:]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    folder, data = fixtures / "callbacks", fixtures / "callbacks" / "data.npz"

    def fit(*words):
        return [weft, "fit", folder / "model.json", "--data", data, "--batch-size", 16, "--data-parallel", "--devices", devices,
                "--epochs", 4, "--validation-split", 0.25, "--verbose", 0, "--callback",
                "EarlyStopping(patience=9, restore_best_weights=True)", *words]

    backup = f"BackupAndRestore('{scratch / 'backup'}', save_freq=2, delete_checkpoint=False)"
    none = f"BackupAndRestore('{scratch / 'none'}')"
    run(fit("--seed", 3, "--callback", none, "--save-weights", scratch / "whole.npz"))
    run([*mpirun, *fit("--seed", 3, "--callback", backup, "--max-steps", 9)])
    run([*mpirun, *fit("--callback", backup, "--save-weights", scratch / "resumed.npz")])
    whole, resumed = ((scratch / name).read_bytes() for name in ("whole.npz", "resumed.npz"))
    if whole != resumed:
        sys.exit("the weights differ")
    print("the same bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
