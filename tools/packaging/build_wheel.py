"""Packs a build as a wheel for pip.

    python3 tools/packaging/build_wheel.py [--standalone] [BUILD [FOLDER]]      build/ and build/wheel/ without them

--standalone takes the binaries of the target WeftStandalone, which need glibc alone: that wheel is the one to hand out, and
`tools/wheel` makes it. Without the flag the wheel has the binaries of the build itself, which need this system's LLVM,
MLIR and HDF5; its version says so (0.1.0+shared).

The wheel holds the layout of a prefix in the package weft (bin/weft, lib/*), the Python package itself, JAX's plugin, and
the licence of everything that is linked in.
"""

import argparse
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "tools" / "pjrt" / "python"

# Paths of each binary in the package and in a build: as the build links it, and standalone.
BINARIES = {
    "bin/weft": ("bin/weft", "standalone/bin/weft-standalone"),
    "lib/libWeftRuntime.so.0": ("lib/libWeftRuntime.so.0", "lib/libWeftRuntime.so.0"),
    "lib/libWeftCommands.so": ("lib/libWeftCommands.so", "standalone/lib/libWeftCommands.so"),
    "lib/libWeftPjrt.so": ("lib/libWeftPjrt.so", None),  # standalone it is in libWeftCommands.so
    "lib/libWeftStepCommands.so": ("lib/libWeftStepCommands.so", "standalone/lib/libWeftStepCommands.so"),
    "lib/libWeftServing.so.0": ("lib/libWeftServing.so.0", "standalone/lib/libWeftServing.so"),
    "lib/libWeftCuda.so": ("lib/libWeftCuda.so", "lib/libWeftCuda.so"),
}

# Debian packages whose code is in standalone binaries, and the licence of that code.
LICENSES = {
    "libmlir-22-dev": "Apache-2.0 WITH LLVM-exception",
    "liblld-22-dev": "Apache-2.0 WITH LLVM-exception",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "zlib1g-dev": "Zlib",
    "libzstd-dev": "BSD-3-Clause",
    "libpcre2-dev": "BSD-3-Clause",
    "nlohmann-json3-dev": "MIT",
    "libcli11-dev": "BSD-3-Clause",
    "libflatbuffers-dev": "Apache-2.0",
    "libzip-dev": "BSD-3-Clause",
    "libhdf5-dev": "BSD-3-Clause",
    "libpng-dev": "libpng-2.0",
    "libjpeg62-turbo-dev": "IJG AND BSD-3-Clause",
    "libgif-dev": "MIT",
}

# JAX's versions are those of jax_plugins/weft/versions.py.
METADATA = """Metadata-Version: 2.4
Name: weft
Version: {version}
Summary: SPMD compiler and runtime: one model, a mesh of devices, explicit communication
License-Expression: {expression}
{files}Requires-Python: >=3.10
Requires-Dist: numpy>=1.22
Provides-Extra: jax
Requires-Dist: jax<0.12,>=0.10; extra == "jax"
Provides-Extra: keras
Requires-Dist: jax<0.12,>=0.10; extra == "keras"
Requires-Dist: keras<4,>=3; extra == "keras"
Description-Content-Type: text/markdown

{description}"""
ENTRY_POINTS = "[console_scripts]\nweft = weft.command:main\n\n[jax_plugins]\nweft = jax_plugins.weft\n"


def record(name, data):
    """A line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def version_of(build):
    """The project's version, from CMakeCache.txt of the build."""
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", (build / "CMakeCache.txt").read_text(), re.M).group(1)


def stripped(path):
    """The bytes of a binary without symbols and debug information."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / path.name
        shutil.copy(path, copy)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        return copy.read_bytes()


def package_files(build, standalone):
    """The bytes of files by their path in the wheel."""
    files = {}
    for package in ("weft", "jax_plugins"):
        for path in sorted((PYTHON / package).rglob("*")):
            if path.suffix == ".py" or path.name == "py.typed":
                files[str(path.relative_to(PYTHON))] = path.read_bytes()
    for place, sources in BINARIES.items():
        source = sources[standalone]
        if source and (build / source).exists():
            files[f"weft/{place}"] = stripped(build / source)
        elif source and place != "lib/libWeftCuda.so":  # WEFT_CUDA=OFF builds none
            raise SystemExit(f"{build / source} is not there; build it first" + (", with tools/wheel" if standalone else ""))
    return files


def license_files(standalone):
    """Weft's licence and those of linked libraries."""
    files = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for package in LICENSES if standalone else ():
        files[f"{package}.txt"] = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()
    return files


def metadata(version, licenses, standalone):
    own = "Apache-2.0 WITH LLVM-exception"
    expression = " AND ".join(sorted({own, *(LICENSES.values() if standalone else ())}))
    listed = "".join(f"License-File: {name}\n" for name in licenses)
    return METADATA.format(version=version, expression=expression, files=listed,
                           description=(ROOT / "docs" / "python.md").read_text()).encode()


def tag(standalone):
    """The wheel's tag: any CPython, as there is no extension module, and the glibc of the build's system, Debian 12."""
    system = "manylinux_" + platform.libc_ver()[1].replace(".", "_") if standalone else "linux"
    return f"py3-none-{system}_{platform.machine()}"


def write(wheel, files):
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))  # a fixed date, so that equal files give equal wheels
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name == "weft/bin/weft" else 0o100644) << 16
            archive.writestr(entry, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--standalone", action="store_true", help="the binaries of the target WeftStandalone")
    options = parser.parse_args()
    folder = options.folder or options.build / "wheel"
    version = version_of(options.build) + ("" if options.standalone else "+shared")
    info = f"weft-{version}.dist-info"
    files = package_files(options.build, options.standalone)
    licenses = license_files(options.standalone)
    files |= {f"{info}/licenses/{name}": data for name, data in licenses.items()}
    files[f"{info}/METADATA"] = metadata(version, licenses, options.standalone)
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: {tag(options.standalone)}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/RECORD"] = ("".join(record(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"weft-{version}-{tag(options.standalone)}.whl"
    write(wheel, files)
    print(wheel)


if __name__ == "__main__":
    main()
