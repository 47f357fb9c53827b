"""Compares the report of `weft profile` with known figures of a program.

    python check_profile.py WEFT FOLDER cpu|cuda

A contraction of 64 x 128 x 32 has 262,144 multiply-adds and arrays of 57,344 bytes. Of a program on a mesh, launches,
collectives and their bytes are those of its plan (`weft explain`), and the trace has each of them on each device.
"""

import json
import pathlib
import subprocess
import sys

PRODUCT = """
func.func public @main(%x: tensor<64x128xf32>, %w: tensor<128x32xf32>) -> tensor<64x32xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
"""
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "parallelism" / "tensor-parallel.mlir"


def run(weft, *arguments):
    done = subprocess.run([weft, *map(str, arguments)], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"weft {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, expected {wanted}")


def check_product(weft, folder, kind):
    source = folder / "product.mlir"
    source.write_text(PRODUCT)
    report = json.loads(run(weft, "profile", source, "--devices", f"{kind}:1", "--repeat", "2", "--json",
                            "--peak-bandwidth", "1", "--peak-operations", "1"))
    expect("runs and devices", (report["runs"], report["devices"]), (2, 1))
    expect("the roof", report["roof"], {"bytes_per_second": 1e9, "measured": False, "operations_per_second": 1e9})
    row, = report["rows"]
    known = {"kind": "launch", "count": 1, "bytes": 4 * (64 * 128 + 128 * 32 + 64 * 32), "operations": 64 * 128 * 32}
    expect("the product", {key: row[key] for key in known}, known)
    least = max(known["bytes"], known["operations"]) / 1e9 * 1e3  # ms on a device that moves 1e9 bytes and does 1e9 operations a second
    if not row["ms"] > 0 or abs(row["roof_share"] * row["ms"] - least) > 1e-6 * least:
        sys.exit(f"a share of {row['roof_share']} of {row['ms']} ms, but the roof takes {least} ms")


def check_trace(trace, program, counts, devices):
    """Checks that each device has its instructions one after the other."""
    events = json.loads(trace.read_text())["traceEvents"]
    expect("tracks", sorted(e["args"]["name"] for e in events if e["ph"] == "M"), [f"device {n}" for n in range(devices)])
    for device in range(devices):
        own = [e for e in events if e["ph"] == "X" and e["tid"] == device]
        found = {}
        for event in own:
            found[event["cat"]] = found.get(event["cat"], 0) + 1
        expect(f"events of device {device} of {program}", found, counts)
        for before, after in zip(own, own[1:]):
            if before["dur"] < 0 or before["ts"] + before["dur"] > after["ts"] + 1:
                sys.exit(f"{before} is not over when {after} begins")


def check_mesh(weft, folder, kind):
    program, stats, trace = (folder / name for name in ("mesh.weft", "stats.json", "trace.json"))
    target = [] if kind == "cpu" else ["--target", "cuda:sm_80"]
    run(weft, "compile", EXAMPLE, *target, "-o", program)
    plan = json.loads(run(weft, "explain", program, "--json"))
    devices = plan["devices"]
    report = json.loads(run(weft, "profile", program, "--repeat", "1", "--json", "--trace", trace, "--share", "off"))
    counts, moved = {}, {}
    for row in report["rows"]:
        counts[row["kind"]] = counts.get(row["kind"], 0) + row["count"]
        if row["kind"] not in ("launch", "copy"):
            moved[row["kind"]] = moved.get(row["kind"], 0) + row["bytes"]
    expect("launches", counts["launch"], plan["code"]["launches"])
    expect("devices", report["devices"], devices)
    wanted = {}
    for collective in plan["collectives"]:
        wanted.setdefault(collective["kind"], [0, 0])
        wanted[collective["kind"]][0] += 1
        wanted[collective["kind"]][1] += collective["bytes"]
    expect("collectives", {k: [counts[k], moved[k]] for k in moved}, wanted)
    if not moved:
        sys.exit(f"{EXAMPLE.name} has no collectives: take another example")
    if not report["roof"]["measured"] or not report["roof"]["bytes_per_second"] > 1e6:
        sys.exit(f"the roof was not measured: {report['roof']}")
    check_trace(trace, program.name, counts, devices)
    table = run(weft, "profile", program, "--repeat", "1", "--top", "1")
    lines = table.splitlines()
    expect("lines of --top 1", (len(lines), "others: " in lines[-1]), (8 if kind == "cuda" else 7, True))
    busy = {name: report["busy"][f"{name}_ms"] for name in ("computing", "communication", "exposed")}
    expect("a device computes, communicates, and waits at most that long",
           busy["computing"] > 0 and 0 <= busy["exposed"] <= busy["communication"] > 0, True)
    if kind == "cpu":  # each collective is awaited at once
        expect("all communication is exposed", round(busy["exposed"] / busy["communication"], 6), 1)
    expect("the line of that", lines[2].startswith("a device computes for ") or lines[3].startswith("a device computes for "), True)
    expect("pieces that are graphs without the profile", bool(report["graphs"]), kind == "cuda")
    expect("lines that do not fit", [line for line in lines if len(line) > 96], [])


def main():
    weft, folder, kind = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    check_product(weft, folder, kind)
    check_mesh(weft, folder, kind)
    print(f"profiles on {kind} agree")


if __name__ == "__main__":
    main()
