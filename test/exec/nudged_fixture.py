"""Shows how rounding alone changes a fixture's steps: trains it from weights that differ in their last digits.

    python nudged_fixture.py WEFT FOLDER [DISTRIBUTION.json | 1] [--nudge 5e-7] [--seeds 12] [--show c1_kernel_momentum ...]

Each run multiplies every weight by 1 + nudge or 1 - nudge, as its seed says. Printed for each seed is the largest difference
from the run without a nudge, relative to the tensor's largest magnitude. A value that crosses the kink of a ReLU or a
pooling shows as the same jump in several runs; a device that sums in another order may jump, too. Needs NumPy.
"""

import argparse
import pathlib
import tempfile

import numpy as np

import check_fixture


def largest_differences(found, base):
    return {key: abs(found[key].astype("f8") - value).max() / (abs(value).max() or 1) for key, value in base.items()
            if value.dtype.kind == "f"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("distribution", nargs="?", default="1")
    parser.add_argument("--devices")
    parser.add_argument("--nudge", type=float, default=5e-7)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--show", nargs="*", default=[], help="tensors whose names end so (default: the worst alone)")
    options = parser.parse_args()
    options.way = "native"
    run = check_fixture.Run(options, options.folder, options.distribution)
    steps, paths = run.case["steps"], {variable["path"] for variable in run.case["variables"]}
    with tempfile.TemporaryDirectory() as name:
        out, weights = pathlib.Path(name) / "out.npz", pathlib.Path(name) / "weights.npz"

        def fit(*flags):
            check_fixture.run([*run.command("fit", run.case["batch_size"]), "--verbose", "0", "--save-weights", out, *flags])
            return dict(np.load(out))

        def trained(values):
            np.savez(weights, **values)
            return fit("--weights", weights, *run.data.flags(["x", "y", "sample_weight"]), "--no-shuffle", "--epochs", steps,
                       "--max-steps", steps)

        initial = fit("--init-only")
        base = trained(initial)
        for seed in range(1, options.seeds + 1):
            signs = np.random.RandomState(seed)
            moved = largest_differences(trained({
                key: (value * (1 + options.nudge * signs.choice([-1, 1], value.shape))).astype("float32")
                if key in paths and value.dtype == np.float32 else value for key, value in initial.items()}), base)
            shown = [key for key in moved if options.show and key.endswith(tuple(options.show))] or [max(moved, key=moved.get)]
            print(f"seed {seed}: " + ", ".join(f"{key} {moved[key]:.1e}" for key in shown), flush=True)


if __name__ == "__main__":
    main()
