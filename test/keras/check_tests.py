"""Runs the cases of record_tests.py with weft's command line and compares with Keras' figures.

    check_tests.py WEFT FOLDER [--only REGEX] [--jobs N] [--refused FILE] [--flags=FLAGS] [--layouts SEED] [-v]

Each case: predict from the initial values; evaluate, where Keras did; train, where Keras did. A tensor agrees if the
largest difference is below 2e-5 (after training 1e-4) of its largest magnitude, or of 1e-2. The table counts by group and
has the reasons, most frequent first. --refused: exit with 1 if a case does not agree, but for those whose names stand
in FILE, which weft must refuse with a message. --flags="--data-parallel --devices cpu:2" are given to each command.
--layouts draws for each case a ModelParallel of two to eight devices, in which half of the dimensions of its variables are split.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values  # noqa: E402
import patience  # noqa: E402


class Failure(Exception):
    """The first value that differs, or weft's message."""


class Case:
    def __init__(self, weft, said, file, golden, folder, further):
        self.weft, self.folder, self.file, self.golden, self.further = weft, folder, file, golden, further
        self.name, self.batch, self.steps = said["name"], said["batch_size"], said["steps"]
        self.model = folder / "model.json"
        self.model.write_text(json.dumps(said["model"]))

    def flags(self, *kinds):
        one_input = sum(key.startswith("x/") for key in self.golden) == 1
        out = []
        for key in self.golden:
            kind, _, port = key.partition("/")
            if kind in kinds:
                place = f"{self.file}:{self.name}/{key}"
                out += ["--" + kind.replace("_", "-"), f"{port}={place}" if port and not (kind == "x" and one_input) else place]
        return out

    def run(self, command, *flags):
        words = [self.weft, command, self.model, "--batch-size", self.batch, "--seed", 1337, *flags, *self.further]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=patience.HANG)
        if done.returncode:
            raise Failure(f"weft {command}: {done.stderr.strip() or 'exit status ' + str(done.returncode)}")
        return done.stdout

    def same(self, name, got, limit):
        want = self.golden[name][1]
        if len(got) != len(want):
            raise Failure(f"{name}: {len(got)} elements, Keras has {len(want)}")
        if any(math.isnan(g) != math.isnan(w) for g, w in zip(got, want)):
            raise Failure(f"{name}: NaN on one side")
        pairs = [(g, w) for g, w in zip(got, want) if g != w and not math.isnan(w)]
        scale = max([1e-2, *(abs(w) for w in want if math.isfinite(w))])
        worst = max((abs(g - w) for g, w in pairs), default=0) / scale
        if not worst < limit:
            raise Failure(f"{name}: off by {worst:.2g} of its scale")

    def check(self):
        weights = ["--weights", self.weights()] if any(key.startswith("initial/") for key in self.golden) else []
        out = self.folder / "out.npz"
        self.run("predict", *weights, *self.flags("x"), "--verbose", 0, "--out", out)
        found = npz_values.read(out)
        for name in self.golden:
            kind, _, output = name.partition("/")
            if kind == "predict":
                port = f"y/{output}" if output else "y"
                if port not in found:
                    raise Failure(f"predict: no output {port}, but {', '.join(found)}")
                self.same(name, found[port][1], 2e-5)
        if any(name.startswith("evaluate/") for name in self.golden):
            said = json.loads(self.run("evaluate", *weights, *self.flags("x", "y", "sample_weight"), "--json"))
            for name in self.golden:
                kind, _, metric = name.partition("/")
                if kind == "evaluate":
                    if metric not in said:
                        raise Failure(f"evaluate: no {metric}, but {', '.join(said)}")
                    self.same(name, said[metric] if isinstance(said[metric], list) else [said[metric]], 2e-5)
        if self.steps:
            self.run("fit", *weights, *self.flags("x", "y", "sample_weight"), "--no-shuffle", "--epochs", self.steps,
                     "--verbose", 0, "--save-weights", out)
            found = npz_values.read(out)
            for name in self.golden:
                kind, _, path = name.partition("/")
                if kind == "final":
                    if path not in found:
                        raise Failure(f"fit: no variable {path}, but {', '.join(found)}")
                    self.same(name, found[path][1], 1e-4)

    def weights(self):
        path = self.folder / "weights.npz"
        npz_values.write(path, {name.removeprefix("initial/"): array for name, array in self.golden.items() if name.startswith("initial/")})
        return path


MESHES = {"batch": [2], "batch model": [2, 2], "model batch": [4, 1], "batch model more": [2, 2, 2], "model more batch": [3, 1, 2]}


def drawn_layouts(said, golden, seed, folder):
    """Flags of a distribution file with a random mesh and layout map."""
    draw = random.Random(f"{seed} {said['name']}")
    names, sizes = draw.choice(list(MESHES.items()))
    rules = {}
    for key, (shape, _) in golden.items():
        axes = draw.sample(names.split(), len(sizes))
        layout = [axes.pop() if axes and draw.random() < 0.5 else None for _ in shape]
        if key.startswith("initial/") and any(layout):
            rules[key.removeprefix("initial/")] = layout
    path = folder / "distribution.json"
    path.write_text(json.dumps({"class_name": "ModelParallel", "config": {
        "device_mesh": {"shape": sizes, "axis_names": names.split()}, "layout_map": rules, "batch_dim_name": "batch"}}))
    return ["--distribution", path, "--devices", f"cpu:{math.prod(sizes)}"]


def outcome(weft, said, file, golden, options):
    """The reason why the case does not agree, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        further = options.flags if options.layouts is None else [*options.flags, *drawn_layouts(said, golden, options.layouts, folder)]
        case = Case(weft, said, file, golden, folder, further)
        try:
            case.check()
        except Failure as failure:
            # Notes follow the error.
            return str(failure).replace(str(case.model), "model.json").splitlines()[0]


def kind_of(reason):
    """A reason without names and numbers, to count by."""
    return re.sub(r"[-+]?\d[\d.e+-]*", "N", re.sub(r'layer "[^"]*": ', "", reason))[:140]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refused", type=pathlib.Path)
    parser.add_argument("--flags", default="", type=str.split)
    parser.add_argument("--layouts", type=int)
    parser.add_argument("-v", dest="verbose", action="store_true")
    options = parser.parse_args()
    file = options.folder / "cases.npz"
    figures = collections.defaultdict(dict)
    for key, array in npz_values.read(file).items():
        name, _, rest = key.partition("/")
        figures[name][rest] = array
    cases = [case for case in json.loads((options.folder / "cases.json").read_text()) if re.search(options.only, case["name"])]
    total, good, reasons = collections.Counter(), collections.Counter(), collections.Counter()
    refused = set(options.refused.read_text().split()) if options.refused else set()
    surprises = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda case: outcome(options.weft, case, file, figures[case["name"]], options), cases)
        for case, reason in zip(cases, found):
            total[case["group"]] += 1
            good[case["group"]] += reason is None
            if (case["name"] in refused) != (reason is not None and ": weft: error: " in reason) or (reason and case["name"] not in refused):
                surprises.append(f"{case['name']}: {reason or 'agrees now; remove it from ' + str(options.refused)}")
            if reason:
                reasons[kind_of(reason)] += 1
                if options.verbose:
                    print(f"FAIL {case['name']} ({case['file']}::{case['test']}): {reason}")
    for group in sorted(total):
        print(f"{group:14} {good[group]:5} of {total[group]:5} agree, {100 * good[group] / total[group]:.1f} %")
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")
    if options.refused:
        print("\n".join(surprises))
    sys.exit(bool(options.refused and surprises) or not total)


if __name__ == "__main__":
    main()
