"""Programs on GPUs of several processes, started by mpirun, on the fake driver and its NCCL.

    check_processes_on_gpus.py WEFT FIXTURES FAKE_FOLDER programs|fit|refused|death

With --collectives exact the results have the bits of all devices on one GPU; with nccl they are within rounding of them, and the same
with any order of the work. The bytes that collectives count are those of one process.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import check_errors
import check_processes
import gpu_programs
import npz_values
import patience
from check_processes import expect, has_ended, mpirun

TOLERANCE = 4e-5  # of the largest value; see check_run.py
# (processes, GPUs of the machine, way): all pairs.
CASES = [(2, 2, "exact"), (2, 4, "nccl"), (2, 8, "exact"), (4, 4, "exact"), (4, 8, "nccl"), (2, 2, "nccl"), (4, 4, "nccl")]


class Machine:
    """The fake driver's machine."""

    def __init__(self, fake, scratch):
        self.scratch, self.log = scratch, scratch / "nccl.log"
        self.base = {**os.environ, "LD_LIBRARY_PATH": str(fake), "WEFT_CUDA_LIBRARIES": str(fake), "FAKE_NCCL_FOLDER": str(scratch),
                     "FAKE_NCCL_SEED": "5", "FAKE_NCCL_LOG": str(self.log)}

    def environment(self, gpus=1, **more):
        return {**self.base, "FAKE_CUDA_GPUS": str(gpus), **{name: str(value) for name, value in more.items()}}

    def call(self, command, gpus=1, **more):
        """(exit status, Weft's and the fake's lines on stderr)."""
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=patience.HANG,
                              env=self.environment(gpus, **more))
        said = "".join(line for line in done.stderr.splitlines(True) if line.startswith(("weft: error", "fake-cuda: ")))
        return done.returncode, said

    def succeed(self, command, gpus=1, **more):
        status, said = self.call(command, gpus, **more)
        if status or "fake-cuda" in said:
            sys.exit(f"{' '.join(map(str, command))} on {gpus} GPUs, {more}\nended with {status}: {said[:2000]}")

    def groups(self):
        """The groups of calls of NCCL since the last time."""
        with contextlib.suppress(FileNotFoundError):
            lines = self.log.read_text().splitlines()
            self.log.unlink()
            return lines
        return []

    def left(self):
        """What processes have left in the memory that they share."""
        return [path.name for path in self.scratch.glob("weft-fake-nccl-*")]


def worst(found, wanted):
    return max(npz_values.worst_difference(values, wanted[name], 1e-3) for name, values in found.items())


def values(path):
    return {name: data for name, (_, data) in npz_values.read(path).items()}


def collectives(path):
    return json.loads(path.read_text())["collectives"]


def check_programs(weft, fixtures, machine, scratch):
    """Each StableHLO program that communicates, in one of the cases; every fifth has three orders of the work."""
    program, given, out, stats = (scratch / name for name in ("p.weft", "in.npz", "out.npz", "stats.json"))
    sources = [source for name, source in gpu_programs.programs().items()
               if name not in gpu_programs.LARGE and source.parent == gpu_programs.STABLEHLO]
    checked, calls = 0, 0
    for source in sources:
        machine.succeed([weft, "compile", source, "--devices", "cuda:8", "-o", program])
        npz_values.write(given, gpu_programs.inputs(source, gpu_programs.listing(weft, program)))
        command = [weft, "run", program, "--inputs", given, "--outputs", out, "--devices", "cuda:8", "--stats", stats]
        machine.succeed(command)
        alone, moved = values(out), collectives(stats)
        if not moved:
            continue
        processes, gpus, way = CASES[checked % len(CASES)]
        checked += 1
        machine.groups()
        first = None
        for seed in (1, 2, 3) if checked % 5 == 0 else (1 + checked % 3,):
            machine.succeed(mpirun(processes, *command, "--collectives", way), gpus, FAKE_CUDA_SEED=seed)
            found, counts = values(out), collectives(stats)
            text = f"{source.stem} in {processes} processes on {gpus} GPUs, {way}, order {seed}"
            expect(counts == moved, f"{text}: counts of one process")
            if way == "exact":
                expect(found == alone, f"{text}: bits of one GPU")
            else:
                expect(worst(found, alone) <= TOLERANCE, f"{text}: within rounding: {worst(found, alone):.1e}")
            expect(found == (first := first or found), f"{text}: bits of every order")
        calls += len(machine.groups())
    expect(not machine.left(), "nothing is left in shared memory")
    expect(calls > 0, f"{checked} programs, {calls} groups of calls")


def model(fixtures, distribution):
    folder = fixtures / "seed-functional-mlp"
    return [folder / "model.json", *(["--distribution", folder / distribution] if distribution else ["--data-parallel"]),
            "--devices", "cuda:8", "--x", f"{folder}/golden.npz:x[0:30]", "--verbose", "0"], f"{folder}/golden.npz:y[0:30]"


