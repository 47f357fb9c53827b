"""Programs on several processes, started by mpirun, give the bits of one process.

    check_processes.py WEFT FIXTURES run|fit|saved|examples|errors|death|interrupt
    check_processes.py WEFT FIXTURES stopped [TRIALS]
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
import patience

CODES = {"float32": "f", "int32": "i", "uint32": "I", "float64": "d", "int64": "q"}
FAILURES = []


def mpirun(count, *command, flags=()):
    """The command line of `count` processes; a list of lists gives each its own."""
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", *flags, "-n", str(count), *map(str, command)]


def call(command, cwd=None):
    """(exit status, Weft's lines on stderr)."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=patience.HANG, cwd=cwd)
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
            expect(together[1] == alone[1], f"{self.name}: {count} processes count the collectives of one")


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
    """Checks evaluate and predict, with a short last batch, on 8 devices that 3 processes share unevenly."""
    folder = fixtures / "seed-functional-mlp"
    for distribution in ("distribution-dp8.json", "distribution-mp-2x4.json"):
        model = [folder / "model.json", "--distribution", folder / distribution, "--x", f"{folder}/golden.npz:x",
                 "--batch-size", "12", "--seed", "1337", "--verbose", "0"]
        results, out = {}, scratch / "p.npy"
        for count in (1, 2, 3):
            started = [] if count == 1 else mpirun(count)
            succeed([*started, weft, "predict", *model, "--out", out])
            figures = subprocess.run([*started, weft, "evaluate", *model, "--y", f"{folder}/golden.npz:y", "--json"],
                                     capture_output=True, text=True, check=True, timeout=patience.HANG)
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
    """Checks that the command fails with one message."""
    status, errors = call(command)
    # If another rank finds the error first, the message of rank 0 names that rank.
    said = re.sub(r"^weft: error: (?:\S+: )?rank \d+: (?=(?:\S+: )?rank \d+ has|--devices)", "weft: error: ", errors)
    fits = re.fullmatch("weft: error: " + text + "\n", said)
    expect(status == 1 and fits, f"{text} == {errors.strip()} ({status})")
    said = said.strip().removeprefix("weft: error: ")
    if re.match(r"rank \d+: ", said):
        said = "step.weft: " + said  # rank 0 learned of the error before it had read its own program
    expect(not of_processes or documented(said), "docs/errors.md has it")


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
           "(?:.*: )?rank 2: in.npz: cannot be read: .*")
    refuse(mpirun(3, *step.command(scratch / "none" / "out.npz")), ".*cannot be written: .*", False)
    refuse(mpirun(9, *command), "--devices: 9 processes for 8 devices; start at most 8")
    refuse(mpirun(1, *command, ":", "-n", 1, "sleep", patience.HANG),
           r"not all of 2 processes have started weft within \d+ s, missing: rank 1; .*")
    expect(not out.exists(), "nothing was written")
    left = {m for m in documents.templates("processes").keys() - MET if "(process <n>" not in m}
    expect(not left, f"docs/errors.md has nothing else: {left}")


def running(count, mark):
    """{rank: process} once all `count` processes have loaded their program, and so have joined; None before."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            if mark.encode() in variables and "/memfd:weft-kernels" in (entry / "maps").read_text():
                rank = next(v for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK="))
                found[int(rank.partition(b"=")[2])] = int(entry.name)
        except OSError:
            pass
    return found if len(found) == count else None


def has_ended(process):
    """Whether a process has ended. A zombie has: only mpirun still has its entry."""
    try:
        return "\nState:\tZ" in pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


class Started:
    """`count` processes at work on a command that has no end of its own."""
    number = 0

    def __init__(self, count, command, *flags):
        Started.number += 1
        mark = f"WEFT_TEST_RUN={os.getpid()}-{Started.number}"
        # mpirun kills a process a second after it asked it to end, too soon on a busy machine.
        given = ["-x", mark, "--mca", "odls_base_sigkill_timeout", str(math.ceil(3 * patience.slowness())), *flags]
        self.mpirun = subprocess.Popen([str(c) for c in mpirun(count, *command, flags=given)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.processes = patience.until(lambda: self.mpirun.poll() is not None or running(count, mark),
                                        f"{count} processes have loaded the program")
        if self.mpirun.poll() is not None:
            sys.exit(f"ended by itself: {self.mpirun.communicate()[1]}")

    def said(self):
        """Weft's lines on stderr, once mpirun has ended."""
        _, errors = self.mpirun.communicate(timeout=patience.HANG)
        return [line for line in errors.splitlines() if line.startswith("weft: ")]


