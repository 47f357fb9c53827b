"""The steps of a check, in the order of STEPS: most informative first. Each is a function of the Check (lines.py)."""

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import site
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
QUERY = "name,driver_version,memory.total,memory.used,clocks.sm,clocks.mem,power.draw,temperature.gpu"
MORE = "persistence_mode,compute_mode,clocks_event_reasons.active"
LIBRARIES = re.compile(r"lib(cublasLt|cublas|nccl|cudnn|nvrtc|cudart)\.so\.\d+")
SANITIZED = ["rows-block", "columns", "tiles-bf16", "transposed"]
COLLECTIVES = ["an all-reduce of several types at once", "groups of a part of the mesh*", "a copy of many pieces", "a pick along*",
               "devices meet at the same instruction*", "groups that reshard in different ways", "devices decide for themselves*"]


def environment(check):
    check.say({"part": "machine", "item": "made from", "ok": True, **{key: check.manifest[key] for key in
              ("commit", "altered", "target", "tiny", "made")}, "text": check.manifest["commit"][:10], "python": sys.version.split()[0],
             "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%dT%H:%M:%S")})
    if smi := shutil.which("nvidia-smi"):
        if found := check.run("machine", "gpu", [smi, f"--query-gpu={QUERY}", "--format=csv,noheader"], 20):
            check.say({"part": "machine", "item": "gpu", "ok": True, "query": QUERY, "state": found[0].strip()})
        if found := check.run("machine", "modes", [smi, f"--query-gpu={MORE}", "--format=csv,noheader"], 20):
            check.say({"part": "machine", "item": "modes", "ok": True, "query": MORE, "state": found[0].strip()})
    libraries(check)
    if not check.tiny:
        found = {}
        for name in ("numpy", "torch", "jax", "jaxlib", "triton", "nvidia-cublas", "nvidia-nccl-cu13"):
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                pass
        check.say({"part": "machine", "item": "versions", "ok": True, "versions": found, "text": json.dumps(found)})
    unpack_wheel(check)


def libraries(check):
    """Whether Weft finds cuBLASLt where it is usually installed; if not, it is shown where, so that the other steps use it."""
    folders = sorted({path.parent for root in {*site.getsitepackages(), *(p for p in sys.path if p.endswith("-packages"))}
                      for path in pathlib.Path(root).glob("nvidia/*/lib/*.so.*")})
    folders += [path for path in (pathlib.Path("/usr/local/cuda/lib64"),) if path.is_dir()]
    found = sorted({f"{path.parent}/{path.name}" for folder in folders for path in folder.iterdir() if LIBRARIES.fullmatch(path.name)})
    holding = [str(folder) for folder in folders if any(folder.glob("libcublasLt.so.*"))]
    check.say({"part": "machine", "item": "libraries", "ok": True, "found": found, "text": ", ".join(holding) or "none in Python's folders"})
    if has_library(check) or not holding or check.tiny:
        return
    check.environment["WEFT_CUDA_LIBRARIES"] = ":".join(holding)
    has_library(check)


def has_library(check):
    check.own("devices", limit=40)
    its = [line for line in check.lines if line["item"] == "weft devices" and line["ok"]]
    listed = its[-1]["libraries"] if its else []
    how = "as WEFT_CUDA_LIBRARIES says" if "WEFT_CUDA_LIBRARIES" in check.environment else "by itself"
    for library in listed:
        check.say({"part": "machine", "item": f"Weft finds {library['name']} {how}", "ok": not library["why_not"],
                   "text": f"{library['version']}, {library['path']}", "why": library["why_not"], "limit": library["limit"]})
    return bool(listed) and not any(library["why_not"] for library in listed)


