#!/usr/bin/env python3
"""Runs the programs that bench/gpu/pack.py packed, on a machine with a GPU; needs a driver and Python's standard library.

    python3 run.py OUT_FOLDER [--parts smoke,answers,bench] [--minutes 25]

smoke     the GPU's name and state; the conformance test, which checks that CUDA behaves like the fake driver of Weft's tests;
          the collectives' bits; one program
answers   every program on cuda:1 beside the same program on this machine's CPU, three times: equal figures, equal bits
bench     the figures of figures.py, by weft profile, beside PyTorch and JAX where they are installed, in turn

Each item ends by itself; its line of OUT_FOLDER/results.jsonl has its name, its end and its figures. A table
comes last. Exit status 1 if anything is wrong.
"""

import argparse
import hashlib
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time
import zipfile

import figures
import npz_values

HERE = pathlib.Path(__file__).resolve().parent
WEFT = HERE / "bin" / "weft"
QUERY = "name,driver_version,memory.total,clocks.sm,clocks.mem,power.draw,temperature.gpu"
TOLERANCE = 2e-6  # relative to the largest value; the CPU's functions are the same polynomials
OF_STEPS = 2e-5   # the tolerance for train steps, whose sums have another order
LEAST_OF_STEPS = 1e-3  # a smaller largest value counts as this: some weights have a gradient of 0 but for rounding
REPEATS = 3
ROUNDS = 3  # each measures Weft, then PyTorch, then JAX


class Report:
    """The lines of results.jsonl, and the time that is left."""

    def __init__(self, folder, minutes):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = open(folder / "results.jsonl", "a")
        self.programs = folder / "programs"
        self.end = time.monotonic() + 60 * minutes
        self.lines = []

    def add(self, part, item, ok, **fields):
        line = {"part": part, "item": item, "ok": ok, **fields}
        self.lines.append(line)
        print(json.dumps(line), file=self.file, flush=True)
        print(f"{part:8} {item:32} {'ok' if ok else 'FAILED'}", flush=True)

    def run(self, part, item, command, limit=120, expected=0, environment=None, folder=None):
        """Runs a command; returns its output, or None, after adding a line to the report, if it does not end as expected."""
        left = self.end - time.monotonic()
        begin = time.monotonic()
        if left <= 0:
            self.add(part, item, False, why="no time is left")
            return None
        try:
            done = subprocess.run(command, text=True, capture_output=True, timeout=min(limit, left),
                                  cwd=folder, env={**os.environ, **(environment or {})})
        except (OSError, subprocess.TimeoutExpired) as error:
            self.add(part, item, False, command=[str(word) for word in command], why=str(error))
            return None
        if done.returncode != expected:
            self.add(part, item, False, command=[str(word) for word in command], status=done.returncode,
                     seconds=round(time.monotonic() - begin, 3), output=(done.stdout + done.stderr)[-4000:])
            return None
        return done.stdout


def results(report, part, item, name, target, device, folder):
    """The arrays that a program returns; None, after adding a line to the report, if it fails."""
    out = folder / "out.npz"
    program = report.programs / f"{name}.{target.replace(':', '-')}.weft"
    command = [WEFT, "run", program, "--inputs", report.programs / f"{name}.npz", "--outputs", out, "--devices", device,
               "--repeat", "2"]
    if report.run(part, item, command) is None:
        return None
    return {key: values for key, (_, values) in npz_values.read(out).items()}


def smoke(report, manifest, folder):
    smi = shutil.which("nvidia-smi")
    if smi:
        state = report.run("smoke", "gpu", [smi, f"--query-gpu={QUERY}", "--format=csv,noheader"])
        if state is not None:
            report.add("smoke", "gpu", True, query=QUERY, state=state.strip().splitlines())
    tested = report.run("smoke", "conformance", [HERE / "bin" / "cuda-driver-test", "~[fake]~[.]"], limit=240)
    if tested is not None:
        report.add("smoke", "conformance", True, output=tested.strip()[-400:])
    collectives(report)
    name = manifest["programs"][0]
    if results(report, "smoke", "first program", name, "cuda:sm_80", "cuda:1", folder) is not None:
        report.add("smoke", "first program", True, program=name)


def collectives(report):
    """Compares every collective and element type with the CPU's bits, on all GPUs."""
    tested = report.run("smoke", "collectives", [HERE / "bin" / "gpu-collectives-test", "~[.]"], limit=300, folder=HERE / "lib")
    if tested is not None:
        report.add("smoke", "collectives", True, output=tested.strip()[-400:])


