"""Constraint labels are the same in a dialect's .td, its verifiers and its invalid*.mlir.

`(C2)` in the definition of op `slice` wants a `// (C2)` in the dialect's .cpp files
and a function @slice_c2 (or @slice_c2_something) in test/dialects/NAME/invalid.mlir
or, of a family of ops, invalid-FAMILY.mlir;
and a function there wants its label in the .td.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# `def Weft_SliceOp : Weft_Op<"slice"`; the mnemonic of an attribute is its second argument.
DEFINITION = re.compile(r"^(def|class) (\w+)(.*?)(?=^def |^class |\Z)", re.M | re.S)
LABEL = re.compile(r"\(C(\d+)\)")


def defined(tables):
    """{mnemonic: (table, labels)} of the tables' definitions, labels inherited from classes included."""
    found, classes = {}, {}
    for table in tables:
        for keyword, name, body in DEFINITION.findall(table.read_text()):
            base = re.search(r":\s*(\w+)<", body)
            labels = set(LABEL.findall(body)) | (classes.get(base.group(1), set()) if base else set())
            names = re.findall(r'"(\w+)"', body.split("{", 1)[0])
            if keyword == "class":
                classes[name] = labels
            elif labels and names:
                found[names[-1] if name.endswith("Attr") else names[0]] = (table, labels)
    return found


def tested(text, known):
    """{mnemonic: {labels}} from the test's function names, and the function names whose mnemonic is not in `known`."""
    found, unknown = {}, []
    for function, name, label in re.findall(r"^\s*(?:func\.func (?:private )?|plan\.program |plan\.routine )@((\w+?)_c(\d+)\w*)\b", text, re.M):
        if name in known:
            found.setdefault(name, set()).add(label)
        else:
            unknown.append(function)
    return found, unknown


def problems_of(folder):
    """Yields a message for each label that differs in one dialect."""
    definitions = defined(sorted(folder.rglob("*.td")))
    if not definitions:
        return
    source = "\n".join(p.read_text() for p in folder.rglob("*.cpp"))
    comments = set(LABEL.findall("\n".join(re.findall(r"//.*", source))))
    files = sorted((ROOT / "test" / "dialects" / folder.name).glob("invalid*.mlir"))
    where = f"test/dialects/{folder.name}/invalid*.mlir"
    tests, unknown = tested("\n".join(p.read_text() for p in files), definitions)
    for function in unknown:
        yield f"{where}: @{function} names no op or attribute with labels; name it as in the .td"
    for name, (table, labels) in sorted(definitions.items()):
        for label in sorted(labels - comments):
            yield f"{folder.relative_to(ROOT)}: no verifier has the comment // (C{label}) of {name}; write it there"
        for label in sorted(labels - tests.get(name, set())):
            yield f"{where}: (C{label}) of {name} has no function @{name}_c{label}; write one that breaks it"
        for label in sorted(tests.get(name, set()) - labels):
            yield f"{table.relative_to(ROOT)}: {name} has no (C{label}), but {where} has @{name}_c{label}; write it"


def main():
    problems = [p for d in sorted((ROOT / "dialects").iterdir()) if d.is_dir() for p in problems_of(d)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