def unpack_wheel(check):
    """The command weft: with its compiler, from the wheel or from a folder that WEFT_PREFIX names; else without, as packed here."""
    check.compiles = True
    if prefix := os.environ.get("WEFT_PREFIX"):
        check.weft = pathlib.Path(prefix) / "bin" / "weft"
    elif check.wheel:
        begin = time.monotonic()
        with zipfile.ZipFile(check.wheel) as wheel:
            wheel.extractall(check.scratch / "wheel")
        check.weft = check.scratch / "wheel" / "weft" / "bin" / "weft"
        check.weft.chmod(0o755)
        check.say({"part": "machine", "item": "wheel", "ok": True, "text": check.wheel.name, "seconds": round(time.monotonic() - begin, 2)})
    else:
        packed = HERE / "bin" / "weft"
        check.weft = packed if packed.exists() else None
        check.compiles = (HERE / "lib" / "libWeftCommands.so").exists()
        check.say({"part": "machine", "item": "wheel", "ok": True, "text": f"none; command: {check.weft}, compiles: {check.compiles}"})
    if not check.compiles:
        return
    if done := check.run("machine", "weft devices", [check.weft, "devices", "--json"], 40):
        kinds = json.loads(done[0])
        check.say({"part": "machine", "item": "weft devices --json", "ok": any(its["kind"] == "cuda" for its in kinds["devices"]),
                  "devices": kinds, "seconds": done[1]})


def ceilings(check):
    check.peers("ceilings", limit=40)


def conformance(check):
    """Whether the GPU's driver behaves like the fake driver of Weft's tests. Nothing else may run beside it."""
    done = check.run("conformance", "driver", [HERE / "bin" / "cuda-driver-test", "~[fake]~[.]", "--durations", "yes"], 40, own_libraries())
    if done:
        check.say({"part": "conformance", "item": "driver", "ok": True, "text": done[0].strip().splitlines()[-1], "seconds": done[1]})
    elif check.left() > 5:
        # Which cases fail, if the whole does.
        check.run("conformance", "driver, each case", [HERE / "bin" / "cuda-driver-test", "~[fake]~[.]", "--reporter", "compact"], 30,
                 own_libraries())


def nccl(check):
    """Whether NCCL, where Python's packages or the system have it, does what the fake of Weft's tests does, and runs in flight."""
    found = [path for line in check.lines if line["item"] == "libraries" for path in line.get("found", []) if "libnccl.so" in path]
    folders = {"LD_LIBRARY_PATH": ":".join([own_libraries()["LD_LIBRARY_PATH"], *dict.fromkeys(str(pathlib.Path(path).parent) for path in found)])}
    for name, cases, environment in (("gpu-staging-test", "~[fake]~[.]", own_libraries()), ("nccl-test", "~[fake]~[.]", folders)):
        if name == "nccl-test" and not (found or check.tiny):
            check.say({"part": "conformance", "item": name, "ok": True, "text": "not run: no libnccl.so.2 is installed"})
        elif done := check.run("conformance", name, [HERE / "bin" / name, cases], 40, environment, HERE / "lib"):
            check.say({"part": "conformance", "item": name, "ok": True, "text": done[0].strip().splitlines()[-1], "seconds": done[1]})


def own_libraries():
    """Weft's tests are linked to the libstdc++ of the machine that built them."""
    return {"LD_LIBRARY_PATH": ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), str(HERE / "lib"), str(HERE / "own-libstdc++")]))}


def answers(check):
    """Small programs beside the CPU's results, with a library and without; the same bits in three runs."""
    none = {"WEFT_CUDA_LIBRARIES": "none"}
    check.together(lambda: check.own("answers", limit=45, library="on"),
                  lambda: check.own("answers", limit=45, environment=none, library="off"))
    for library in ("on", "off"):
        count(check, "answers", library)


def count(check, part, library="on"):
    lines = [line for line in check.lines if line["part"] == part and line.get("library", "on") == library
             and line["item"] in check.manifest["programs"]]
    right = sum(line["ok"] for line in lines)
    check.say({"part": part + ", all", "item": f"library {library}", "ok": right == len(lines) and bool(lines), "right": right,
              "of": len(lines), "text": f"{right} of {len(lines)} right", "why": f"{right} of {len(lines)} right"})


