"""Compiled programs on GPUs that a fake driver has: `weft run` on cuda:1 beside the same program on cpu:1.

    python check_run.py WEFT FAKE_FOLDER PROGRAM.mlir OUT_FOLDER
"""

import array
import math
import os
import pathlib
import random
import subprocess
import sys

import npz_values

SEEDS = range(1, 6)  # orders of what streams have to do


def arguments(listing):
    """Inputs as `weft run --list` names them."""
    draw, out = random.Random(5), {}
    for line in listing.splitlines():
        if line.startswith("input "):
            name, shape = line.split()[1], line[line.index("(") + 1:line.index(")")]
            shape = [int(n) for n in shape.split(",") if n.strip()]
            out[name] = shape, array.array("f", [draw.uniform(0.5, 4) for _ in range(math.prod(shape))])
    return out


def main():
    weft, fake, source, folder = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for target, device in (("cpu:generic", "cpu:1"), ("cuda:sm_80", "cuda:1"), ("cuda:sm_90a", "cuda:1")):
        program = folder / (target.replace(":", "-") + ".weft")
        subprocess.run([weft, "compile", source, "--target", target, "-o", program], check=True)
        listing = subprocess.run([weft, "run", "--list", program], check=True, text=True, capture_output=True).stdout
        npz_values.write(folder / "in.npz", arguments(listing))
        for seed in SEEDS if device == "cuda:1" else [0]:
            environment = {**os.environ, "LD_LIBRARY_PATH": fake, "FAKE_CUDA_SEED": str(seed)}
            subprocess.run([weft, "run", program, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                            "--devices", device, "--repeat", "2"], check=True, env=environment)
            results[target, seed] = {name: value for name, (_, value) in npz_values.read(folder / "out.npz").items()}
    wanted = results["cpu:generic", 0]
    worst = 0
    for (target, seed), found in results.items():
        for name, value in wanted.items():
            pairs = zip(found[name], value, strict=True)
            difference = max(abs(a - b) for a, b in pairs) / (max(map(abs, value)) or 1)
            worst = max(worst, difference)
            if not difference <= 2e-6:
                sys.exit(f"{name} on {target}, order {seed}: differs by {difference:.2e} of the largest value")
            if target.startswith("cuda") and found[name] != results[target, SEEDS[0]][name]:
                sys.exit(f"{name} on {target}: orders {SEEDS[0]} and {seed} give other bits")
    print(f"{pathlib.Path(source).stem}: {len(wanted)} results agree, equal bits in {len(SEEDS)} orders, worst {worst:.1e}")


if __name__ == "__main__":
    main()
