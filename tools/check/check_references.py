"""No element of a list that a function returns by value is bound to a reference.

The compiler refuses such a reference for lists of the standard library; llvm::SmallVector's operators say nothing of
lifetimes.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("layout", "dialects", "passes", "compiler", "runtime", "tools", "test")
LIST = re.compile(r"\b(?:SmallVector|SmallString)<[^;=()]*> (\w+)\(")
ELEMENT = re.compile(r"(?:const )?(?:auto|[A-Z]\w+) &\w+ =[^;]*?\b(\w+)\((?:[^()]|\([^()]*\))*\)(?:\[|\.front\(|\.back\()[^;]*;")


def main():
    listing = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, text=True, capture_output=True, check=True)
    names = [line for line in listing.stdout.splitlines() if line.split("/")[0] in FOLDERS and (ROOT / line).exists()]
    texts = {name: (ROOT / name).read_text() for name in names}
    lists = {found for name, text in texts.items() if name.endswith(".h") for found in LIST.findall(text)}
    problems = [f"{name}:{text.count(chr(10), 0, found.start()) + 1}: an element of the list that {found[1]}() returns is bound to a reference; copy it"
                for name, text in texts.items() for found in ELEMENT.finditer(text) if found[1] in lists]
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
