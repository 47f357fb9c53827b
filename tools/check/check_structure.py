"""House rules that a script can prove: lengths of files, include edges, names.

Files have under 500 lines; includes and linked libraries may only follow the edges
of the design; folders form no cycle; nothing is called Util, Common, Helper or Misc;
only DeviceList.h reads and writes texts such as cpu:8.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 500
# The folders that the files of a folder may include. Folders of PLAIN include neither MLIR nor LLVM.
EDGES = {
    "base": {"base"},
    "layout": {"layout", "base"},
    "dialects": {"dialects", "layout", "base"},
    "passes": {"passes", "dialects", "layout", "base"},
    # Front ends read the initializers of models.
    "compiler": {"compiler", "passes", "dialects", "layout", "base", "runtime/abi", "data/initializers"},
    "runtime": {"runtime", "layout", "base"},
    "data": {"data", "base"},
    "training": {"training", "data", "layout", "base", "runtime/abi", "runtime/devices"},
    "tools": {"tools", "compiler", "passes", "dialects", "training", "data", "runtime", "layout", "base"},
}
PLAIN = ("base", "layout", "runtime", "data", "training")
VAGUE = re.compile(r"(^|/)(utils?|common|helpers?|misc)([./_-]|$)", re.I)


def tracked():
    """Returns all files of the repository."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [pathlib.Path(line) for line in listing.stdout.splitlines()]


def code_files():
    suffixes = {".cpp", ".h", ".td", ".py", ".fbs", ".cu"}
    return [p for p in tracked() if p.suffix in suffixes and "fixtures" not in p.parts and (ROOT / p).exists()]


def long_files():
    for path in code_files():
        lines = (ROOT / path).read_text(errors="replace").count("\n")
        if lines >= MAX_LINES:
            yield f"{path}: {lines} lines, not under {MAX_LINES}; split it by concept"


def includes():
    """Yields (file, its text, [included paths]) for files of EDGES' folders that are C++ or TableGen."""
    for path in code_files():
        if path.parts[0] in EDGES and path.suffix not in (".py", ".fbs"):
            text = (ROOT / path).read_text(errors="replace")
            yield path, text, re.findall(r'^\s*#?\s*include\s+"([^"]+)"', text, re.M)


def bad_includes():
    for path, text, targets in includes():
        allowed = EDGES[path.parts[0]]
        for target in targets:
            if target.startswith("weft/"):
                if not any(target.startswith(f"weft/{edge}/") for edge in allowed):
                    yield f"{path}: includes {target}; {path.parts[0]} may include {', '.join(sorted(allowed))}"
            elif (ROOT / path).parent.joinpath(target).exists() or "/" not in target:
                yield f'{path}: includes "{target}"; spell it "weft/<folder>/<file>", so that its edge is seen'
        if path.parts[0] in PLAIN and re.search(r'#include [<"](mlir|llvm|lld)(-c)?/', text):
            yield f"{path}: {path.parts[0]} may not include MLIR or LLVM"


def folder_cycles():
    """Returns one line for each cycle of folders that include each other; a folder and its subfolders are one."""
    graph = {}
    for path, _, targets in includes():
        own = path.parent.as_posix()
        graph.setdefault(own, set()).update(
            pathlib.PurePath(t).parent.as_posix().removeprefix("weft/") for t in targets if t.startswith("weft/"))
    done = set()

    def visit(folder, trail):
        if folder in trail:
            yield f"folders form a cycle: {' -> '.join([*trail[trail.index(folder):], folder])}; move the code that one needs of the other"
        elif folder not in done:
            for target in sorted(graph.get(folder, set())):
                if not f"{target}/".startswith(f"{folder}/") and not f"{folder}/".startswith(f"{target}/"):
                    yield from visit(target, [*trail, folder])
            done.add(folder)

    for folder in sorted(graph):
        yield from visit(folder, [])


def bad_links():
    """Checks that a library links only those of folders that it may include."""
    lists = [(p.parent, (ROOT / p).read_text()) for p in tracked() if p.name == "CMakeLists.txt" and p.parts[0] in EDGES]
    home = {}
    for folder, text in lists:
        for name in re.findall(r"\b(?:add_library|weft_mlir_library|add_mlir_public_c_api_library)\(\s*(\w+)", text):
            home[name] = folder.as_posix()
    for folder, text in lists:
        allowed = EDGES[folder.parts[0]]
        for call in re.findall(r"\b(?:target_link_libraries|weft_mlir_library)\(([^)]*)\)", re.sub(r"#.*", "", text)):
            for name in {n.removeprefix("weft::") for n in re.split(r"[\s;]+", call)} & home.keys():
                if not any(f"{home[name]}/".startswith(f"{edge}/") for edge in allowed):
                    yield f"{folder}/CMakeLists.txt: links {name} of {home[name]}; {folder.parts[0]} may link {', '.join(sorted(allowed))}"


def vague_names():
    for path in tracked():
        if VAGUE.search(str(path)):
            yield f"{path}: name the concept, not Util, Common, Helper or Misc"


def device_texts():
    """Returns one line for each literal that ends in cpu: or is it, as in "cpu:" + count; cpu:avx2 is a target."""
    for path, text, _ in includes():
        for line, code in enumerate(text.splitlines(), 1):
            if 'cpu:"' in code and path.parts[0] in ("compiler", "runtime", "data", "training", "tools"):
                yield f"{path}:{line}: text of devices made by hand; use DeviceList or DeviceName of base/DeviceList.h"


def main():
    problems = [*long_files(), *bad_includes(), *bad_links(), *folder_cycles(), *vague_names(), *device_texts()]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
