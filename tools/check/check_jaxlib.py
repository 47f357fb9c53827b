"""The plugin's Python calls nothing in jaxlib that may end the process.

jaxlib is C++ whose checks abort: their conditions have to hold before. Each name that the Python of tools/pjrt takes
from jaxlib, and each method of a jaxlib class that it calls, stands below with the reason why it cannot.
"""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "tools" / "pjrt" / "python"

# All attributes of executables, clients, devices, options and shardings of jaxlib 0.10, except names that classes of
# JAX have, too.
METHODS = set("""
argument_layouts compile compile_and_load compile_and_load_ifrt_program compile_ifrt_program compile_portable_executable
cost_analysis defragment deserialize_executable device_from_local_hardware_id dma_map dma_unmap
executable_build_options execute execute_sharded execute_with_token fingerprint from_proto from_string get_axis_sizes
get_compiled_memory_stats get_default_layout get_hlo_text get_output_layouts get_output_memory_kinds get_output_shardings
get_parameter_layouts get_parameter_shardings heap_profile hlo_modules iota_tile keep_alive live_arrays live_buffers
live_executables make_python_callback_from_host_send_and_recv memory_stats ParseFromString platform
platform_version runtime_type serialize serialize_executable SerializeAsString size_of_generated_code_in_bytes
subgroup_with_device_ordering to_proto tuple_sharding unsafe_buffer_pointer unsafe_client_pointer unsafe_executable_pointer
v3_to_v2_sharding
""".split())

MAY = {
    "_profiler": "a module; its names in use stand here",
    "ArrayAttr": "MLIR's bindings: of attributes that were made before",
    "Attribute": "MLIR's bindings: parses a text, which is an exception where it is wrong",
    "DictAttr": "see ArrayAttr",
    "InsertionPoint": "MLIR's bindings: a block's begin or end",
    "IntegerAttr": "MLIR's bindings: of a type of integers",
    "IntegerType": "MLIR's bindings: of 32 or 64 bits",
    "Location": "MLIR's bindings: unknown",
    "Module": "see Attribute",
    "StringAttr": "MLIR's bindings: of any text; of a function's name, which is one",
    "SymbolTable": "MLIR's bindings: renames functions that are there",
    "ir": "MLIR's bindings; their names in use stand here",
    "deserialize_executable": "reads the bytes that serialize wrote, whose hash has been compared; other bytes are an exception",
    "fingerprint": "asks the plugin, which answers with text that it holds",
    "from_proto": "of a sharding that LoadProgram.cpp makes: as many devices as tiles, each device once; other messages are an exception",
    "HloSharding": "see from_proto",
    "LoadedExecutable": "a class, for isinstance",
    "Client": "a class, for type()",
    "OpSharding": "a message; its fields are lists of numbers",
    "load_pjrt_plugin_dynamically": "called by JAX for each plugin; a library that has no table is an exception",
    "make_c_api_device_topology": "called by JAX for each plugin; the plugin's errors are exceptions",
    "passmanager": "MLIR's bindings: a refusal is an exception",
    "platform": "a field",
    "platform_version": "a field",
    "register_plugin_profiler": "called by JAX for each plugin; does nothing where the table has no profiler",
    "serialize": "computes blocks of all arguments and results, and aborts where a sharding does not divide a shape: LoadProgram.cpp "
                 "refuses programs with such ports, and test/jax/uneven.py serializes many",
    "SerializeAsString": "of a message",
    "version_str": "a text",
    "xla_client": "a module; its names in use stand here",
}


def imported(tree):
    """Returns the names that are imported from jaxlib, and attributes of these."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("jax._src.lib", "jaxlib")):
            for alias in node.names:
                modules.add(alias.asname or alias.name)
                yield node, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("jaxlib"):
                    yield node, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules - {"passmanager"}:
            yield node, node.attr


def called(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            yield node, node.attr


def main():
    used, problems = set(), []
    for path in sorted(PYTHON.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node, name in [*imported(tree), *called(tree)]:
            used.add(name)
            if name not in MAY:
                problems.append(f"{path.relative_to(ROOT)}:{node.lineno}: uses jaxlib's {name}; say in "
                                "tools/check/check_jaxlib.py why it cannot end the process, or do without it")
    problems += [f"tools/check/check_jaxlib.py: {name} is used nowhere; remove it" for name in sorted(MAY.keys() - used)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
