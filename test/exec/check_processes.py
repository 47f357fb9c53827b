"""Programs on several processes, started by mpirun, give the bits of one process.

    check_processes.py WEFT FIXTURES run|fit|saved|examples|errors|death|interrupt
"""

import array
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import check_errors as documents
import npz_values

CODES = {"float32": "f", "int32": "i", "uint32": "I", "float64": "d", "int64": "q"}
FAILURES = []


def mpirun(count, *command, flags=()):
    """The command line of `count` processes; a list of lists gives each its own."""
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", *flags, "-n", str(count), *map(str, command)]


def call(command, cwd=None):
    """(exit status, what Weft printed on stderr)."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, cwd=cwd)
    return result.returncode, "".join(line for line in result.stderr.splitlines(True) if line.startswith("weft: "))


def expect(condition, what):
    print(("ok   " if condition else "FAIL ") + what, flush=True)
    if not condition:
        FAILURES.append(what)


def succeed(command):
    status, errors = call(command)
    if status:
        sys.exit(f"{' '.join(map(str, command))}\nended with {status}: {errors}")


def draw(listed):
    """{name: (shape, values)} for the inputs of `weft run --list`."""
    made, chance = {}, random.Random(1)
    for name, shape, kind in re.findall(r"^input\s+(\S+)\s+\S+\s+\(([^)]*)\)\s+(\S+)", listed, re.MULTILINE):
        sizes = [int(size) for size in re.findall(r"\d+", shape)]
        values = [chance.randint(0, 7) if "int" in kind else chance.gauss(0, 0.1) for _ in range(math.prod(sizes))]
        made[name] = (sizes, array.array(CODES[kind], values))
    return made


class Program:
    """A compiled program with inputs; run() executes it in some processes."""

    def __init__(self, weft, scratch, name, *source):
        self.weft, self.name, self.scratch = weft, name, scratch
        self.file, self.inputs = scratch / f"{name}.weft", scratch / f"{name}.in.npz"
        succeed([weft, "compile", *source, "-o", self.file])
        listed = subprocess.run([weft, "run", self.file, "--list"], check=True, capture_output=True, text=True).stdout
        npz_values.write(self.inputs, draw(listed))

    def command(self, out, *flags):
        return [self.weft, "run", self.file, "--inputs", self.inputs, "--outputs", out, *flags]

    def run(self, count):
        """The bytes of the results' file, and the collectives that were counted."""
        out, stats = self.scratch / "out.npz", self.scratch / "stats.json"
        command = self.command(out, "--stats", stats, "--repeat", "3")
        succeed(command if count == 1 else mpirun(count, *command))
        text = stats.read_text()
        return out.read_bytes(), text[text.index('"collectives"'):]

    def compare(self, *counts):
        alone = self.run(1)
        for count in counts:
            together = self.run(count)
            expect(together[0] == alone[0], f"{self.name}: {count} processes give the bits of one")
            expect(together[1] == alone[1], f"{self.name}: {count} processes count what one counts")


def seed_step(weft, fixtures, scratch, distribution, batch=16):
    folder = fixtures / "seed-functional-mlp"
    path = folder / distribution
    if not path.exists():
        path = pathlib.Path(__file__).parent / "Inputs" / distribution
    return Program(weft, scratch, path.stem, folder / "model.json", "--batch-size", batch, "--distribution", path)


def check_run(weft, fixtures, scratch):
    for distribution, counts in (("distribution-dp8.json", (2, 3, 4)), ("distribution-mp-2x4.json", (2, 3, 4))):
        seed_step(weft, fixtures, scratch, distribution).compare(*counts)
    # 7 samples on 3 devices of 2 processes.
    seed_step(weft, fixtures, scratch, "seed-functional-mlp-dp3.json", 7).compare(2, 3)


def check_fit(weft, fixtures, scratch):
    folder = fixtures / "seed-functional-mlp"
    for distribution in ("distribution-dp8.json", "distribution-mp-2x4.json"):
        results = {}
        for count in (1, 2, 4):
            weights, history = scratch / "w.npz", scratch / "h.json"
            command = [weft, "fit", folder / "model.json", "--distribution", folder / distribution,
                       "--x", f"{folder}/golden.npz:x", "--y", f"{folder}/golden.npz:y", "--batch-size", "12",
                       "--validation-split", "0.25", "--epochs", "2", "--seed", "1337", "--verbose", "0",
                       "--save", scratch / "m.keras", "--save-weights", weights, "--history", history]
            succeed(command if count == 1 else mpirun(count, *command))
            results[count] = weights.read_bytes(), history.read_text()
            (scratch / "m.keras").unlink()
        for count in (2, 4):
            expect(results[count] == results[1], f"fit on {distribution}: {count} processes give the bits of one")


