"""Runs the commands of docs/clusters.md on this machine: the results are those of one process.

    check_clusters.py WEFT SOURCE_TREE SCRATCH
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import check_errors as documents
import patience

# MPI's settings to run as root, and with more processes than cores.
ANYWHERE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def main():
    weft, tree, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    shutil.copy(tree / "examples/first/model.keras", scratch)
    shutil.copy(tree / "examples/data/mnist24k.npz", scratch / "mnist.npz")
    page = (tree / "docs/clusters.md").read_text()
    # A .keras file contains its date; the weights are compared instead.
    blocks = [re.sub(r"--save (\w+).keras", r"--save \1.keras --save-weights \1.npz", block)
              for block in re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)]
    environment = os.environ | ANYWHERE | {"PATH": f"{weft.parent}:{os.environ['PATH']}"}

    def run(command):
        done = subprocess.run(["sh", "-e", "-c", command], cwd=scratch, env=environment, text=True, capture_output=True,
                              timeout=patience.HANG)
        if done.returncode:
            sys.exit(f"{command}\nended with {done.returncode}: {done.stderr}")
        return done.stdout

    for block in blocks:
        print(run(block))
    commands = "\n".join(blocks).replace("\\\n", "")
    alone = re.search(r"mpirun \S* *\S* *-n \d+ (weft fit .*) --save trained.keras", commands).group(1)
    run(f"{alone} --save-weights alone.npz")
    for other in ("trained.npz", "again.npz"):
        assert (scratch / "alone.npz").read_bytes() == (scratch / other).read_bytes(), f"{other} differs from the weights that one process trains"
    assert (scratch / "logs/1/rank.0/stdout").stat().st_size and not (scratch / "logs/1/rank.1/stdout").stat().st_size
    died = re.search(r"^    weft: error: (.* has died; .*)$", page, re.M).group(1)
    assert any(pattern.match(died) for pattern in documents.templates("processes").values()), died
    warned = re.search(r"`(srun has started .*?; )\.\.\.`", page).group(1)
    assert any(pattern.pattern.startswith(re.escape("srun has started ")) for pattern in documents.templates("warnings").values())
    assert "srun has started 4 processes, and each does all of this by itself; " == warned
    print(f"{len(blocks)} blocks run")


main()
