"""House rules that a script can prove: lengths of files, include edges, names.

Files have under 500 lines, an include may only follow the edges of the design,
and nothing is called Util, Common, Helper or Misc.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 500
# Which first folders a folder may include; a runtime file never sees MLIR.
EDGES = {
    "dialects": {"dialects"},
    "passes": {"passes", "dialects"},
    "compiler": {"compiler", "passes", "dialects", "runtime/abi"},
    "runtime": {"runtime"},
    "tools": {"tools", "compiler", "passes", "dialects", "runtime"},
}
VAGUE = re.compile(r"(^|/)(utils?|common|helpers?|misc)([./_-]|$)", re.I)


def tracked():
    """All files of the repository."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [pathlib.Path(line) for line in listing.stdout.splitlines()]


def code_files():
    suffixes = {".cpp", ".h", ".td", ".py", ".fbs", ".cu"}
    return [p for p in tracked() if p.suffix in suffixes and "fixtures" not in p.parts and (ROOT / p).exists()]


def long_files():
    for path in code_files():
        lines = (ROOT / path).read_text(errors="replace").count("\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, at most {MAX_LINES}; split it by concept"


def bad_includes():
    for path in code_files():
        allowed = EDGES.get(path.parts[0])
        if allowed is None or path.suffix == ".py":
            continue
        text = (ROOT / path).read_text(errors="replace")
        for target in re.findall(r'#include "weft/([^"]+)"', text):
            if not any(target.startswith(edge + "/") for edge in allowed):
                yield f"{path}: includes weft/{target}; {path.parts[0]} may include {', '.join(sorted(allowed))}"
        if path.parts[0] == "runtime" and re.search(r'#include [<"](mlir|llvm)/', text):
            yield f"{path}: the runtime may not include MLIR or LLVM"


def vague_names():
    for path in tracked():
        if VAGUE.search(str(path)):
            yield f"{path}: name the concept, not Util, Common, Helper or Misc"


def main():
    problems = [*long_files(), *bad_includes(), *vague_names()]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
