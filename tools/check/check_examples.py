"""The examples of public headers are compiled as they stand.

A public header is one that an embedder includes; its example is the code in its first
comment, indented by three blanks. C, which begins with an #include, is listed in
test/capi/CMakeLists.txt, C++ in test/unit/header-examples.cmake.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLIC = ("base/*.h", "runtime/abi/*.h", "compiler/*.h", "compiler/capi/*.h", "compiler/stages/*.h", "compiler/driver/*.h",
          "compiler/program/*.h", "compiler/explain/*.h", "compiler/codegen/*.h", "compiler/codegen/elements/ElementCode.h",
          "compiler/frontends/stablehlo/Import.h", "passes/upstream/*.h", "passes/interpret/*.h", "dialects/nest/*.h",
          "dialects/plan/*.h", "passes/*/*.h")
# Matches a line of code that ends a statement; lines with % are IR.
STATEMENT = re.compile(r"^   [^%]*;\s*(//.*|/\*.*)?$")
INTERNAL = {name: "of the passes alone" for name in ("passes/sharding/LocalMessages.h", "passes/sharding/RegionPlans.h")}


def has_code(text):
    comment = re.match(r"(?://[^\n]*\n)+", text)
    return any(STATEMENT.match(line[2:]) for line in (comment.group(0).splitlines() if comment else ()))


def main():
    listed = (ROOT / "test/capi/CMakeLists.txt").read_text().split("foreach(header", 1)[1].split(")", 1)[0].split()
    compiled = {f"{name}.h" for name in listed}
    compiled |= set(re.findall(r"^weft_header_example\((\S+)", (ROOT / "test/unit/header-examples.cmake").read_text(), re.M))
    headers = {path.relative_to(ROOT).as_posix(): path for pattern in PUBLIC for path in sorted(ROOT.glob(pattern))}
    examples = {name for name, path in headers.items() if has_code(path.read_text())}
    problems = [f"{name}: nothing compiles its example; add it to test/unit/header-examples.cmake, or as C to test/capi/CMakeLists.txt"
                for name in sorted(examples - compiled - INTERNAL.keys())]
    problems += [f"{name}: is listed as an example and has none; take it off the list" for name in sorted(compiled - examples)]
    if len(examples) < 10:
        problems.append("tools/check/check_examples.py: finds hardly any example; fix its pattern")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
