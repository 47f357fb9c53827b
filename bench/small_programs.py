#!/usr/bin/env python3
"""Small JAX programs on XLA's CPU and on Weft, in one run: compile time, first call and later calls of more than 60 programs.

    python3 bench/small_programs.py --python VENV/bin/python --library build/lib/libWeftPjrt.so
        [--cases NAME...] [--devices 1 8] [--rounds 3] [--slower 0.9] [--avx2] [--json]

VENV holds bench/requirements.txt; the programs are those of bench/small and of bench/loops.py. NAME may have wildcards. The platforms
take turns, a process for each platform, number of devices and round; cells are medians over the rounds. The results of both are compared.
With --avx2 both are limited to AVX2 (avx2.py).

  devices    a program that has a batch runs on one device and divided over eight virtual ones, others on one
  compile    JAX's lowering and the platform's compiler, s; nothing cached
  first      the first call, ms
  call       the median of the later calls of a process, ms, each waited for
  ratio      XLA's time over Weft's: above 1 Weft is faster; "differs" where the results do
"""

import argparse
import fnmatch
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import avx2
import numpy as np

import two_platforms

SECONDS = 0.2  # of calls in a process, of one program


def programs():
    import loops
    from small import contractions, convolutions, elements, positions, rows
    from small.case import Case
    found = {f"loop-{name}": Case(*program) for name, program in loops.programs().items()}
    for family in (contractions, convolutions, rows, positions, elements):
        found.update(family.cases())
    return found


