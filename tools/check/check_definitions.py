"""No class, struct or enum is defined twice under one name.

Two libraries with different classes of one qualified name break the one-definition rule once a program links both, and
no compiler says so. Names in unnamed namespaces, in functions and of templates' specializations are a file's own.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("base", "layout", "dialects", "passes", "compiler", "runtime", "data", "training", "tools")
# A comment, a text, a brace, or a head that opens a namespace or defines a type.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*"
    r"|R\"(?P<mark>\w*)\(.*?\)(?P=mark)\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'"
    r"|\bnamespace\b(?P<namespace>[\w:\s]*)\{"
    r"|\b(?P<kind>class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[[^\]]*\]\]\s*)*(?:\w+\(\"?\w*\"?\)\s*)?(?P<name>\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?\{"
    r"|[{}]", re.S | re.M)


def definitions(text):
    """Yields (qualified name, line) of types that are no file's own."""
    scopes = []  # names of open braces; None: nothing inside counts
    for found in TOKEN.finditer(text):
        token = found[0]
        if found["namespace"] is not None:
            scopes.append(found["namespace"].strip() or None)
        elif found["name"]:
            inside = None in scopes
            if not inside:
                yield "::".join([*scopes, found["name"]]), text.count("\n", 0, found.start()) + 1
            scopes.append(found["name"])
        elif token == "{":
            scopes.append(None)
        elif token == "}" and scopes:
            scopes.pop()


SAMPLE = """namespace weft::a { class B final : public C { enum class D { X }; void f() { struct Own {}; } };
namespace { struct Hidden {}; } class E; } // class F {"""


def main():
    assert [name for name, _ in definitions(SAMPLE)] == ["weft::a::B", "weft::a::B::D"], list(definitions(SAMPLE))
    listing = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, text=True, capture_output=True, check=True)
    places = collections.defaultdict(list)
    for name in listing.stdout.splitlines():
        if name.split("/")[0] in FOLDERS and (ROOT / name).exists():
            for type_name, line in definitions((ROOT / name).read_text()):
                places[type_name].append(f"{name}:{line}")
    problems = [f"{first}: {name} is also defined at {', '.join(others)}; give each its own name or namespace"
                for name, (first, *others) in sorted(places.items()) if others]
    if len(places) < 300:
        problems.append("tools/check/check_definitions.py: finds hardly any definition; fix its pattern")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
