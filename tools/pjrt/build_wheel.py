"""Packs the PJRT plugin of a build as a wheel for pip.

    python3 tools/pjrt/build_wheel.py [BUILD [FOLDER]]      build/ and build/wheel/ without them

The wheel holds libWeftPjrt.so, the runtime, jax_plugins/weft and the package weft (python -m weft.trace); LLVM's and MLIR's shared
libraries are those of the system.
"""

import base64
import hashlib
import pathlib
import platform
import subprocess
import sys
import tempfile
import zipfile

NAME, VERSION = "weft_jax", "0.1.0"
METADATA = f"""Metadata-Version: 2.1
Name: weft-jax
Version: {VERSION}
Summary: Weft as a platform of JAX: JAX_PLATFORMS=weft
Requires-Dist: jax>=0.10,<0.11
"""
ENTRY_POINTS = "[jax_plugins]\nweft = jax_plugins.weft\n"


def record(name, data):
    """A line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else build / "wheel"
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"{NAME}-{VERSION}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["cmake", "--install", build, "--component", "pjrt", "--prefix", scratch, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        root = pathlib.Path(scratch)
        files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    listing = "".join(record(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [*files.items(), (f"{info}/RECORD", listing.encode())]:
            archive.writestr(name, data)
    print(wheel)


if __name__ == "__main__":
    main()
