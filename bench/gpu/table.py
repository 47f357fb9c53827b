#!/usr/bin/env python3
"""The table of GPU figures in docs/performance.md, from the newest results of each figure in bench/gpu/results/*.jsonl.

    python3 bench/gpu/table.py           says whether the page has it
    python3 bench/gpu/table.py --write   writes it there

Results are the lines of run.py's results.jsonl, committed as they are: DATE-GPU.jsonl. A figure without a result reads "not measured".
"""

import json
import pathlib
import sys

import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- GPU figures: bench/gpu/table.py --write -->", "<!-- end of GPU figures -->"
HEAD = ["| row | figure | ms | PyTorch, ms | JAX, ms | TFLOP/s | of a copy's bandwidth | measured |", "|---|---|---|---|---|---|---|---|"]


def results(folder):
    """{figure: (line, machine, file)}, from the last file by name that has the figure."""
    found = {}
    for file in sorted(folder.glob("*.jsonl")):
        machine = {}
        for line in map(json.loads, file.read_text().splitlines()):
            if line["part"] == "machine":
                machine = line
            elif line["part"] == "bench" and line["ok"] and line["size"] == "full":
                found[line["item"]] = line, machine, file.name
    return found


def cells(row, name, found):
    if name not in found:
        return [str(row), name, *["not measured"] * 6]
    line, machine, file = found[name]
    seconds = line["ms"] / 1e3
    peers = [f"{line['peers'][peer]:.3f}" if peer in line["peers"] else "-" for peer in ("torch", "jax")]
    flops = f"{2 * line['operations'] / seconds / 1e12:.1f}" if line["operations"] else "-"
    share = f"{line['bytes'] / seconds / line['copy_bytes_per_second']:.2f}" if line["anchor"] == "copy" else "-"
    return [str(row), name, f"{line['ms']:.3f}", *peers, flops, share, f"{machine.get('date', '')[:10]}, `{file}`"]


def table(found):
    rows = [(figure.row, figure.name) for figure in figures.FIGURES] + [(9, figures.MLP)]
    return "\n".join([BEGIN, *HEAD, *("| " + " | ".join(cells(row, name, found)) + " |" for row, name in sorted(rows)), END])


def main():
    text = PAGE.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{PAGE}: a line '{BEGIN}' and one '{END}' are wanted, once each")
    before, rest = text.split(BEGIN)
    wanted = before + table(results(pathlib.Path(__file__).parent / "results")) + rest.split(END)[1]
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif text != wanted:
        sys.exit(f"{PAGE} differs from bench/gpu/results; run python3 bench/gpu/table.py --write")
    return 0


if __name__ == "__main__":
    sys.exit(main())
