"""weft/abi.py has the declarations of weft.h and serving.h, compiler_abi.py those of compiler.h; names of roles and element types are
the runtime's.

    abi.py SOURCE_TREE
"""

import ctypes
import pathlib
import re
import sys

from weft import abi, arrays, compiler_abi, serving

root = pathlib.Path(sys.argv[1])
header = (root / "runtime/abi/weft.h").read_text()
serving_header = (root / "runtime/abi/serving.h").read_text()
compiler_header = (root / "compiler/capi/compiler.h").read_text()


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def fields(name, header=header):
    """Names of a struct's fields, in their order."""
    body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", without_comments(header), re.S).group(1)
    return [field.strip(" *\n") for line in body.split(";") for field in re.split(r",", re.sub(r"^.*?(?=\*?\w+\s*(,|$))", "", " ".join(line.split())))
            if field.strip()]


assert fields("weft_port") == [name for name, _ in abi.Port._fields_], fields("weft_port")
assert fields("weft_program_info") == [name for name, _ in abi.ProgramInfo._fields_], fields("weft_program_info")
for name, struct in (("weft_text", compiler_abi.Text), ("weft_source", compiler_abi.Source), ("weft_value", compiler_abi.Value),
                     ("weft_compile_options", compiler_abi.Options), ("weft_diagnostic", compiler_abi.Diagnostic)):
    assert fields(name, compiler_header) == [field for field, _ in struct._fields_], fields(name, compiler_header)
assert f"#define WEFT_ABI_VERSION {abi.VERSION}\n" in header

library = abi.runtime()
roles = re.findall(r"^WEFT_ROLE\(\w+, (\w+),", (root / "base/PortRoles.def").read_text(), re.M)
assert len(roles) == 10
assert [library.weft_role_name(number).decode() for number in range(len(roles))] == roles
assert library.weft_role_name(len(roles)) is None
table = re.findall(r'^WEFT_(?:ELEMENT|SMALL_FLOAT)\(\w+, (\w+), .*?"(\w+)"', (root / "base/ElementTypes.def").read_text(), re.M)
assert len(table) == 28
for number, (name, numpy_name) in enumerate(table):
    assert library.weft_dtype_name(number).decode() == name
    assert library.weft_dtype_numpy_name(number).decode() == numpy_name
    assert str(arrays.numpy_dtype(number)) == numpy_name
assert library.weft_dtype_name(len(table)) is None and library.weft_dtype_numpy_name(len(table)) is None

# Every function is declared in a header, with as many parameters.
compiler_abi.library()  # fails if a function is missing
for text, functions in ((header, abi._FUNCTIONS), (serving_header, serving._FUNCTIONS), (compiler_header, compiler_abi.FUNCTIONS)):
    code = " ".join(without_comments(text).split())
    for name, (_, parameters) in functions.items():
        if name == "weft_version":
            continue  # version.h declares it
        declared = re.search(rf"\b{name}\(([^)]*)\)", code).group(1)
        count = 0 if declared == "void" else len(declared.split(","))
        assert count == len(parameters), name
print("the declarations agree")