def check_saved(weft, fixtures, scratch):
    """evaluate and predict, with a rest of 10 samples and devices that are cut unevenly."""
    folder = fixtures / "seed-functional-mlp"
    for distribution in ("distribution-dp8.json", "distribution-mp-2x4.json"):
        model = [folder / "model.json", "--distribution", folder / distribution, "--x", f"{folder}/golden.npz:x",
                 "--batch-size", "12", "--seed", "1337", "--verbose", "0"]
        results, out = {}, scratch / "p.npy"
        for count in (1, 2, 3):
            started = [] if count == 1 else mpirun(count)
            succeed([*started, weft, "predict", *model, "--out", out])
            figures = subprocess.run([*started, weft, "evaluate", *model, "--y", f"{folder}/golden.npz:y", "--json"],
                                     capture_output=True, text=True, check=True, timeout=120)
            results[count] = out.read_bytes(), json.loads(figures.stdout)
            out.unlink()
        for count in (2, 3):
            expect(results[count] == results[1], f"{distribution}: {count} processes predict and evaluate as one")


def check_examples(weft, fixtures, scratch):
    folder = pathlib.Path(__file__).parents[2] / "examples" / "parallelism"
    for source in sorted(folder.glob("*.mlir")):
        Program(weft, scratch, source.stem, source, "--from", "imported").compare(4)


MET = set()


def documented(text):
    """Whether docs/errors.md has a message."""
    fitting = [m for m, pattern in documents.templates("processes").items() if pattern.match(text)]
    MET.update(fitting)
    return bool(fitting)


def refuse(command, text, of_processes=True):
    """It fails, and says so once."""
    status, errors = call(command)
    fits = re.fullmatch("weft: error: " + text + "\n", errors)
    expect(status == 1 and fits, f"{text} == {errors.strip()} ({status})")
    expect(not of_processes or documented(errors.strip().removeprefix("weft: error: ")), "docs/errors.md has it")


def check_errors(weft, fixtures, scratch):
    step = seed_step(weft, fixtures, scratch, "distribution-dp8.json")
    other = seed_step(weft, fixtures, scratch, "distribution-mp-2x4.json")
    command, out = step.command(scratch / "out.npz"), scratch / "out.npz"
    refuse(mpirun(1, *command, ":", "-n", 1, *command, "--repeat", 2),
           "rank 1 has another command line or version of weft than rank 0: hash [0-9a-f]+, not [0-9a-f]+; .*")
    for name, file in (("one", step.file), ("two", other.file)):
        (scratch / name).mkdir()
        (scratch / name / "step.weft").write_bytes(file.read_bytes())
    local = [weft, "run", "step.weft", "--inputs", step.inputs, "--outputs", out]
    refuse(mpirun(2, "--wdir", scratch / "one", *local, ":", "-n", 1, "--wdir", scratch / "two", *local),
           "step.weft: rank 2 has another program than rank 0: hash [0-9a-f]+, not [0-9a-f]+; .*")
    (scratch / "one" / "in.npz").write_bytes(step.inputs.read_bytes())
    changed = npz_values.read(step.inputs)
    next(values for _, values in changed.values())[0] += 1
    npz_values.write(scratch / "two" / "in.npz", changed)
    local = [weft, "run", step.file, "--inputs", "in.npz", "--outputs", out]
    refuse(mpirun(2, "--wdir", scratch / "one", *local, ":", "-n", 1, "--wdir", scratch / "two", *local),
           "[^:]*: rank 2 has another in.npz than rank 0: hash [0-9a-f]+, not [0-9a-f]+; .*")
    (scratch / "two" / "in.npz").unlink()
    local = [weft, "run", step.file, "--inputs", "in.npz", "--outputs", out]
    refuse(mpirun(2, "--wdir", scratch / "one", *local, ":", "-n", 1, "--wdir", scratch / "two", *local),
           ".*: rank 2: in.npz: cannot be read: .*")
    refuse(mpirun(3, *step.command(scratch / "none" / "out.npz")), ".*cannot be written: .*", False)
    refuse(mpirun(9, *command), "--devices: 9 processes for 8 devices; start at most 8")
    refuse(mpirun(1, *command, ":", "-n", 1, "sleep", 20),
           "not all of 2 processes have started weft within 8 s, missing: rank 1; .*")
    expect(not out.exists(), "nothing was written")
    left = {m for m in documents.templates("processes").keys() - MET if "(process <n>" not in m}
    expect(not left, f"docs/errors.md has nothing else: {left}")