def kill(command, rank, number, *flags):
    """Kills or stops one of four processes; the others end by themselves, and one says why."""
    started = Started(4, command, *flags)
    victim = started.processes.pop(rank)
    slowness, begin = patience.slowness(), time.monotonic()
    os.kill(victim, number)
    patience.until(lambda: all(map(has_ended, started.processes.values())), "the other processes end")
    took, slowness = time.monotonic() - begin, max(slowness, patience.slowness())
    if flags and number == signal.SIGSTOP: # mpirun waits for it
        os.kill(victim, signal.SIGKILL)
    said = started.said()
    reason = "has not answered for 6 s" if number == signal.SIGSTOP else "has died"
    expect(took < 30 * slowness, f"rank {rank} {signal.Signals(number).name} {flags}: the others ended after {took:.1f} s")
    expect(len(said) == 1 and f"rank {rank} (process {victim} on " in said[0] and reason in said[0]
           and documented(said[0].removeprefix("weft: error: ")), f"said {said}")


RECOVERY = "--enable-recovery"  # mpirun then leaves the others alone


def check_death(weft, fixtures, scratch):
    step, out = seed_step(weft, fixtures, scratch, "distribution-dp8.json"), scratch / "killed.npz"
    command = step.command(out, "--repeat", "100000000")
    kill(command, 2, signal.SIGKILL)
    kill(command, 2, signal.SIGKILL, RECOVERY)
    # Rank 0 removes the file that it has begun, unless mpirun kills it.
    expect(not list(scratch.glob("killed.npz*")), "nothing was left behind")
    kill(command, 0, signal.SIGKILL, RECOVERY)
    kill(command, 1, signal.SIGSTOP, RECOVERY)


def endless_fit(weft, fixtures):
    folder = fixtures / "seed-functional-mlp"
    return [weft, "fit", folder / "model.json", "--data-parallel", "--devices", "cpu:8",
            "--x", f"{folder}/golden.npz:x", "--y", f"{folder}/golden.npz:y", "--batch-size", "16",
            "--seed", "1", "--epochs", "1000000", "--verbose", "0"]


def check_stopped(weft, fixtures, scratch, trials="4"):
    """Stops each rank in turn; in half of the trials mpirun ends the others as well, and continues the stopped one."""
    command = endless_fit(weft, fixtures)
    for trial in range(int(trials)):
        kill(command, trial % 4, signal.SIGSTOP, *([RECOVERY] if trial // 4 % 2 else []))


def interrupted(count, *command, rank=None):
    """Weft's lines on stderr after one Ctrl-C to mpirun, which waits before it kills: a process that takes longer says nothing.

    With `rank`, after SIGTERM to that process alone.
    """
    started = Started(count, command)
    if rank is None:
        started.mpirun.send_signal(signal.SIGINT)
    else:
        os.kill(started.processes[rank], signal.SIGTERM)
    return started.said()


def check_interrupt(weft, fixtures, scratch):
    weights, history = scratch / "w.npz", scratch / "h.json"
    for rank in (None, 1):
        said = interrupted(3, *endless_fit(weft, fixtures), "--save-weights", weights, "--history", history, "--history-steps", rank=rank)
        steps = len(json.loads(history.read_text())["steps"]["loss"])
        expect(said == [f"weft: interrupted after {steps} steps; saved {weights}"], f"fit says {said} (rank {rank})")
        iteration = next(v for k, (_, v) in npz_values.read(weights).items() if k.endswith("/iteration"))[0]
        expect(iteration == steps, f"{iteration} steps are saved of {steps}")
    step = seed_step(weft, fixtures, scratch, "distribution-dp8.json")
    said = interrupted(3, *step.command(scratch / "out.npz", "--repeat", "100000000"))
    expect(len(said) <= 1 and not list(scratch.glob("out.npz*")), f"run says {said} and leaves nothing behind")


def main():
    weft, fixtures, what, *options = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:]
    with tempfile.TemporaryDirectory() as scratch:
        globals()[f"check_{what}"](weft, fixtures, pathlib.Path(scratch), *options)
    print(f"{what}: {len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
