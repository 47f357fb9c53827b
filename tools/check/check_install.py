"""Installs build/ into an empty prefix and embeds Weft from there.

check_install.py [build folder]: builds copies of examples/embedding, and the program
that docs/embedding.md shows, against the installed package alone, runs them, and runs
the installed tools and the Python package. Neither the source tree nor the build may be
used: where this user may mount (root), an empty folder lies over both meanwhile, and
the files that the outside builds read and their programs load are checked in any case.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import check_runpaths

ROOT = pathlib.Path(__file__).resolve().parents[2]


def hiding(folders, python):
    """Returns a command to put before others, which hides these folders; if `python` lies in one of them, it stays.
    Empty where this user may not mount."""
    mounts = f"mount --bind '{VENV}' '{python}' && " if VENV.exists() else ""
    mounts += "".join(f"mount -t tmpfs none '{folder}' && " for folder in folders)
    command = ["unshare", "--mount", "sh", "-c", mounts + 'exec "$@"', "sh"]
    if os.geteuid() == 0 and shutil.which("unshare") and not subprocess.run([*command, "true"], capture_output=True).returncode:
        return command
    return []


VENV = ROOT / ".venv"  # made by tools/setup-jax
HIDDEN = []


def run(*command, env=None):
    """Returns the output of a command; stops the check with it when the command fails."""
    result = subprocess.run([*HIDDEN, *(str(c) for c in command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            cwd="/", env=env)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))} exited with {result.returncode}:\n{result.stdout}")
    return result.stdout


def expect(text, words, source):
    if words not in text:
        sys.exit(f"{source} printed no '{words}' but:\n{text}")


def write_page(folder):
    """Writes the files that docs/embedding.md shows."""
    page = (ROOT / "docs" / "embedding.md").read_text()
    folder.mkdir()
    for kind, name in (("cmake", "CMakeLists.txt"), ("cpp", "shard_mine.cpp")):
        text = re.search(rf"^```{kind}\n(.*?)^```", page, re.M | re.S).group(1)
        if text.count("\n") >= 90:
            sys.exit(f"docs/embedding.md: {name} has 90 lines or more; shorten it")
        (folder / name).write_text(text)


def build_runtime_alone(folder, prefix):
    """Builds a C project that runs and serves programs, without a search for MLIR or a C++ compiler."""
    source = folder / "runtime"
    source.mkdir()
    (source / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(runtime_alone LANGUAGES C)
find_package(Weft 0.1 REQUIRED COMPONENTS runtime)
add_executable(alone alone.c)
target_link_libraries(alone PRIVATE weft::WeftServing weft::WeftRuntime)
""")
    (source / "alone.c").write_text("""#include "weft/runtime/abi/serving.h"
#include "weft/runtime/abi/version.h"
#include <stdio.h>
int main(void) {
  weft_model *model = NULL;
  weft_error *error = weft_model_open("none.weft", NULL, NULL, &model);
  printf("%s: %s\\n", weft_version(), weft_error_message(error));
  return 0;
}
""")
    run("cmake", "-G", "Ninja", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
    run("cmake", "--build", source / "build")
    expect(run(source / "build" / "alone"), "0.1.0: none.weft: ", "the program of the component runtime")


def check_alone(folder, binaries, hidden):
    """Checks that the compiler of an outside project has read no file in a hidden folder, and its programs load none.
    """
    read = run("ninja", "-C", folder, "-t", "deps") + "".join(run("ldd", folder / binary) for binary in binaries)
    for place in hidden:
        if f"{place}/" in read:
            sys.exit(f"{folder.name}: uses {re.search(rf'{place}/[^ ]*', read).group(0)}; install it")


def check_python(prefix, example, folder):
    """Runs scale.py, which loads the plug-in, with the package on the installed libraries."""
    python = (folder / "venv" if HIDDEN else VENV) / "bin/python"
    if not VENV.exists():
        print("no .venv with NumPy (tools/setup-jax): the example of the Python package is left out")
        return
    said = run(python, folder / "sources/scale.py", example / "scale_plugin.so",
               env=os.environ | {"WEFT_PREFIX": str(prefix), "PYTHONPATH": str(folder / "python")})
    expect(said, "4 devices ran mine.scale for NumPy", "scale.py")


def install(build, prefix):
    run("cmake", "--install", build, "--prefix", prefix)
    for path in ("bin/weft", "bin/weft-opt", "bin/weft-lsp-server", "lib/weft-plugin.so", "lib/libWeftRuntime.so",
                 "lib/libWeftC.so", "lib/libWeftCommands.so", "lib/libWeftServing.so", "lib/libWeftPjrt.so",
                 "include/weft/compiler/Register.h", "include/weft/compiler/capi/compiler.h", "lib/cmake/Weft/WeftConfig.cmake"):
        if not (prefix / path).exists():
            sys.exit(f"{path} is not installed: name it in cmake/WeftInstall.cmake")
    wrong, count = check_runpaths.complaints([prefix])
    if wrong or not count:
        sys.exit("\n".join(wrong) or f"{prefix}: no binary is installed")
    for targets in (prefix / "lib/cmake/Weft").glob("*.cmake"):
        if str(ROOT) in targets.read_text():
            sys.exit(f"{targets.name} names the source tree {ROOT}: an installed package may be alone")


def check(build, folder):
    prefix, example, page = folder / "prefix", folder / "example", folder / "page"
    install(build, prefix)
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M).group(1)
    shutil.copytree(ROOT / "examples" / "embedding", folder / "sources")
    shutil.copytree(ROOT / "tools/pjrt/python/weft", folder / "python/weft")
    write_page(page)
    (folder / "venv").mkdir()
    hidden = [ROOT] if build.is_relative_to(ROOT) else [ROOT, build]
    HIDDEN[:] = hiding(hidden, folder / "venv")
    build_runtime_alone(folder, prefix)
    for source, into in ((folder / "sources", example), (page, page / "build")):
        run("cmake", "-G", "Ninja", "-S", source, "-B", into,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", into)
    check_alone(example, ("dense", "embedding", "own_op", "scale_plugin.so"), hidden)
    check_alone(page / "build", ("shard_mine",), hidden)
    check_programs(prefix, example, page, folder)


def check_programs(prefix, example, page, folder):
    said = run(page / "build" / "shard_mine")
    expect(said, "coll.all_reduce", "the program of docs/embedding.md")
    expect(said, "4 devices agree with the global program", "the program of docs/embedding.md")
    expect(run(example / "dense"), "4 devices agree with two loops", "the example in C")
    expect(run(example / "embedding"), "-> tensor<8x2xf32>", "the example")
    expect(run(example / "embedding", "plan"), "plan.program", "the example at stage plan")
    expect(run(example / "own_op", folder), "4 devices ran mine.scale as machine code", "the example of an own op")
    check_python(prefix, example, folder)
    expect(run(prefix / "bin/weft-opt", "--help"), "weft-pipeline", "the installed weft-opt")
    expect(run(prefix / "bin/weft-lsp-server", "--help"), "LSP", "the installed weft-lsp-server")
    run(prefix / "bin/weft", "--help")
    expect(run(prefix / "bin/weft", "devices"), "Can be used", "the installed weft")


def main():
    build = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build"
    with tempfile.TemporaryDirectory() as folder:
        check(build, pathlib.Path(folder))
    print("the installed package embeds" + ("" if HIDDEN else "; the source tree was there, as this user may not hide it"))


if __name__ == "__main__":
    main()
