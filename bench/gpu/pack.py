#!/usr/bin/env python3
"""Makes the archive of a check on a GPU: all that a machine with a driver and Python with NumPy needs.

    .venv/bin/python bench/gpu/pack.py OUT.tar.xz [--build FOLDER] [--wheel FILE | --no-wheel] [--tiny]

Needs a built clone and .venv (with JAX, Keras and NumPy). OUT.tar.xz has check.py, two tests, the runtime, programs compiled for
sm_90a, this machine's CPU's results, and the command weft without its compiler, from the wheel (build/wheel/*.whl without the flag).
The wheel also has the compiler; it is copied beside the archive, since it is much larger, and may be left there. --no-wheel: no
command. --tiny: sizes for a trial on the fake driver. The archive must have 12 MiB at most.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST_BYTES = 12 << 20
TARGET = "cuda:sm_90a"
TESTS = ["cuda-driver-test", "gpu-collectives-test", "gpu-staging-test", "nccl-test"]
LIBRARIES = ["libWeftRuntime.so.0", "libWeftCuda.so", "libweft_test_kernels.so"]
SCRIPTS = ["check.py", "check_lines.py", "check_steps.py", "summary.py", "programs.py", "runtime.py", "inputs.py", "figures.py",
           "peers.py", "torch_figures.py", "keras_models.py", "README.md"]
ALSO = ("libstdc++.so.6", "libgcc_s.so.1")  # of the compiler
TINY_FIXTURES = ("cond", "einsum_attention", "while")
MODELS = {"mlp": "seed-functional-mlp", "cnn": "seed-cnn"}


class Maker:
    def __init__(self, build, folder, tiny):
        self.build, self.folder, self.tiny = build, folder, tiny
        self.weft_file = build / "bin" / "weft"
        self.scratch = folder.parent / "scratch"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")}
        for path in (folder / "programs", folder / "sources", folder / "models", self.scratch):
            path.mkdir(parents=True)
        self.manifest = {"commit": self.git("rev-parse", "HEAD"), "altered": bool(self.git("status", "--porcelain", "-uno")),
                         "target": TARGET, "tiny": tiny, "made": time.strftime("%Y-%m-%dT%H:%M:%S"), "programs": {}, "fits": {}}

    def git(self, *arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], text=True, capture_output=True).stdout.strip()

    def weft(self, *arguments):
        begin = time.monotonic()
        done = subprocess.run([self.weft_file, *map(str, arguments)], text=True, capture_output=True, env=self.environment)
        if done.returncode:
            raise SystemExit(f"weft {' '.join(map(str, arguments))}\n{done.stderr[-2000:]}")
        return done.stdout, round(time.monotonic() - begin, 2)

    def compile(self, source, name, devices=1, kind="cuda", flags=()):
        """Compiles for the GPU or for this CPU; returns the file and the seconds."""
        file = self.folder / "programs" / f"{name}.weft" if kind == "cuda" else self.scratch / f"{name}.cpu.weft"
        target = TARGET if kind == "cuda" else "native"
        return file, self.weft("compile", source, "--devices", f"{kind}:{devices}", "--target", target, *flags, "-o", file)[1]

    def walks(self, source):
        text = self.weft("compile", source, "--devices", "cuda:1", "--target", TARGET, "--emit", "nests")[0]
        return sorted(set(re.findall(r"nest\.loops #nest\.(\w+)", text))) + sorted(set(re.findall(r"(epilogue \w+|plan\.library)", text)))

    # ------------------------------------------------------------------------------------------------------------ the parts

    def binaries(self):
        (self.folder / "bin").mkdir()
        (self.folder / "lib").mkdir()
        build = self.build
        for name in TESTS:
            shutil.copy(build / "bin" / name, self.folder / "bin")
        for name in LIBRARIES:
            shutil.copy(build / "lib" / name, self.folder / "lib" / name)
        (self.folder / "own-libstdc++").mkdir()
        listed = subprocess.run(["ldd", build / "bin" / TESTS[0]], text=True, capture_output=True, check=True).stdout
        for name in ALSO:
            path = re.search(rf"{re.escape(name)} => (\S+)", listed)[1]
            shutil.copy(path, self.folder / "own-libstdc++" / name)
        files = [*(self.folder / "bin").iterdir(), *(self.folder / "lib").iterdir(), *(self.folder / "own-libstdc++").iterdir()]
        subprocess.run(["strip", "--strip-unneeded", *files], check=True)

    def command(self, wheel):
        """The command weft, which fits and runs compiled steps without its compiler: the wheel's, which needs glibc alone."""
        names = ["bin/weft", "lib/libWeftStepCommands.so", "lib/libWeftRuntime.so.0", "lib/libWeftCuda.so"]
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                (self.folder / name).write_bytes(archive.read(f"weft/{name}"))
        (self.folder / "bin" / "weft").chmod(0o755)

    def programs(self):
        """Programs of models.py, with the CPU's results of the small ones."""
        import numpy as np

        import inputs
        import runtime
        command = [sys.executable, HERE / "models.py", ROOT, self.folder / "sources", *(["--tiny"] if self.tiny else [])]
        subprocess.run(command, check=True)
        weft = runtime.Weft(self.build / "lib")
        listed = json.loads((self.folder / "sources" / "programs.json").read_text())
        (self.folder / "sources" / "programs.json").unlink()
        for name, its in listed.items():
            source = self.folder / "sources" / f"{name}.mlir"
            _, its["compile_s"] = self.compile(source, name)
            if its["part"] == "answers":
                its["walks"] = self.walks(source)
                file, _ = self.compile(source, name, kind="cpu")
                with runtime.opened(weft, file, "cpu:1") as program:
                    program.bind(inputs.draw_all(runtime.ports_of(program), its))
                    program.run()
                    results = {f"out{n}": inputs.sample(program.result(n)) for n in range(len(program.outputs))}
                np.savez(self.folder / "programs" / f"{name}.npz", **results)
                source.unlink()
            self.manifest["programs"][name] = its
            print(f"{name}: {its['compile_s']} s, {' '.join(its.get('walks', []))}", flush=True)

    def keras_steps(self):
        """The same models as Weft reads them from Keras' files, which `weft fit` trains."""
        for name, fixture in MODELS.items():
            if self.tiny and name == "cnn":
                continue
            model = ROOT / "test" / "fixtures" / fixture / "model.json"
            batch = 16 if self.tiny else {"mlp": 128, "cnn": 256}[name]
            flags = ["--step", "train", "--batch-size", batch, "--seed", "7"]
            file, seconds = self.compile(model, f"{name}-keras", flags=flags)
            if name == "mlp":
                self.compile(model, f"{name}-keras-8", 8, flags=[*flags, "--data-parallel"])
            listed = self.weft("run", file, "--list")[0]
            results = [line.split()[1] for line in listed.splitlines() if line.startswith("output ")]
            self.manifest["programs"][f"{name}-keras"] = {
                "part": "steps", "integers": 10, "low": 0.0, "high": 0.04, "loss": results.index("metrics/loss"), "samples": batch,
                "compile_s": seconds}

    def keras_models(self):
        """Train steps of models of the field; their JSON, which Keras on JAX reads, too."""
        import keras_models
        for name, its in {} if self.tiny else keras_models.MODELS.items():
            model = self.folder / "models" / f"{name}.json"
            subprocess.run([sys.executable, "-c", f"import keras_models, pathlib; keras_models.write({name!r}, pathlib.Path({str(model)!r}))"],
                           check=True, cwd=HERE)
            flags = ["--step", "train", "--batch-size", its["batch"], "--seed", "7", *its["flags"]]
            file, seconds = self.compile(model, name, flags=flags)
            ports = [line.split() for line in self.weft("run", file, "--list")[0].splitlines() if line.startswith("input ")]
            ranges = {number: its["words" if port[2] == "input" else "classes"] for number, port in enumerate(ports)
                      if port[2] in ("input", "label")}
            self.manifest["programs"][name] = {"part": "models", "integers_of": ranges, "low": 0.0, "high": 0.04,
                                               "samples": its["batch"], "compile_s": seconds}

    def fixtures(self):
        """The project's StableHLO tests with JAX's results, but the whole train steps."""
        for source in sorted((ROOT / "test" / "fixtures" / "stablehlo").glob("*.mlir")):
            stored = source.with_suffix(".npz")
            if not stored.exists() or source.stem.startswith("train-step") or (self.tiny and source.stem not in TINY_FIXTURES):
                continue
            name = f"fixture-{source.stem}"
            self.compile(source, name)
            shutil.copy(stored, self.folder / "programs" / f"{name}.npz")
            self.manifest["programs"][name] = {"part": "fixtures", "stored_inputs": True, "tolerance": 2e-5}

    def figures(self):
        import figures
        size, files = "tiny" if self.tiny else "full", {}
        for figure in figures.FIGURES:
            text = figure.source(size)
            if text not in files:
                name = f"figure-{len(files)}"
                source = self.folder / "sources" / f"{name}.mlir"
                source.write_text(text)
                self.compile(source, name, figure.devices)
                files[text] = name
            its = {"part": "figures", "file": f"{files[text]}.weft", "source": f"{files[text]}.mlir", "row": figure.row,
                   "devices": figure.devices, "library": figure.library, "anchor": figure.anchor, "bytes": figure.bytes(size),
                   "operations": figure.operations(size)}
            if figure.make is figures.adam:
                its["low"] = 0.0  # a mean of squares
            self.manifest["programs"][figure.name] = its

    def fits(self):
        """Models that `weft fit` trains, with the losses of this CPU."""
        import numpy as np

        import inputs
        for name, fixture in MODELS.items():
            if self.tiny and name == "cnn":
                continue
            its = {"model": f"{name}.json", "labels": "pixels" if name == "mlp" else "classes",
                   "batch": 16 if self.tiny else {"mlp": 128, "cnn": 256}[name], "steps": 6 if self.tiny else {"mlp": 200, "cnn": 10}[name]}
            its["samples"] = its["batch"] * its["steps"]
            model = self.folder / "models" / its["model"]
            shutil.copy(ROOT / "test" / "fixtures" / fixture / "model.json", model)
            its["compiled"] = {"cuda:1": f"programs/{name}-keras.weft"}
            if name == "mlp":
                its["compiled"]["cuda:8"] = f"programs/{name}-keras-8.weft"
            np.savez(self.scratch / "data.npz", **inputs.fit_data(its))
            history = self.scratch / "history.json"
            common = ["fit", model, "--data", self.scratch / "data.npz", "--batch-size", its["batch"], "--seed", "7", "--no-shuffle",
                      "--verbose", "0", "--history", history, "--history-steps"]
            for devices in ("cpu:1", "cpu:8") if name == "mlp" else ("cpu:1",):
                self.weft(*common, "--devices", devices, *(["--data-parallel"] if devices != "cpu:1" else []))
                its[devices] = json.loads(history.read_text())["steps"]["loss"]
                print(f"fit {name} on {devices}: loss {its[devices][0]:.5f} to {its[devices][-1]:.5f}", flush=True)
            self.manifest["fits"][name] = its

    def finish(self):
        for name in SCRIPTS:
            shutil.copy(HERE / name, self.folder)
        if results := sorted((HERE / "results").glob("*.jsonl")):
            shutil.copy(results[-1], self.folder / "before.jsonl")
        (self.folder / "manifest.json").write_text(json.dumps(self.manifest, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--no-wheel", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    build = options.build.resolve()
    wheel = None if options.no_wheel else options.wheel or next(iter(sorted((build / "wheel").glob("*.whl"))), None)
    if not options.no_wheel and not wheel:
        parser.error(f"{build}/wheel has no wheel; run tools/wheel, or give --wheel FILE or --no-wheel")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        maker = Maker(build, pathlib.Path(scratch) / "gpu-check", options.tiny)
        maker.binaries()
        if wheel:
            maker.command(wheel)
        for part in (maker.programs, maker.keras_steps, maker.keras_models, maker.fixtures, maker.figures, maker.fits, maker.finish):
            part()
        with tarfile.open(options.out, "w:xz", preset=9) as archive:
            archive.add(maker.folder, "gpu-check")
    size = options.out.stat().st_size
    print(f"{options.out}: {size / 2**20:.2f} MiB, {len(maker.manifest['programs'])} programs, {time.monotonic() - begin:.0f} s")
    if size > MOST_BYTES:
        sys.exit(f"{options.out}: {size} bytes, at most {MOST_BYTES} are wanted")
    if wheel:
        beside = options.out.resolve().parent / wheel.name
        if beside != wheel.resolve():
            shutil.copy(wheel, beside)
        print(f"{beside}: {beside.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
