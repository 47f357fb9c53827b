#!/usr/bin/env python3
"""Fills one folder with all files that a machine with a GPU needs: it has a driver and Python, but no LLVM and no network.

    python3 bench/gpu/pack.py [BUILD_FOLDER] [OUT_FOLDER] [--sizes tiny]        (build, build/gpu-bench, full)

Programs are compiled here, for GPUs and for the CPU: OUT_FOLDER/run.py runs both and compares. See docs/gpu.md.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "exec"))
sys.path.insert(0, str(ROOT / "test" / "cuda"))

import figures  # noqa: E402
import npz_values  # noqa: E402
import gpu_programs  # noqa: E402

BINARIES = ["weft", "cuda-driver-test", "gpu-collectives-test"]
LIBRARIES = ["libWeftRuntime.so.0", "libWeftCuda.so", "libweft_test_kernels.so"]
OF_MACHINE = ("libcuda.so", "libcublasLt.so")  # libraries of the GPU's machine; on this one they are fakes
OF_GLIBC = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "ld-linux", "linux-vdso")
TARGETS = ["cpu:avx2", "cuda:sm_80", "cuda:sm_90a"]
FASTEST = "cuda:sm_80"  # code for every GPU since sm_80; the compiler emits no instructions of newer ones yet
MODEL = ROOT / "test" / "fixtures" / "seed-functional-mlp" / "model.json"


def needed(binary):
    """The shared libraries of a program, except those of glibc, Weft and the GPU's machine."""
    for line in subprocess.run(["ldd", binary], check=True, text=True, capture_output=True).stdout.splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow and not name.startswith((*OF_GLIBC, *OF_MACHINE, "libWeft")):
            yield name, path.split()[0]


def copy_binaries(build, out):
    (out / "bin").mkdir(parents=True)
    (out / "lib").mkdir()
    for name in BINARIES:
        shutil.copy(build / "bin" / name, out / "bin" / name)
        for library, path in needed(build / "bin" / name):
            shutil.copy(path, out / "lib" / library)
    for name in LIBRARIES:
        shutil.copy(build / "lib" / name, out / "lib" / name)
    if strip := shutil.which("strip"):
        subprocess.run([strip, "--strip-unneeded", *(out / "bin").iterdir(), *(out / "lib").iterdir()], check=True)


def compile_programs(build, out):
    """Compiles each program for every target, and writes its inputs, and its expected results where they are known."""
    (out / "programs").mkdir()
    for name, source in gpu_programs.programs().items():
        for target in TARGETS:
            program = out / "programs" / f"{name}.{target.replace(':', '-')}.weft"
            devices = target.partition(":")[0] + ":1"
            subprocess.run([build / "bin" / "weft", "compile", source, "--devices", devices, "--target", target, "-o", program],
                           check=True)
        listing = gpu_programs.listing(build / "bin" / "weft", program)
        npz_values.write(out / "programs" / f"{name}.npz", gpu_programs.inputs(source, listing))


def compile_figures(build, out, size):
    """Compiles the programs that are timed: {name: facts for run.py}."""
    listed = {}
    for number, figure in enumerate(figures.FIGURES):
        source = out / "programs" / "figure.mlir"
        source.write_text(figure.source(size))
        file = f"figure-{number}.weft"
        subprocess.run([build / "bin" / "weft", "compile", source, "--devices", f"cuda:{figure.devices}", "--target", FASTEST,
                        "-o", out / "programs" / file], check=True)
        source.unlink()
        listed[figure.name] = {"row": figure.row, "file": file, "devices": figure.devices, "library": figure.library,
                               "anchor": figure.anchor, "bytes": figure.bytes(size), "operations": figure.operations(size)}
    file = "figure-mlp.weft"
    subprocess.run([build / "bin" / "weft", "compile", MODEL, "--step", "train", "--batch-size", "128" if size == "full" else "16",
                    "--devices", "cuda:1", "--target", FASTEST, "-o", out / "programs" / file], check=True)
    listed[figures.MLP] = {"row": 9, "file": file, "devices": 1, "library": True, "anchor": "jax", "bytes": 0, "operations": 0}
    return listed


def zip_programs(out):
    shutil.make_archive(out / "programs", "zip", out / "programs")
    shutil.rmtree(out / "programs")


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], text=True, capture_output=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--sizes", choices=["full", "tiny"], default="full", help="of the figures; tiny for a test")
    options = parser.parse_args()
    build = options.build.resolve()
    out = (options.out or build / "gpu-bench").resolve()
    shutil.rmtree(out, ignore_errors=True)
    copy_binaries(build, out)
    compile_programs(build, out)
    timed = compile_figures(build, out, options.sizes)
    zip_programs(out)
    for name in ("run.py", "figures.py", "peers.py"):
        shutil.copy(pathlib.Path(__file__).with_name(name), out)
    shutil.copy(ROOT / "test" / "exec" / "npz_values.py", out)
    manifest = {"commit": git("rev-parse", "HEAD"), "altered": bool(git("status", "--porcelain", "--untracked-files=no")),
                "targets": TARGETS, "programs": sorted(gpu_programs.programs()), "sizes": options.sizes, "figures": timed}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1))
    size = sum(os.path.getsize(file) for file in out.rglob("*") if file.is_file())
    print(f"{out}: {len(manifest['programs'])} programs, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
