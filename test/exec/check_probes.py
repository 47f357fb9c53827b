"""Small programs give the same results on a mesh and on one device.

    check_probes.py WEFT FOLDER...

Each file of a folder is compiled for its mesh, and for one device; both run on
the same random whole numbers and must give equal results, but for the rounding
of large floats and the tolerance of a line `// TOLERANCE: 1e-5`. The runtime counts
the collectives of a run; they are those of the line `// SENDS: all_reduce 1 480, ...`
(kind, count and bytes of the device that sends most), or of the file's budget:
`weft.expect = "all_reduce=1, all_reduce.bytes=480"`.
"""

import array
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import npz_values

TYPES = {"float32": "f", "int32": "i", "float64": "d"}


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def on_one_device(text):
    """The program with every axis of its mesh of size 1."""
    line = re.search(r"#weft\.mesh<.*>", text).group()
    one = text.replace(line, re.sub(r"=\d+", "=1", line))
    return re.sub(r', weft.expect = "[^"]*"', "", re.sub(r'("\w+"):\(\d+\)\d+', r"\1", one))


def stated_traffic(text):
    """The collectives that the file states, `all_reduce 1 480, ...` or `none`."""
    line = re.search(r"^// SENDS: (.*)$", text, re.MULTILINE)
    if line:
        return line.group(1)
    budget = dict(limit.split("=") for limit in re.search(r'weft.expect = "([^"]*)"', text).group(1).split(", "))
    return ", ".join(f"{kind} {count} {budget[kind + '.bytes']}"
                     for kind, count in budget.items() if "." not in kind)


def draw(listed):
    """{name: (shape, values)} for the inputs of `weft run --list`."""
    inputs = {}
    for name, shape, kind in re.findall(r"^input\s+(\S+)\s+\S+\s+\(([^)]*)\)\s+(\S+)", listed, re.MULTILINE):
        sizes = [int(size) for size in re.findall(r"\d+", shape)]
        count = 1
        for size in sizes:
            count *= size
        values = (random.randint(0, 16) if kind == "int32" else random.randint(-4, 4) for _ in range(count))
        inputs[name] = (sizes, array.array(TYPES[kind], values))
    return inputs


def execute(weft, text, scratch, name, inputs=None):
    """Inputs, results and collectives of one run."""
    source, program = scratch / f"{name}.mlir", scratch / f"{name}.weft"
    source.write_text(text)
    run(weft, "compile", source, "-o", program)
    inputs = inputs or draw(run(weft, "run", program, "--list"))
    given, results, stats = scratch / "in.npz", scratch / f"{name}.npz", scratch / f"{name}.json"
    npz_values.write(given, inputs)
    run(weft, "run", program, "--inputs", given, "--outputs", results, "--stats", stats)
    return inputs, npz_values.read(results), json.loads(stats.read_text())["collectives"]


def differs(one, many, tolerance):
    """Whether two results differ by more than the tolerance, or than large sums in another order."""
    (shape, expected), (other, values) = one, many
    largest = max((abs(value) for value in expected), default=0)
    allowed = largest * (1e-6 if largest > 2**24 else tolerance)
    return shape != other or any(abs(a - b) > allowed for a, b in zip(expected, values, strict=True))


def check(weft, path):
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        inputs, expected, _ = execute(weft, on_one_device(text), scratch, "one")
        _, results, collectives = execute(weft, text, scratch, "many", inputs)
    sent = ", ".join(f"{kind} {c['count']} {c['bytes']}" for kind, c in sorted(collectives.items())) or "none"
    wanted = stated_traffic(text)
    stated = re.search(r"^// TOLERANCE: (.*)$", text, re.MULTILINE)
    tolerance = float(stated.group(1)) if stated else 0
    wrong = [name for name in expected if differs(expected[name], results[name], tolerance)]
    good = not wrong and sent == wanted
    print(f"{'ok  ' if good else 'FAIL'} {path.stem}: sends {sent}")
    if wrong:
        print(f"     differs from one device: {', '.join(wrong)}")
    if sent != wanted:
        print(f"     is to send {wanted}")
    return not good


def main():
    weft, *folders = sys.argv[1:]
    random.seed(1)
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
    return 1 if sum(check(weft, path) for path in paths) else 0


if __name__ == "__main__":
    sys.exit(main())