def compile_here(check):
    """Compiles on this machine, for its own chip."""
    if not check.compiles:
        return
    for name in ("mlp", "cnn", "gpt2-bf16"):
        source = HERE / "sources" / f"{name}.mlir"
        if source.exists():
            done = check.run("compile", name, [check.weft, "compile", source, "--devices", "cuda:1", "--target", "cuda:native", "-o",
                                              check.scratch / f"{name}.weft"], 40)
            if done:
                check.say({"part": "compile", "item": name, "ok": True, "compile_s": done[1]})


def fit(check):
    """`weft fit`, as a user runs it: losses beside the CPU's, and ms a step."""
    if not check.weft:
        check.say({"part": "fit", "item": "all", "ok": False, "why": "neither the pack nor a wheel has the command weft"})
        return
    for name, its in check.manifest["fits"].items():
        data = check.scratch / f"{name}.npz"
        code = (f"import sys, json; sys.path.insert(0, {str(HERE)!r}); import inputs, numpy; "
                f"numpy.savez({str(data)!r}, **inputs.fit_data(json.loads({json.dumps(its)!r})))")
        if not check.run("fit", f"data of {name}", [sys.executable, "-c", code], 30):
            continue
        for devices, file in its["compiled"].items():
            fit_one(check, name, its, data, HERE / file, devices)
        for devices in its["compiled"] if check.compiles else []:
            fit_one(check, name, its, data, HERE / "models" / its["model"], devices)


