"""Installs build/ into an empty prefix and embeds Weft from there.

check_install.py [build folder]: builds examples/embedding, and the program that
docs/embedding.md shows, against the installed package alone, runs them, and runs
the installed weft and weft-opt.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import check_runpaths

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    """The output of a command; stops the check with it when the command fails."""
    result = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))} exited with {result.returncode}:\n{result.stdout}")
    return result.stdout


def expect(text, words, source):
    if words not in text:
        sys.exit(f"{source} printed no '{words}' but:\n{text}")


def write_page(folder):
    """The files that docs/embedding.md shows, which is short enough to read."""
    page = (ROOT / "docs" / "embedding.md").read_text()
    if page.count("\n") >= 100:
        sys.exit("docs/embedding.md has 100 lines or more; shorten it")
    folder.mkdir()
    for kind, name in (("cmake", "CMakeLists.txt"), ("cpp", "shard_mine.cpp")):
        (folder / name).write_text(re.search(rf"^```{kind}\n(.*?)^```", page, re.M | re.S).group(1))


def build_runtime_alone(folder, prefix):
    """A C project that runs and serves programs: no MLIR is looked for, and no C++ compiler."""
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


def check(build, folder):
    prefix, example = folder / "prefix", folder / "example"
    run("cmake", "--install", build, "--prefix", prefix)
    for path in ("bin/weft", "bin/weft-opt", "lib/weft-plugin.so", "lib/libWeftRuntime.so", "lib/libWeftC.so",
                 "lib/libWeftCommands.so", "lib/libWeftServing.so", "lib/libWeftPjrt.so",
                 "include/weft/compiler/Register.h", "lib/cmake/Weft/WeftConfig.cmake"):
        if not (prefix / path).exists():
            sys.exit(f"{path} is not installed: name it in cmake/WeftInstall.cmake")
    wrong, count = check_runpaths.complaints([prefix])
    if wrong or not count:
        sys.exit("\n".join(wrong) or f"{prefix}: no binary is installed")
    for targets in (prefix / "lib/cmake/Weft").glob("*.cmake"):
        if str(ROOT) in targets.read_text():
            sys.exit(f"{targets.name} names the source tree {ROOT}: an installed package may be alone")
    build_runtime_alone(folder, prefix)
    cache = (build / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M).group(1)
    write_page(folder / "page")
    for source, into in ((ROOT / "examples" / "embedding", example), (folder / "page", folder / "page" / "build")):
        run("cmake", "-G", "Ninja", "-S", source, "-B", into,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", into)
    said = run(folder / "page" / "build" / "shard_mine")
    expect(said, "coll.all_reduce", "the program of docs/embedding.md")
    expect(said, "4 devices agree with the global program", "the program of docs/embedding.md")
    expect(run(example / "embedding"), "-> tensor<8x2xf32>", "the example")
    expect(run(example / "embedding", "plan"), "plan.program", "the example at stage plan")
    expect(run(example / "own_op", folder), "4 devices ran mine.scale as machine code", "the example of an own op")
    expect(run(prefix / "bin/weft-opt", "--help"), "weft-pipeline", "the installed weft-opt")
    run(prefix / "bin/weft", "--help")
    expect(run(prefix / "bin/weft", "devices"), "Can be used", "the installed weft")


def main():
    build = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build"
    with tempfile.TemporaryDirectory() as folder:
        check(build, pathlib.Path(folder))
    print("the installed package embeds")


if __name__ == "__main__":
    main()
