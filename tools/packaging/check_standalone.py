"""Binaries of the wheel need glibc alone, of the version that the wheel's name promises, and export nothing but their C functions.

    python3 tools/packaging/check_standalone.py [BUILD]
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libdl.so.2", "libpthread.so.0"}
OWN = {"libWeftRuntime.so.0"}
NEWEST = (2, 36)  # Debian 12


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, text=True, capture_output=True).stdout


def exported_names():
    """The patterns of cmake/weft-standalone.map."""
    return re.findall(r"^\s+(\w+\*?);", (ROOT / "cmake" / "weft-standalone.map").read_text().split("local")[0], re.M)


def complaints(path):
    """Yields everything that prevents a binary from running on its own."""
    dynamic = output("readelf", "-dW", path)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in GLIBC | OWN:
            yield f"{path}: needs {name}; link it from an archive (weft_linked in its CMakeLists.txt)"
    for runpath in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        if any(not part.startswith("$ORIGIN") for part in runpath.split(":")):
            yield f"{path}: looks for libraries in {runpath}; leave $ORIGIN alone"
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d+\.\d+)", output("readelf", "-VW", path))}
    if versions and max(versions) > NEWEST:
        yield f"{path}: needs glibc {max(versions)}, the wheel promises {NEWEST}; build it on Debian 12"
    if ".so" in path.name:
        patterns = [re.compile(name.replace("*", ".*")) for name in exported_names()]
        for line in output("nm", "-D", "--defined-only", path).splitlines():
            name = line.split()[-1].split("@")[0]
            if not any(pattern.fullmatch(name) for pattern in patterns):
                yield f"{path}: exports {name}; cmake/weft-standalone.map has the names that it may"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    binaries = [path for path in sorted((build / "standalone").glob("*/*")) if path.is_file()]
    if not binaries:
        sys.exit(f"{build}/standalone has no binaries; build the target WeftStandalone")
    problems = [problem for path in binaries for problem in complaints(path)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
