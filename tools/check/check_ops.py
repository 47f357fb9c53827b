"""docs/ops.md lists the ops as their definitions do; --write generates it.

One row an op, from the .td files: its meaning, the op of StableHLO that means
the same, the kinds of its rule's factors, its derivative. Every op that computes
is in a case of test/fixtures/ops, whose figures are those of JAX.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIALECT = ROOT / "dialects" / "weft"
LLVM = pathlib.Path("/usr/lib/llvm-22")  # Debian's folder; without it PATH is searched
PAGE = ROOT / "docs" / "ops.md"
# Ops of layouts and differentiation, which mean nothing to JAX.
WITHOUT_CASE = {"constant", "constrain", "manual", "reshard", "value_and_grad"}
FAMILIES = {
    "ElementwiseOps": "Elementwise", "SourceOps": "Sources", "MovementOps": "Moves", "ReductionOps": "Reductions and contractions", "FoldOps": "Reductions by a body",
    "IndexingOps": "Indexing", "ScanOps": "Cumulative ops and orders", "WindowOps": "Convolution and pooling",
    "FlowOps": "Loops and branches", "LinearAlgebraOps": "Linear algebra and Fourier transforms", "LayoutOps": "Layouts and differentiation",
}
HEAD = """# Ops of the dialect `weft`

Written by `python3 tools/check/check_ops.py --write` from the definitions in `dialects/weft`. *StableHLO* is the op that means
the same; *factors* are the kinds of factor in its sharding rule (`dialects/layout/ShardingRule.h`): pass and position cost nothing,
reduce leaves a partial result, and `docs/decisions/2026-11-21-sharding-rules.md` has the costs of the others.
Every op has a meaning in the interpreter and code for CPUs and GPUs; cases in `test/fixtures/ops` compare them, and derivatives, with figures of JAX.
"""


def records(family):
    """Returns all records of a family's .td file, as TableGen lists them."""
    tool = shutil.which("llvm-tblgen", path=f"{LLVM / 'bin'}:{os.environ['PATH']}")
    llvm = pathlib.Path(tool).resolve().parents[1] / "include"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "weft").symlink_to(ROOT)
        command = [tool, "--dump-json", "-I", folder, "-I", str(llvm), str(DIALECT / "ops" / f"{family}.td")]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def is_differentiable(record, known):
    names = [trait["def"] for trait in record["traits"]]
    return any(known[name].get("cppInterfaceName") == "DifferentiableOpInterface" for name in names)


def derivative_of(record, known):
    if not is_differentiable(record, known):
        return "none"
    return record["derivative"] or "yes"


def ops_of(family):
    """Returns (mnemonic, row) of every op, in the order of the file."""
    known = records(family)
    text = (DIALECT / "ops" / f"{family}.td").read_text()
    names = re.findall(r"^def (Weft_\w+Op)\b", text, re.M)
    for name in names:
        record = known[name]
        cells = [f"`{record['opName']}`", record["summary"], record["stablehlo"], record["factors"], derivative_of(record, known)]
        yield record["opName"], "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page():
    """Returns the page's text, and the ops that it lists."""
    text, ops = HEAD, []
    for family, title in FAMILIES.items():
        if not (DIALECT / "ops" / f"{family}.td").exists():
            continue
        text += f"\n## {title}\n\n| op | meaning | StableHLO | factors | derivative |\n|---|---|---|---|---|\n"
        for op, row in ops_of(family):
            ops.append(op)
            text += row + "\n"
    return text, ops


def main():
    text, ops = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(text)
        return 0
    problems = []
    if not PAGE.exists() or PAGE.read_text() != text:
        problems.append("docs/ops.md does not agree with the .td files; run python3 tools/check/check_ops.py --write")
    cases = (ROOT / "test" / "fixtures" / "ops" / "goldens.json").read_text()
    tested = set(re.findall(r"weft\.(\w+)", cases))
    problems += [f"weft.{op} is in no case of test/fixtures/ops; write one" for op in ops if op not in tested | WITHOUT_CASE]
    families = {path.stem for path in DIALECT.rglob("*Ops.td")} - {"WeftOps"}
    problems += [f"{name}.td is not in the list of families of tools/check/check_ops.py" for name in sorted(families - set(FAMILIES))]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