def answers(report, manifest, folder):
    for name in manifest["programs"]:
        wanted = results(report, "answers", f"{name} cpu:avx2", name, "cpu:avx2", "cpu:1", folder)
        for target in manifest["targets"]:
            if wanted is None or not target.startswith("cuda"):
                continue
            item, bits, worst = f"{name} {target}", set(), 0
            is_step = name.startswith("train-step")
            allowed, least = (OF_STEPS, LEAST_OF_STEPS) if is_step else (TOLERANCE, 0)
            begin = time.monotonic()
            for _ in range(REPEATS):
                found = results(report, "answers", item, name, target, "cuda:1", folder)
                if found is None:
                    break
                worst = max([worst, *(npz_values.worst_difference(found[key], values, least) for key, values in wanted.items())])
                bits.add(hashlib.sha256(b"".join(values.tobytes() for values in found.values())).hexdigest())
            else:
                report.add("answers", item, worst <= allowed and len(bits) == 1, difference=worst, allowed=allowed,
                           different_bits=len(bits), seconds=round(time.monotonic() - begin, 3))


def profiled(report, name, size, file, devices, library):
    """A run's milliseconds, and the bytes a second of a copy in the same process; tiny sizes measure none."""
    how = ["--repeat", "20"] if size == "full" else ["--repeat", "1", "--peak-bandwidth", "1"]
    command = [WEFT, "profile", report.programs / file, "--devices", f"cuda:{devices}", *how, "--json"]
    out = report.run("bench", name, command, environment={} if library else {"WEFT_CUDA_LIBRARIES": "none"})
    if out is None:
        return None
    its = json.loads(out)
    return its["run_ms"], its["roof"]["bytes_per_second"]


def peers(report, library, names):
    out = report.run("bench", library, [sys.executable, HERE / "peers.py", library, *names], limit=240)
    return json.loads(out) if out else {}


def bench(report, manifest, folder):
    """Measures all figures of Weft, then of each peer, in each round, so that the GPU's clock affects all alike."""
    size, programs = manifest["sizes"], manifest["figures"]
    own, other = {name: [] for name in programs}, {"torch": {}, "jax": {}}
    for _ in range(ROUNDS if size == "full" else 1):
        for name, its in programs.items():
            if own[name] is not None:
                found = profiled(report, name, size, its["file"], its["devices"], its["library"])
                own[name] = None if found is None else [*own[name], found]
        for library, times in other.items() if size == "full" else []:
            for name, ms in peers(report, library, programs).items():
                times.setdefault(name, []).append(ms)
    for name, its in programs.items():
        if not own[name]:
            continue
        ms = statistics.median(time for time, _ in own[name])
        report.add("bench", name, True, row=its["row"], size=size, ms=ms, spread=[min(own[name])[0], max(own[name])[0]],
                   bytes=its["bytes"], operations=its["operations"], anchor=its["anchor"],
                   copy_bytes_per_second=statistics.median(copied for _, copied in own[name]),
                   peers={library: statistics.median(times[name]) for library, times in other.items() if name in times})


PARTS = {"smoke": smoke, "answers": answers, "bench": bench}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--without", default="", help="names of programs, with commas between")
    parser.add_argument("--minutes", type=float, default=25)
    options = parser.parse_args()
    manifest = json.loads((HERE / "manifest.json").read_text())
    left_out = [name for name in options.without.split(",") if name]
    for name in left_out:
        if name not in manifest["programs"]:
            parser.error(f"--without: no program is called '{name}'; there are {', '.join(manifest['programs'])}")
    manifest["programs"] = [name for name in manifest["programs"] if name not in left_out]
    report = Report(options.out, options.minutes)
    with zipfile.ZipFile(HERE / "programs.zip") as packed:
        packed.extractall(report.programs)
    report.add("machine", platform.processor() or platform.machine(), True, date=time.strftime("%Y-%m-%dT%H:%M:%S"),
               system=platform.platform(), **{key: manifest[key] for key in ("commit", "altered")})
    for part in options.parts.split(","):
        if part not in PARTS:
            parser.error(f"no part is called '{part}'; there are {', '.join(PARTS)}")
        PARTS[part](report, manifest, options.out)
    failed = [line for line in report.lines if not line["ok"]]
    print(f"\n{len(report.lines) - len(failed)} ok, {len(failed)} failed; {options.out / 'results.jsonl'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