def check_fit(weft, fixtures, machine, scratch):
    weights, stats, out = scratch / "w.npz", scratch / "s.json", scratch / "p.npy"
    for distribution, cases in ((None, [(2, 2, "exact"), (4, 8, "nccl")]), ("distribution-mp-2x4.json", [(4, 4, "exact"), (2, 4, "nccl")])):
        given, y = model(fixtures, distribution)
        fit = [weft, "fit", *given, "--y", y, "--batch-size", "12", "--validation-split", "0.2", "--epochs", "1", "--seed", "1337",
               "--save-weights", weights, "--stats", stats]
        predict = [weft, "predict", *given, "--batch-size", "16", "--seed", "1337", "--out", out]
        evaluate = [weft, "evaluate", *given, "--y", y, "--batch-size", "16", "--seed", "1337", "--json"]
        evaluated = []

        def run(started=(), gpus=1, flags=(), seed=1):
            for command in (fit, predict):
                machine.succeed([*started, *command, *flags], gpus, FAKE_CUDA_SEED=seed)
            done = subprocess.run([str(c) for c in [*started, *evaluate, *flags]], capture_output=True, text=True, check=True,
                                  timeout=patience.HANG, env=machine.environment(gpus))
            evaluated.append(json.loads(done.stdout))
            return weights.read_bytes(), values(weights), collectives(stats), out.read_bytes()

        alone = run()
        for processes, gpus, way in cases:
            text = f"{distribution or 'data-parallel'} in {processes} processes on {gpus} GPUs, {way}"
            together = run(mpirun(processes), gpus, ["--collectives", way], gpus)
            expect(together[2] == alone[2], f"{text}: fit counts the collectives of one process")
            if way == "exact":
                expect(together[0] == alone[0] and together[3] == alone[3] and evaluated[-1] == evaluated[0],
                       f"{text}: fit, predict and evaluate give the bits of one GPU")
            else:
                expect(worst(together[1], alone[1]) < 1e-4, f"{text}: fit is within rounding: {worst(together[1], alone[1]):.1e}")
    expect(not machine.left(), "nothing is left in shared memory")


def of_rank(rank, setting, command):
    """A command of a process that has a setting in one rank."""
    words = " ".join(f"'{word}'" for word in command)
    return ["sh", "-c", f"test $OMPI_COMM_WORLD_RANK = {rank} && export {setting}; exec {words}"]


def check_refused(weft, fixtures, machine, scratch):
    given, y = model(fixtures, None)
    fit = [weft, "fit", *given, "--y", y, "--batch-size", "12", "--seed", "1"]

    documented, met = check_errors.templates("gpu-processes"), set()

    def refuse(what, wanted, command, gpus=2, **more):
        status, said = machine.call(command, gpus, **more)
        fits = re.fullmatch("weft: error: (?:rank [01]: )?" + wanted + "\n", said)
        expect(status != 0 and fits, f"{what}: {wanted} == {said.strip()} ({status})")
        plain = re.sub(r"^weft: error: (rank [01]: )?", "", said.strip())
        met.update(fitting := [message for message, pattern in documented.items() if pattern.match(plain)])
        expect(fitting, f"docs/errors.md has it: {plain}")

    missing = "GPUs of several processes exchange data by NCCL, which is not used: "
    refuse("no NCCL", missing + "WEFT_CUDA_LIBRARIES names no folder; install .*", mpirun(2, *fit), WEFT_CUDA_LIBRARIES="none")
    refuse("no NCCL in one process", missing + "WEFT_CUDA_LIBRARIES names no folder; install .*",
           mpirun(2, *of_rank(1, "WEFT_CUDA_LIBRARIES=none", fit)))
    refuse("an old one", missing + ".* is NCCL 2.17.3, programs need 2.18.0 or later; install .*", mpirun(2, *fit), FAKE_NCCL_VERSION=21703)
    refuse("other versions", "rank 1 has NCCL 2.28.1, rank 0 has 2.28.9; install one version everywhere",
           mpirun(2, *of_rank(1, "FAKE_NCCL_VERSION=22801", fit)))
    refuse("more processes than GPUs", r"ranks 0 and 1 share a GPU \(bus 1, device 0\), and NCCL wants one for each process; .*",
           mpirun(2, *fit), gpus=1)
    refuse("peer", "--collectives: GPUs of several processes cannot address each other's memory; write nccl or exact, or run one process",
           mpirun(2, *fit, "--collectives", "peer"))
    refuse("all GPUs", "--devices: cuda is all GPUs of one process; for several, write the number of all their devices, such as cuda:8; see weft .*",
           mpirun(2, *[word if word != "cuda:8" else "cuda" for word in fit]))
    expect(met == documented.keys(), f"docs/errors.md has nothing else: {documented.keys() - met}")
    # Processes that share a GPU, and say that they are on machines of their own.
    share = ["sh", "-c", "NCCL_HOSTID=$OMPI_COMM_WORLD_RANK exec \"$@\"", "sh"]
    weights = scratch / "w.npz"
    machine.succeed([*fit, "--save-weights", weights])
    alone = weights.read_bytes()
    machine.succeed(mpirun(2, *share, *fit, "--save-weights", weights, "--collectives", "exact"), 1)
    expect(weights.read_bytes() == alone, "two processes on one GPU with NCCL_HOSTID give the bits of one")