def fit_one(check, name, its, data, model, devices):
    item = f"{name}, {model.name}, {devices}"
    history, stats = check.scratch / "history.json", check.scratch / "stats.json"
    for path in (history, stats):
        path.unlink(missing_ok=True)
    more = [] if model.suffix == ".weft" else ["--batch-size", its["batch"], "--target", "cuda:native"]
    if model.suffix != ".weft" and devices != "cuda:1":
        more.append("--data-parallel")
    command = [check.weft, "fit", model, "--data", data, "--devices", devices, "--seed", "7", "--no-shuffle", "--verbose", "0",
               "--history", history, "--history-steps", "--stats", stats, *more]
    done = check.run("fit", item, command, 45)
    if not done:
        return
    try:
        found, measured = json.loads(history.read_text())["steps"]["loss"], json.loads(stats.read_text())
    except (OSError, ValueError, KeyError) as error:
        check.say({"part": "fit", "item": item, "ok": False, "why": f"{type(error).__name__}: {error}", "output": done[0][-300:]})
        return
    line = {"losses": [found[0], found[len(found) // 2], found[-1]], "steps": len(found), "seconds": done[1],
            "ms": measured["step_ms"]["median"], "least_ms": measured["step_ms"]["min"], "stats": measured}
    for kind in ("cpu:1", "cpu:8"):
        if kind in its and len(its[kind]) == len(found):
            far = [abs(a - b) / max(abs(b), 1e-9) for a, b in zip(found, its[kind])]
            line[f"difference_to_{kind}"] = {"first": far[0], "at_10": far[min(9, len(far) - 1)], "last": far[-1], "largest": max(far)}
            line["difference"] = far[0]
    check.say({"part": "fit", "item": item, "ok": line.get("difference", 1) < 1e-4 and found[-1] == found[-1], **line})


def steps(check):
    few = ["--seconds", "0.1", "--most", "2", "--top", "5"] if check.tiny else []
    check.own("steps", *few, limit=75, idle=40)
    check.state("steps")


def models(check):
    """Train steps of Keras models of the field; peers_of_models has the same in Keras on JAX."""
    if not check.tiny:
        check.own("models", "--seconds", "0.5", limit=75, idle=40)
        check.state("models")


def peers_of_models(check):
    """Needs Keras on the machine."""
    check.peers("keras", limit=150, idle=100)


def profile(check):
    """The command `weft profile` itself."""
    if not check.weft:
        return
    command = [check.weft, "profile", HERE / "programs" / "mlp.weft", "--devices", "cuda:1", "--json"]
    if done := check.run("command", "weft profile mlp", command, 40):
        its = json.loads(done[0])
        check.say({"part": "command", "item": "weft profile mlp", "ok": True, "ms": its["run_ms"],
                  "GBps": round(its["roof"]["bytes_per_second"] / 1e9, 1), "seconds": done[1]})


def figures(check):
    few = ["--seconds", "0.1", "--most", "2"] if check.tiny else ["--seconds", "0.5"]
    library = [name for name, its in check.manifest["programs"].items() if its["part"] == "figures" and its["library"]]
    own = [name for name, its in check.manifest["programs"].items() if its["part"] == "figures" and not its["library"]]
    check.own("figures", *library, *few, limit=70, idle=30)
    check.own("figures", *own, *few, limit=25, idle=30, environment={"WEFT_CUDA_LIBRARIES": "none"})
    check.state("figures")


def peers_of_steps(check):
    steps = ("mlp", "cnn", "gpt2-bf16", "gpt2-f32")
    check.peers("xla", *(f"{name}{more}" for name in steps for more in ("", ", TF32")), limit=130, idle=100)
    check.peers("gpt2", "eager", limit=40)


def peers_of_figures(check):
    check.peers("torch", limit=50)
    check.peers("xla", *(name for name, its in check.manifest["programs"].items() if its["part"] == "figures"), limit=50)


def torch_compiled(check):
    check.peers("gpt2", "compiled", limit=100, idle=90)


def checks(check):
    """Nothing is timed here: the collectives' bits, the project's own StableHLO tests, and NVIDIA's finders of wrong accesses."""
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if not tool:
        check.say({"part": "sanitizer", "item": "compute-sanitizer", "ok": check.tiny, "why": "is not installed", "text": "not installed"})

    def sanitizer(kind):
        command = [tool, "--tool", kind, "--error-exitcode", "9", "--print-limit", "5", sys.executable, HERE / "programs.py", "answers",
                   *SANITIZED, "--runs", "1"]
        if done := check.run("sanitizer", kind, command, 75, {"WEFT_CUDA_LIBRARIES": "none"}):
            said = [line for line in done[0].splitlines() if "=====" in line]
            check.say({"part": "sanitizer", "item": kind, "ok": True, "text": said[-1].strip("= ") if said else "", "seconds": done[1],
                      "programs": SANITIZED})

    def collectives():
        """First few cases that have all of what moves data; then every kind and type."""
        for what, cases, limit in (("few cases", COLLECTIVES, 30), ("all cases", ["~[.]"], 75))[:1 if check.tiny else 2]:
            command = [HERE / "bin" / "gpu-collectives-test", ",".join(cases)]
            if done := check.run("collectives", what, command, limit, own_libraries(), HERE / "lib"):
                check.say({"part": "collectives", "item": what, "ok": True, "text": done[0].strip().splitlines()[-1], "seconds": done[1]})
    kinds = [lambda: sanitizer("memcheck"), lambda: sanitizer("racecheck")] if tool else []
    check.together(collectives, lambda: check.own("fixtures", limit=60, library="on"), *kinds)
    count(check, "fixtures")


def again(check):
    """Rounds of the same measurements, as long as there is time: their spread."""
    for check.round in range(2, 12):
        if check.left() < (5 if check.tiny else 45):
            break
        few = ["--seconds", "0.1", "--most", "2"] if check.tiny else ["--seconds", "0.5"]
        check.own("steps", *few, "--top", "0", limit=40, idle=30)
        figures(check)
        if check.left() > 40:
            check.peers("torch", limit=50)
        if check.left() > 60:
            check.peers("gpt2", "eager", limit=30)
        if check.tiny:
            break


STEPS = {its.__name__: its for its in (environment, ceilings, conformance, nccl, answers, steps, fit, figures, peers_of_steps, models,
                                       peers_of_models, compile_here, profile, peers_of_figures, checks, torch_compiled, again)}
