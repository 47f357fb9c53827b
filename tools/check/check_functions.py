"""No function is longer than 60 lines, in C++ (read by universal-ctags) or Python."""

import ast
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 60


def tracked(*suffixes):
    """The repository's files with one of these suffixes."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [n for n in listing.stdout.split("\n") if n.endswith(suffixes) and (ROOT / n).exists()]


def cpp_functions(names):
    """Yields (file, line, function, length) as ctags sees them."""
    command = ["ctags", "--fields=+ne", "--kinds-C++=f", "--kinds-C=f", "--map-C++=+.h",
               "--output-format=json", "-f", "-", "-L", "-"]
    listing = subprocess.run(command, cwd=ROOT, text=True, input="\n".join(names), capture_output=True, check=True)
    for text in listing.stdout.splitlines():
        tag = json.loads(text)
        # A name all in capitals is a macro call that ctags takes for a function.
        if "end" in tag and not tag["name"].isupper():
            yield tag["path"], tag["line"], tag["name"], tag["end"] - tag["line"] + 1


def python_functions(names):
    """Yields (file, line, function, length) as Python's own parser sees them."""
    for name in names:
        for node in ast.walk(ast.parse((ROOT / name).read_text(), name)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield name, node.lineno, node.name, node.end_lineno - node.lineno + 1


def main():
    if not shutil.which("ctags"):
        print("tools/check/check_functions.py: ctags not found; install universal-ctags")
        return 1
    functions = [*cpp_functions(tracked(".cpp", ".c", ".h")), *python_functions(tracked(".py"))]
    if not functions:
        print("tools/check/check_functions.py: no function found; is this ctags the universal one?")
        return 1
    long = [f for f in functions if f[3] > LIMIT]
    for name, line, function, length in long:
        print(f"{name}:{line}: {function} has {length} lines > {LIMIT}; give a part of it a name of its own")
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
