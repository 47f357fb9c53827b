#!/usr/bin/env python3
"""Runs Weft's programs in one process, through the C interface of its runtime; prints a line of JSON for each.

    python3 programs.py devices                 GPUs and libraries that the runtime finds
    python3 programs.py answers [NAME...]       results beside the CPU's; three runs must have the same bits
    python3 programs.py steps [NAME...]         train steps: the first losses, ms a step, ms of each kernel
    python3 programs.py figures [NAME...]       the programs of figures.py: ms by the host's clock and by the GPU's events
    python3 programs.py hold                    keeps the GPU initialised until its input ends, which makes other starts shorter

--after NAME begins behind NAME, which ended an earlier process. After an error the process ends with status 3, as the GPU may take
nothing more from it. WEFT_CUDA_LIBRARIES=none switches libraries off, as everywhere in Weft.
"""

import argparse
import ctypes
import hashlib
import json
import math
import pathlib
import statistics
import sys
import time

import numpy as np

import inputs
from runtime import KINDS, GpuList, Library, Weft, free_runtimes, notes_of, opened, ports_of, runtime_of

HERE = pathlib.Path(__file__).resolve().parent
WANTED_STEPS = 5  # losses that are compared


def milliseconds(call, least, most, seconds):
    """Times of a call that waits for its end: at least `least`, then until `seconds` have passed, at most `most`."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or (len(times) < most and time.perf_counter() < end):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def spread(times):
    return {"ms": round(statistics.median(times), 5), "least_ms": round(min(times), 5), "runs": len(times)}


def answers(weft, name, its, options):
    expected = np.load(HERE / "programs" / f"{name}.npz")
    with opened(weft, HERE / "programs" / f"{name}.weft", "cuda:1") as program:
        if its.get("stored_inputs"):
            arrays = [expected[port.name.decode()] for port in program.inputs]
        else:
            arrays = inputs.draw_all(ports_of(program), its)
        bits, worst, places = set(), 0, ""
        for _ in range(options.runs):
            program.bind(arrays)
            program.run()
            results = [program.result(number) for number in range(len(program.outputs))]
            bits.add(hashlib.sha256(b"".join(result.tobytes() for result in results)).hexdigest()[:12])
            for number, (port, result) in enumerate(zip(program.outputs, results)):
                found = result if its.get("stored_inputs") else inputs.sample(result)
                wanted = port.name.decode() if its.get("stored_inputs") else f"out{number}"
                far = inputs.compare(found, expected[wanted], KINDS[port.dtype])
                if far > worst:
                    worst, places = far, f"result {number}"
    right = worst <= its["tolerance"]
    why = {} if right else {"why": f"{places}: NaN on one side only" if worst == math.inf else f"{places}: difference {worst:.2e}"}
    if right and len(bits) > 1:
        why = {"why": f"{len(bits)} different results of {options.runs} runs"}
    return {"ok": not why, "difference": worst if worst < math.inf else None, "allowed": its["tolerance"], "different_bits": len(bits),
            "bits": sorted(bits), "load_ms": round(program.load_ms, 1), "walks": its.get("walks"), **why}


def kernels(program, runs, top):
    """Mean ms of each kernel on device 0 over profiled runs, the longest first, and the mean ms from first to last."""
    total, count, whole = {}, {}, []
    for _ in range(runs):
        found, took = program.profiled()
        whole.append(took / 1e6)
        for instruction, position, ns in found:
            if position == 0:  # the others do the same
                total[instruction] = total.get(instruction, 0) + ns / 1e6 / runs
                count[instruction] = count.get(instruction, 0) + 1 / runs
    rows = {}
    for number, ms in total.items():
        its = program.instruction(number)
        if its.kind in (b"jump", b"return"):
            continue
        row = rows.setdefault((its.kind, its.name), [0, 0, 0, 0])
        for place, value in enumerate((ms, count[number], its.bytes * count[number], its.operations * count[number])):
            row[place] += value
    ordered = sorted(rows.items(), key=lambda row: -row[1][0])
    listed = [{"kind": kind.decode(), "name": name.decode()[:90], "count": round(row[1]), "ms": round(row[0], 4),
               "GBps": round(row[2] / row[0] / 1e6, 1) if row[0] else None,
               "TFLOPs": round(2 * row[3] / row[0] / 1e9, 2) if row[0] and row[3] else None} for (kind, name), row in ordered[:top]]
    return listed, sum(row[0] for row in rows.values()), statistics.median(whole), len(rows)


def steps(weft, name, its, options):
    with opened(weft, HERE / "programs" / f"{name}.weft", "cuda:1") as program:
        begin = time.perf_counter()
        program.bind(inputs.draw_all(ports_of(program), its))
        bind_s = time.perf_counter() - begin
        losses, first = [], None
        for _ in range(WANTED_STEPS):
            begin = time.perf_counter()
            program.run()
            first = first or 1e3 * (time.perf_counter() - begin)
            if "loss" in its:
                loss = program.result(its["loss"]).reshape(-1).astype(np.float64)
                losses.append(float(loss[0] / loss[1]) if loss.size == 2 else float(loss[0]))
        loaded = {"load_ms": round(program.load_ms, 1), "draw_and_write_s": round(bind_s, 2), "first_run_ms": round(first, 2)}
        if losses:
            say({"part": "losses", "item": name, "ok": bool(np.isfinite(losses).all()), "losses": losses, **loaded})
        times = milliseconds(program.run, 3, options.most, options.seconds)
        line = {"ok": True, **spread(times), **({} if losses else loaded), "launches": program.info.launches, "arena_GB": round(program.info.arena_bytes / 1e9, 3)}
        for what in ("tokens", "samples"):
            if what in its:
                line[f"{what}_per_s"] = round(its[what] / statistics.median(times) * 1e3)
        if options.top:
            say({"part": options.part, "item": name, **line})
            listed, total, whole, rows = kernels(program, 3, options.top)
            line = {"part": "profile", "ok": True, "kernels_ms": round(total, 4), "from_first_to_last_ms": round(whole, 4),
                    "run_ms": round(statistics.median(times), 4), "different_kernels": rows, "kernels": listed}
    return line


def figures(weft, name, its, options):
    with opened(weft, HERE / "programs" / its["file"], f"cuda:{its['devices']}") as program:
        program.bind(inputs.draw_all(ports_of(program), its))
        program.run()
        times = milliseconds(program.run, 3, 30, options.seconds)
        listed, total, whole, _ = kernels(program, 5 if options.most > 3 else 1, 4)
    if its["library"] and its["operations"] and (notes := notes_of(weft, runtime_of(weft, f"cuda:{its['devices']}"))):
        return {"ok": False, "row": its["row"], "why": f"a library should compute it: {notes[-1]}"}
    took = total if its["devices"] == 1 else whole  # several devices take turns on a GPU
    line = {"ok": True, "row": its["row"], **spread(times), "kernels_ms": round(took, 5), "from_first_to_last_ms": round(whole, 5)}
    if its["operations"] and took:
        line["TFLOPs"] = round(2 * its["operations"] / took / 1e9, 1)
    elif took:
        line["GBps"] = round(its["bytes"] / took / 1e6, 1)
    return line | {"kernels": listed}


def devices(weft):
    begin = time.perf_counter()
    found = GpuList()
    weft.gpus(ctypes.byref(found))
    listed = time.perf_counter()
    libraries, count = ctypes.POINTER(Library)(), ctypes.c_size_t()
    weft.gpu_libraries(ctypes.byref(libraries), ctypes.byref(count))
    tried = time.perf_counter()
    runtime_of(weft, "cuda:1")
    opened_in = time.perf_counter() - tried

    def text(value):
        return value.decode() if value else None
    gpus = [{"name": text(gpu.name), "capability": gpu.capability, "memory": gpu.memory, "why_not": text(gpu.why_not)}
            for gpu in found.gpus[:found.count]]
    libraries = [{key: text(getattr(library, key)) for key in ("name", "version", "path", "why_not", "limit")}
                 for library in libraries[:count.value]]
    say({"part": "environment", "item": "weft devices", "ok": True, "driver": text(found.driver), "driver_version": found.driver_version,
         "list_ms": round(1e3 * (listed - begin), 1), "libraries_ms": round(1e3 * (tried - listed), 1),
         "open_ms": round(1e3 * opened_in, 1), "gpus": gpus, "libraries": libraries})


def say(line):
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["devices", "answers", "fixtures", "steps", "models", "figures", "hold"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--after", help="the last program that is left out")
    parser.add_argument("--runs", type=int, default=3, help="of answers")
    parser.add_argument("--top", type=int, default=25, help="kernels of a profile of steps; 0 for none")
    parser.add_argument("--seconds", type=float, default=1.5, help="to measure a program")
    parser.add_argument("--most", type=int, default=200, help="runs of a step")
    options = parser.parse_args()
    weft = Weft()
    try:
        return run_part(weft, options)
    finally:
        free_runtimes(weft)


def run_part(weft, options):
    if options.part == "devices":
        return devices(weft)
    if options.part == "hold":
        runtime_of(weft, "cuda:1")
        sys.stdin.read()
        return 0
    manifest = json.loads((HERE / "manifest.json").read_text())
    listed = {name: its for name, its in manifest["programs"].items() if its["part"] == options.part}
    names = options.names or list(listed)
    if options.after:
        names = names[names.index(options.after) + 1:]
    run = {"answers": answers, "fixtures": answers, "steps": steps, "models": steps, "figures": figures}[options.part]
    for name in names:
        if name not in listed:
            continue
        say({"begin": name})
        begin = time.perf_counter()
        try:
            line = run(weft, name, listed[name], options)
        except Exception as error:
            say({"part": options.part, "item": name, "ok": False, "why": f"{type(error).__name__}: {error}"[:800]})
            return 3
        say({"part": options.part, "item": name, **line, "seconds": round(time.perf_counter() - begin, 2)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