def running(count, mark):
    """{rank: process}."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, StopIteration):
            variables = (entry / "environ").read_bytes().split(b"\0")
            if mark.encode() in variables and (entry / "comm").read_text().startswith("weft"):
                rank = next(v for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK="))
                found[int(rank.partition(b"=")[2])] = int(entry.name)
    return found if len(found) == count else None


def kill(machine, command, rank, number, flags=("--enable-recovery",)):
    """Kills or stops one of three processes at work; the others end by themselves, and one says why."""
    mark = f"WEFT_TEST_RUN={os.getpid()}-{rank}-{number}-{len(flags)}"
    machine.groups()
    started = subprocess.Popen([str(c) for c in mpirun(3, *command, flags=["-x", mark, *flags])], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, env=machine.environment(4))
    at_work = lambda: machine.log.exists() and len(machine.log.read_text().splitlines()) > 12
    patience.until(lambda: started.poll() is not None or at_work(), "the processes are at work")
    processes = running(3, mark)
    if not processes:
        sys.exit(f"ended by itself: {started.communicate()[1]}")
    victim = processes.pop(rank)
    slowness, begin = patience.slowness(), time.monotonic()
    os.kill(victim, number)
    patience.until(lambda: all(map(has_ended, processes.values())), "the other processes end")
    took, slowness = time.monotonic() - begin, max(slowness, patience.slowness())
    if number == signal.SIGSTOP: # mpirun waits for it
        os.kill(victim, signal.SIGKILL)
    _, errors = started.communicate(timeout=patience.HANG)
    said = [line for line in errors.splitlines() if line.startswith(("weft: ", "fake-cuda: "))]
    reason = "has not answered for 6 s" if number == signal.SIGSTOP else "has died"
    expect(took < 10 * slowness, f"rank {rank} {signal.Signals(number).name}: the others ended after {took:.1f} s")
    expect(len(said) == 1 and f"rank {rank} (process {victim} on " in said[0] and reason in said[0]
           and check_processes.documented(said[0].removeprefix("weft: error: ")), f"said {said}")


def check_death(weft, fixtures, machine, scratch):
    given, y = model(fixtures, None)
    fit = [weft, "fit", *given, "--y", y, "--batch-size", "12", "--seed", "1", "--epochs", "1000000"]
    kill(machine, fit, 2, signal.SIGKILL)
    kill(machine, fit, 0, signal.SIGKILL)
    kill(machine, fit, 1, signal.SIGSTOP)
    once = [*fit[:-1], "2"]
    for setting, wanted in (("FAKE_NCCL_DIES=1", r"rank 1 \(process \d+ on \S+\) has died; .*"),
                            ("FAKE_NCCL_DIES=3", r"rank 1 \(process \d+ on \S+\) has died; .*"),
                            ("FAKE_CUDA_FAIL=kernel:50", "rank 1: .* failed with CUDA_ERROR_ILLEGAL_ADDRESS .*"),
                            ("FAKE_CUDA_FAIL=ncclAllReduce:9", "rank 1: .*ncclAllReduce failed with unhandled cuda error .*"),
                            ("FAKE_CUDA_FAIL=ncclCommInitRankConfig:1:2", "rank 1: .*ncclCommInitRankConfig failed with unhandled system error .*"),
                            ("FAKE_CUDA_FAIL=ncclCommSplit:1:3", "rank 1: .*ncclCommSplit failed with internal error .*")):
        begin, slowness = time.monotonic(), patience.slowness()
        _, said = machine.call(mpirun(2, *of_rank(1, setting, once), flags=["--enable-recovery"]), 2)
        took, slowness = time.monotonic() - begin, max(slowness, patience.slowness())
        expect(re.fullmatch("weft: error: " + wanted + "\n", said), f"{setting}: {wanted} == {said.strip()}")
        expect(took < 15 * slowness, f"{setting}: all ended {took:.1f} s after the start")


def main():
    weft, fixtures, fake, what = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        globals()[f"check_{what}"](weft, fixtures, Machine(fake, scratch), scratch)
    print(f"{what}: {len(check_processes.FAILURES)} failures")
    return 1 if check_processes.FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