def placed(case, devices):
    """The arguments on the devices, a donated state whole."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    if devices == 1:
        return jax.device_put(case.arguments)
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))

    def put(argument, split):
        return jax.device_put(argument, NamedSharding(mesh, PartitionSpec(*([None] * split + ["x"] if split is not None else []))))
    return [jax.tree.map(lambda leaf, split=split: put(leaf, split), argument)
            for argument, split in zip(case.arguments, case.splits, strict=True)]


def called(function, arguments, donated):
    """The result of a call that is over, its time in ms, and the arguments of the next call."""
    import jax
    begin = time.perf_counter()
    result = jax.block_until_ready(function(*arguments))
    end = time.perf_counter()
    arguments = list(arguments)
    for i in donated:
        structure = jax.tree.structure(arguments[i])
        arguments[i] = result if jax.tree.structure(result) == structure else result[0]
    return result, 1e3 * (end - begin), arguments


def sampled(value):
    """Up to 4,096 elements of a result, spread over it; a complex element is two numbers."""
    flat = np.asarray(value).ravel()
    flat = flat[:: max(1, flat.size // 4096)]
    parts = [flat.real, flat.imag] if np.iscomplexobj(flat) else [flat]
    return np.concatenate(parts).astype(np.float64).tolist()


def measure(case, devices):
    import jax
    with jax.enable_x64(case.wide):
        arguments = placed(case, devices)
        begin = time.perf_counter()
        function = jax.jit(case.function, donate_argnums=case.donated).lower(*arguments).compile()
        compile_s = time.perf_counter() - begin
        result, first, arguments = called(function, arguments, case.donated)
        values = [sampled(leaf) for leaf in jax.tree.leaves(result)]
        times, end = [], time.perf_counter() + SECONDS
        while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
            _, ms, arguments = called(function, arguments, case.donated)
            times.append(ms)
    return {"compile": compile_s, "first": first, "call": statistics.median(times), "values": values}


def run_cases(names, devices):
    """Prints a line of JSON for each program."""
    avx2.limit_libraries()
    known = programs()
    for name in names:
        try:
            found = measure(known[name], devices)
        except Exception as failure:
            found = {"failure": f"{type(failure).__name__}: {str(failure)[:300]}"}
        print(json.dumps({"case": name, **found}), flush=True)


def child(args, names, platform, devices):
    """{case: figures} of a round on a platform."""
    with tempfile.TemporaryDirectory() as folder:
        given = avx2.environment(os.environ) if args.avx2 else os.environ
        done = subprocess.run([args.python, __file__, "--child", *names, "--devices", str(devices)],
                              env=two_platforms.environment(args, platform, devices, folder, given),
                              capture_output=True, text=True, timeout=3600)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["case"]: line for line in lines}
    if done.returncode:
        missing = next((name for name in names if name not in found), "")
        print(f"{platform}, {devices} devices: exit {done.returncode} at {missing}\n{done.stderr[-2000:]}", file=sys.stderr)
    return found


def agree(ours, theirs, tolerance):
    """Equal infinities and NaN, and differences below a share of the largest element."""
    for a, b in zip(ours, theirs, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        finite = np.isfinite(b)
        scale = np.max(np.abs(b[finite]), initial=1e-30)
        if not np.array_equal(np.isfinite(a), finite) or not np.allclose(a[finite], b[finite], rtol=tolerance, atol=tolerance * scale):
            return False
    return True


def summary(name, devices, rounds, tolerance):
    """Medians of a program on both platforms, or what failed."""
    failures = [f"{platform}: {one['failure']}" for platform, found in rounds.items() for one in found if "failure" in one]
    if failures or not all(rounds.values()):
        return {"case": name, "devices": devices, "failure": failures[0] if failures else "a process ended"}
    row = {"case": name, "devices": devices,
           "agree": agree(rounds["weft"][0]["values"], rounds["cpu"][0]["values"], tolerance)}
    for platform, label in (("cpu", "xla"), ("weft", "weft")):
        row[label] = two_platforms.medians(rounds[platform], ("compile", "first", "call"))
    row["ratio"] = row["xla"]["call"] / row["weft"]["call"]
    return row


def print_rows(rows, slower):
    print("| program | devices | compile s, XLA | Weft | first ms, XLA | Weft | call ms, XLA | Weft | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        if "failure" in row:
            print(f"| {row['case']} | {row['devices']} | {row['failure'].splitlines()[0]} |")
            continue
        cells = [f"{row[platform][key]:.3g}" for key in ("compile", "first", "call") for platform in ("xla", "weft")]
        note = "" if row["agree"] else " (differs)"
        mark = "**" if row["ratio"] < slower else ""
        print(f"| {row['case']} | {row['devices']} | {' | '.join(cells)} | {mark}{row['ratio']:.2f}{mark}{note} |")
    measured = [row for row in rows if "ratio" in row]
    for devices in sorted({row["devices"] for row in measured}):
        ratios = [row["ratio"] for row in measured if row["devices"] == devices]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"\n{devices} devices: {len(ratios)} programs, geometric mean {mean:.2f}, {sum(r < slower for r in ratios)} below {slower}")


def main():
    parser = two_platforms.arguments(__doc__, "an interpreter with JAX", rounds=3)
    parser.add_argument("--cases", nargs="+", default=["*"])
    parser.add_argument("--devices", nargs="+", type=int, choices=(1, 8), default=[8, 1])
    parser.add_argument("--slower", type=float, default=0.9, help="ratios below are marked")
    parser.add_argument("--avx2", action="store_true", help="limit both to AVX2")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_cases(args.child, args.devices[0])
        return
    known = {name: (bool(case.splits), case.tolerance) for name, case in programs().items()}
    unknown = [name for name in args.cases if not fnmatch.filter(known, name)]
    if unknown:
        sys.exit(f"no program is called {unknown[0]}; there are {', '.join(known)}")
    rows = []
    for devices in args.devices:
        names = [name for name in known if any(fnmatch.fnmatch(name, form) for form in args.cases)
                 and (devices == 1 or known[name][0])]
        rounds = [{platform: child(args, names, platform, devices) for platform in ("cpu", "weft")} for _ in range(args.rounds)]
        rows += [summary(name, devices, {platform: [one[platform][name] for one in rounds if name in one[platform]]
                                         for platform in ("cpu", "weft")}, known[name][1]) for name in names]
    if args.json:
        print(json.dumps(rows))
    else:
        print_rows(rows, args.slower)


if __name__ == "__main__":
    main()
