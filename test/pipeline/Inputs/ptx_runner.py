"""Runs PTX kernels on arrays by ptx-run, the PTX machine of test/cuda/machine.

    machine = Machine("build/bin/ptx-run", "k.ptx", folder)
    x, result, coordinates = array("f", range(80)), array("f", [0] * 8), array("q", [0])
    machine.launch("reduce_8x10", blocks=1, arrays=[x, result, coordinates])

An error that the machine finds (a race, an access out of bounds) ends the test.
"""

import pathlib
import subprocess


class Machine:
    """A PTX file and a folder for the arrays of a launch; an array given twice is one memory."""

    def __init__(self, ptx_run, ptx, folder):
        self.ptx_run, self.ptx, self.folder = ptx_run, ptx, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def launch(self, name, blocks, arrays, threads=256, seed=1):
        files = {id(values): self.folder / f"{i}.bin" for i, values in reversed(list(enumerate(arrays)))}
        for values in arrays:
            files[id(values)].write_bytes(values.tobytes())
        run = subprocess.run([self.ptx_run, "--seed", str(seed), self.ptx, name, str(blocks), str(threads),
                              *[files[id(values)] for values in arrays]], stderr=subprocess.PIPE, text=True)
        if run.returncode:
            raise SystemExit(run.stderr)
        for values in arrays:
            memoryview(values).cast("B")[:] = files[id(values)].read_bytes()
