"""The files, folders, functions, tests and lines of code that the pages docs/adding-*.md name exist.

Each page follows something that is in the tree. In backticks:

    `Moves.cpp`, `dialects/plan/PlanOps.td`     the end of the path of a file
    `test/fixtures/ops`                         a folder
    `getCommunication`, `Coll_OnShards`         a word of a source file
    `every-op-test`, `build/bin/weft-fuzz`      a test program, a program

An indented line of a C++ or TableGen program is in a source file, but for white space and where it has "...".
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".cpp", ".h", ".td", ".def", ".fbs", ".inc", ".py", ".txt", ".cmake", ".mlir", ".test"}
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?:[\w.-]+/)*[\w.-]+\.(?:cpp|h|td|def|fbs|inc|py|mlir|test|md|json|npz|txt|cmake)")
FOLDER = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
PROGRAM = re.compile(r"(?:weft_unit_test|add_executable)\((\S+)")
# Names that stand for several, as cases_*.py and invalid-FAMILY.mlir; and paths outside the tree.
PATTERN = re.compile(r"\*|(^|-)[A-Z]{4,}-|-[A-Z]{4,}(\.|$)")
OUTSIDE = re.compile(r"keras/src/")


def tracked():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [pathlib.PurePath(name) for name in names if (ROOT / name).is_file()]


def ends_of(path):
    """The ends of a path: a/b/c.cpp, b/c.cpp and c.cpp."""
    return {"/".join(path.parts[i:]) for i in range(len(path.parts))}


class Tree:
    """The names and the text of all sources."""

    def __init__(self):
        files = tracked()
        self.files = {end for path in files for end in ends_of(path)}
        self.folders = {end for path in files for folder in path.parents for end in ends_of(folder)}
        text = "\n".join((ROOT / path).read_text(errors="replace") for path in files if path.suffix in SOURCES and path.name != pathlib.Path(__file__).name)
        self.words = set(re.findall(r"\w+", text)) | {path.stem for path in files}
        self.code = re.sub(r"\s+", "", text)
        self.programs = {name for path in files if path.suffix == ".cmake" or path.name == "CMakeLists.txt" for name in PROGRAM.findall((ROOT / path).read_text())}
        self.programs |= {path.stem for path in files if path.parts[0] == "test" and path.stem.endswith("-test")}

    def lacks(self, word):
        """The kind of name that the tree lacks for a word in backticks; an empty text if it has the name."""
        if word.startswith("build/bin/"):
            return "" if word.removeprefix("build/bin/") in self.programs else "program"
        word = word.removeprefix("build/")
        if PATTERN.search(word) or OUTSIDE.match(word):
            return ""
        if FILE.fullmatch(word):
            return "" if word in self.files else "file"
        if FOLDER.fullmatch(word):
            return "" if word.rstrip("/") in self.folders | self.files else "folder"
        if re.fullmatch(r"[\w-]+-test", word):
            return "" if word in self.programs else "test program"
        return next((f"word of a source file ('{part}')" for part in re.findall(r"[A-Za-z_]\w*", word) if part not in self.words), "")


def problems_of(page, tree):
    name = page.relative_to(ROOT)
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("    "):
            parts = [re.sub(r"\s+", "", part) for part in line.split("...")]
            if not all(part in tree.code for part in parts):
                yield f"{name}:{number}: no source has the line '{line.strip()}'; copy it from the tree, with ... for code left out"
            continue
        for span in SPAN.findall(line):
            for word in span.split():
                word = word.rstrip(".,;:")
                if missing := tree.lacks(word):
                    yield f"{name}:{number}: `{word}` is no {missing} of the tree; correct the name"


def main():
    tree = Tree()
    pages = sorted((ROOT / "docs").glob("adding-*.md"))
    problems = [problem for page in pages for problem in problems_of(page, tree)]
    if not pages:
        problems.append("docs: there is no page adding-*.md; correct tools/check/check_guides.py")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
