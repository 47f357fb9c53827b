"""No reference outlives its value: references that constructors keep are annotated, and no element of a returned list is bound.

A parameter of a constructor that has the type of one of the class's reference members is [[clang::lifetimebound]], so
that the compiler refuses a temporary in its place. llvm::SmallVector has no such annotation: an element of one that a
function returns by value is copied, not bound to a reference. check_references.py --write adds the annotations.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOUND = "[[clang::lifetimebound]]"
FOLDERS = ("base", "layout", "dialects", "passes", "compiler", "runtime", "data", "training", "tools", "test")
MEMBER = re.compile(r"^\s+((?:const )?[A-Za-z_][\w:]*(?:<[^;()]*>)?) &\w+;", re.M)
CLASS = re.compile(r"^[ \t]*(?:class|struct) (\w+)[^;{()]*\{", re.M)
LIST = re.compile(r"\b(?:SmallVector|SmallString)<[^;=()]*> (\w+)\(")
ELEMENT = re.compile(r"(?:const )?(?:auto|[A-Z]\w+) &\w+ =[^;]*?\b(\w+)\((?:[^()]|\([^()]*\))*\)(?:\[|\.front\(|\.back\()[^;]*;")


def sources():
    listing = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [ROOT / line for line in listing.stdout.splitlines() if line.split("/")[0] in FOLDERS and (ROOT / line).exists()]


def closing(text, start, pair="{}"):
    """The position after the bracket that closes the one before start."""
    depth = 1
    while depth and start < len(text):
        depth += (text[start] == pair[0]) - (text[start] == pair[1])
        start += 1
    return start


def outer(text, begin, end):
    """The text between two positions, with spaces in place of all text in inner braces."""
    out, depth = [], 0
    for c in text[begin:end]:
        depth -= c == "}"
        out.append(c if depth == 0 or c == "\n" else " ")
        depth += c == "{"
    return "".join(out)


def without_const(kind):
    return kind.removeprefix("const ").split("::")[-1]


def kept(text):
    """Yields (start, end) of each parameter that is kept and not annotated."""
    for found in CLASS.finditer(text):
        begin = found.end()
        body = outer(text, begin, closing(text, begin))
        kinds = {without_const(kind) for kind in MEMBER.findall(body)}
        for constructor in re.finditer(rf"(?<![\w~.:>]){found[1]}\(", body) if kinds else ():
            if re.search(r"(return|new|=|,)\s*$", body[:constructor.start()]):
                continue
            end = closing(body, constructor.end(), "()") - 1
            for parameter in re.finditer(r"((?:const )?[A-Za-z_][\w:]*(?:<[^;()]*?>)?)\s*&\s*(\w+)(?=\s*[,)=])", body[constructor.end():end + 1]):
                if without_const(parameter[1]) in kinds and without_const(parameter[1]) != found[1]:
                    yield begin + constructor.end() + parameter.start(), begin + constructor.end() + parameter.end()


def annotate(path, text):
    for _, end in reversed(list(kept(text))):
        text = f"{text[:end]} {BOUND}{text[end:]}"
    path.write_text(text)


def problems_of(path, text, lists):
    name = path.relative_to(ROOT)
    for start, end in kept(text):
        line = text.count("\n", 0, start) + 1
        yield f'{name}:{line}: "{" ".join(text[start:end].split())}" is kept by its constructor; add {BOUND} (--write does)'
    for found in ELEMENT.finditer(text):
        if found[1] in lists:
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: an element of the list that {found[1]}() returns is bound to a reference; copy it"


def main():
    texts = {path: path.read_text() for path in sources()}
    lists = {name for path, text in texts.items() if path.suffix == ".h" for name in LIST.findall(text)}
    if "--write" in sys.argv[1:]:
        for path, text in texts.items():
            if any(kept(text)):
                annotate(path, text)
        return 0
    problems = [problem for path, text in texts.items() for problem in problems_of(path, text, lists)]
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
