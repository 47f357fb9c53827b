"""Shows how far a fixture's steps part by themselves: trains it from weights that are changed in their last digits.

    python nudged_fixture.py FIXTURE WEFT [--nudge 5e-7] [--seeds 12] [--show c1_kernel_momentum ...]

Each run multiplies every weight by 1 + nudge or 1 - nudge, as its seed says, on one CPU device. Printed for each seed is the
largest difference from the run without a nudge, relative to the tensor's largest magnitude. A value that crosses the kink
of a ReLU or a pooling shows as the same jump in several runs; another device that sums in another order may jump, too.
The fixture has one input and one output. Needs NumPy.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fixture", type=pathlib.Path)
    parser.add_argument("weft")
    parser.add_argument("--nudge", type=float, default=5e-7)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--show", nargs="*", default=[], help="tensors whose names end so (default: the worst alone)")
    args = parser.parse_args()
    case = json.loads((args.fixture / "case.json").read_text())
    golden = np.load(args.fixture / "golden.npz")
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        np.savez(scratch / "data.npz", x=golden["x"], y=golden["y"])

        def fit(*flags):
            out = scratch / "out.npz"
            subprocess.run([args.weft, "fit", args.fixture / "model.json", "--batch-size", str(case["batch_size"]), "--seed",
                            str(case["seed"]), "--verbose", "0", "--save-weights", out, *map(str, flags)], check=True)
            return dict(np.load(out))

        def trained(weights):
            np.savez(scratch / "weights.npz", **weights)
            return fit("--weights", scratch / "weights.npz", "--data", scratch / "data.npz", "--no-shuffle", "--epochs",
                       case["steps"], "--max-steps", case["steps"])

        initial = fit("--init-only")
        paths = {variable["path"] for variable in case["variables"]}
        base = trained(initial)
        for seed in range(1, args.seeds + 1):
            signs = np.random.RandomState(seed)
            found = trained({key: (value * (1 + args.nudge * signs.choice([-1, 1], value.shape))).astype("float32")
                             if key in paths and value.dtype == np.float32 else value for key, value in initial.items()})
            moved = {key: abs(found[key].astype("f8") - value).max() / (abs(value).max() or 1) for key, value in base.items()
                     if value.dtype.kind == "f"}
            worst = max(moved, key=moved.get)
            shown = [key for key in moved if args.show and key.endswith(tuple(args.show))] or [worst]
            print(f"seed {seed}: " + ", ".join(f"{key} {moved[key]:.1e}" for key in shown), flush=True)


if __name__ == "__main__":
    main()
