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
# Ops of layouts and differentiation, which mean nothing to JAX; and calls of LAPACK, which need a library (test/jax/lapack.py).
WITHOUT_CASE = {"at", "constant", "constrain", "lapack", "manual", "reshard", "value_and_grad"}
FAMILIES = {
    "ElementwiseOps": "Elementwise", "SourceOps": "Sources", "MovementOps": "Moves", "ReductionOps": "Reductions and contractions", "FoldOps": "Reductions by a body",
    "IndexingOps": "Indexing", "ScanOps": "Cumulative ops and orders", "WindowOps": "Convolution and pooling",
    "FlowOps": "Loops and branches", "LinearAlgebraOps": "Linear algebra and Fourier transforms", "LayoutOps": "Layouts and differentiation",
}
HEAD = """# Ops of the dialect `weft`

Written by `python3 tools/check/check_ops.py --write` from the definitions in `dialects/weft`. *StableHLO* is the op that means
the same; *factors* are the kinds of factor in its sharding rule (`dialects/weft/rules/ShardingRule.h`): pass and position cost nothing,
reduce leaves a partial result, and `docs/decisions/2026-11-21-sharding-rules.md` has the costs of the others.
Every op has a meaning in the interpreter and code for CPUs and GPUs, except `lapack`, which a library computes on CPUs; cases in `test/fixtures/ops` compare them, and derivatives, with figures of JAX.
"""

STABLEHLO_HEAD = """
## Ops of StableHLO

Each op of [StableHLO's specification](https://github.com/openxla/stablehlo/blob/main/docs/spec.md), and older ones that its dialect
still has: whether a file that has it runs. A refused op is an error that names it and the way out. Types that are refused
everywhere: quantized ones (`!quant.uniform<...>`; convert to floats and back), and shapes that do not follow from constants.

| op | | limits, or the way out |
|---|---|---|
"""


def records(family):
    """Returns all records of a family's .td file, as TableGen lists them."""
    tool = shutil.which("llvm-tblgen", path=f"{LLVM / 'bin'}:{os.environ['PATH']}")
    llvm = pathlib.Path(tool).resolve().parents[1] / "include"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "weft").symlink_to(ROOT)
        command = [tool, "--dump-json", "-I", folder, "-I", str(llvm), str(DIALECT / "ops" / f"{family}.td")]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


# The ops of StableHLO 1.14's specification, and those that its dialect has besides.
SPECIFIED = """abs add after_all all_gather all_reduce all_to_all and async_done async_start atan2 batch_norm_grad batch_norm_inference
batch_norm_training bitcast_convert broadcast_in_dim case cbrt ceil cholesky clamp collective_broadcast collective_permute compare
complex composite concatenate constant convert convolution cosine count_leading_zeros custom_call divide dot_general
dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice
exponential exponential_minus_one fft floor gather get_dimension_size get_tuple_element if imag infeed iota is_finite log
log_plus_one logistic map maximum minimum multiply negate not optimization_barrier or outfeed pad partition_id popcnt power real
recv reduce reduce_precision reduce_scatter reduce_window remainder replica_id reshape reverse rng rng_bit_generator
round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter send shift_left shift_right_arithmetic
shift_right_logical sign sine slice sort sqrt subtract tan tanh transpose triangular_solve tuple uniform_dequantize
uniform_quantize while xor""".split()
BESIDES = "broadcast create_token cross-replica-sum dot einsum real_dynamic_slice set_dimension_size torch_index_select unary_einsum".split()
FRONT_END = ROOT / "compiler" / "frontends" / "stablehlo" / "convert"
LIMITS = {
    "composite": "its decomposition runs; `chlo.top_k` itself",
    "custom_call": "`@Sharding`, `@LayoutConstraint`, JAX's calls of the plugin, `@lapack_ROUTINE_ffi` as JAX writes them for CPUs, and `@mhlo.NAME` where NAME is an op of this table or of CHLO; others are refused by name",
    "dynamic_conv": "shapes that follow from constants", "dynamic_gather": "shapes that follow from constants",
    "dynamic_iota": "shapes that follow from constants", "dynamic_pad": "shapes that follow from constants",
    "dynamic_reshape": "shapes that follow from constants", "dynamic_broadcast_in_dim": "shapes that follow from constants",
    "real_dynamic_slice": "shapes that follow from constants",
    "map": "bodies of elementwise ops", "reduce": "bodies of elementwise ops", "reduce_window": "bodies of elementwise ops",
    "scatter": "its region may use scalars from outside; a window that is partly outside is left out as a whole, as XLA does; the specification leaves out its elements outside",
    "sort": "comparators as JAX writes them", "send": "to the host of the plugin", "recv": "from the host of the plugin",
    "rng": "with a warning: a program has no state, so that every run draws the same numbers, others for each op; booleans and integers below 8 bits are refused",
    "tuple": "where all elements are taken by get_tuple_element", "get_tuple_element": "of a tuple",
}


def stablehlo_rows():
    """A row for each op of StableHLO: whether the front end converts it, and else the way out that its error names."""
    sources = {path.name: path.read_text() for path in sorted(FRONT_END.glob("*.cpp"))}
    converted = {name for text in sources.values() for name in re.findall(r'\{"([\w.-]+)",\s*\w[\w:]*(?:<[^;{}]*?>)?(?:,[^{}]*)?\}', text)}
    converted |= set(re.findall(r'name\(\) (?:==|!=) "(map|tuple|get_tuple_element)"', sources["PlainForms.cpp"]))
    table = sources["Converter.cpp"].split("kWaysOut[] = {", 1)[1].split("};", 1)[0]
    refused = {name: "".join(re.findall(r'"([^"]*)"', text))[2:] for name, text in re.findall(r'\{"([\w-]+)",\s*((?:"[^"]*"\s*)+)\}', table)}
    for op in SPECIFIED + BESIDES:
        how = "runs" if op in converted else "refused" if op in refused else None
        yield op, how, refused.get(op, "") if how == "refused" else LIMITS.get(op, "")


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
    return text + stablehlo_page(), ops


def stablehlo_page():
    text = STABLEHLO_HEAD
    for op, how, note in stablehlo_rows():
        kind = "" if op in SPECIFIED else " (not in the specification)"
        text += f"| `{op}`{kind} | {how} | {note} |\n"
    return text


def main():
    text, ops = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(text)
        return 0
    problems = []
    if not PAGE.exists() or PAGE.read_text() != text:
        problems.append("docs/ops.md does not agree with the .td files; run python3 tools/check/check_ops.py --write")
    problems += [f"stablehlo.{op} is neither converted nor in kWaysOut (compiler/frontends/stablehlo/convert/Converter.cpp)"
                 for op, how, _ in stablehlo_rows() if how is None]
    cases = (ROOT / "test" / "fixtures" / "ops" / "goldens.json").read_text()
    tested = set(re.findall(r"weft\.(\w+)", cases))
    problems += [f"weft.{op} is in no case of test/fixtures/ops; write one" for op in ops if op not in tested | WITHOUT_CASE]
    families = {path.stem for path in DIALECT.rglob("*Ops.td")} - {"WeftOps"}
    problems += [f"{name}.td is not in the list of families of tools/check/check_ops.py" for name in sorted(families - set(FAMILIES))]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