def process_of(rank, mark):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            if (entry / "comm").read_text() == "weft\n" and {f"OMPI_COMM_WORLD_RANK={rank}".encode(), mark} <= set(variables):
                return int(entry.name)
        except OSError:
            pass
    sys.exit(f"no process of rank {rank}")


def kill(program, rank, number, *flags):
    """Kills one of four processes; the others end by themselves, and one says why."""
    out, mark = program.scratch / "killed.npz", f"WEFT_TEST_RUN={os.getpid()}-{rank}-{number}-{len(flags)}"
    started = subprocess.Popen(
        [str(c) for c in mpirun(4, *program.command(out, "--repeat", "100000000"), flags=["-x", mark, *flags])],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    victim = process_of(rank, mark.encode())
    others = [process_of(other, mark.encode()) for other in range(4) if other != rank]
    begin = time.monotonic()
    os.kill(victim, number)
    while any(pathlib.Path(f"/proc/{other}").exists() for other in others) and time.monotonic() < begin + 20:
        time.sleep(0.05)
    took = time.monotonic() - begin
    if number == signal.SIGSTOP:
        os.kill(victim, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    said = [line for line in errors.splitlines() if line.startswith("weft: ")]
    reason = "has not been heard of for 6 s" if number == signal.SIGSTOP else "has died"
    expect(took < 10, f"rank {rank} {signal.Signals(number).name} {flags}: the others ended after {took:.1f} s")
    expect(len(said) == 1 and f"rank {rank} (process {victim} on " in said[0] and reason in said[0]
           and documented(said[0].removeprefix("weft: error: ")), f"said {said}")
    if rank != 0 and flags: # rank 0 removes what it has begun, unless mpirun kills it
        expect(not list(program.scratch.glob("killed.npz*")), "nothing was left behind")
    for left in program.scratch.glob("killed.npz*"):
        left.unlink()


def check_death(weft, fixtures, scratch):
    step = seed_step(weft, fixtures, scratch, "distribution-dp8.json")
    kill(step, 2, signal.SIGKILL)
    kill(step, 2, signal.SIGKILL, "--enable-recovery")
    kill(step, 0, signal.SIGKILL, "--enable-recovery")
    kill(step, 1, signal.SIGSTOP, "--enable-recovery")


def interrupted(command, seconds):
    """(seconds until all is over, Weft's lines on stderr) after one Ctrl-C to mpirun."""
    started = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    begin = time.monotonic()
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    return time.monotonic() - begin, [line for line in errors.splitlines() if line.startswith("weft: ")]


def check_interrupt(weft, fixtures, scratch):
    folder, weights, history = fixtures / "seed-functional-mlp", scratch / "w.npz", scratch / "h.json"
    command = [weft, "fit", folder / "model.json", "--distribution", folder / "distribution-dp8.json",
               "--x", f"{folder}/golden.npz:x", "--y", f"{folder}/golden.npz:y", "--batch-size", "16", "--seed", "1",
               "--epochs", "1000000", "--verbose", "0", "--save-weights", weights, "--history", history, "--history-steps"]
    took, said = interrupted(mpirun(3, *command, flags=["--mca", "odls_base_sigkill_timeout", "3"]), 4)
    steps = len(json.loads(history.read_text())["steps"]["loss"])
    expect(said == [f"weft: interrupted after {steps} steps; saved {weights}"], f"fit says {said}")
    iteration = next(v for k, (_, v) in npz_values.read(weights).items() if k.endswith("/iteration"))[0]
    expect(iteration == steps and took < 10, f"{iteration} steps are saved of {steps}, after {took:.1f} s")
    step = seed_step(weft, fixtures, scratch, "distribution-dp8.json")
    took, said = interrupted(mpirun(3, *step.command(scratch / "out.npz", "--repeat", "100000000")), 2)
    expect(took < 10 and len(said) <= 1, f"run says {said} after {took:.1f} s")


def main():
    weft, fixtures, what = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as scratch:
        globals()[f"check_{what}"](weft, fixtures, pathlib.Path(scratch))
    print(f"{what}: {len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
