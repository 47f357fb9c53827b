"""Deliberate mistakes: which test catches each?

    python3 tools/check/mutations.py [--only WORD] [--again] [--all] [--table docs/mutations.md]

test/mutation/mutations.json holds small patches: a text that stands exactly once in a file, and its replacement. Each
is applied to this tree, the changed targets are rebuilt, tests run until one fails (with --all: all), and the file is as it was.
A patch may name the test to begin with.
Results are kept in build/mutations.json, so that a run that was ended goes on; --again forgets them.
"""

import argparse
import datetime
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = ROOT / "test" / "mutation" / "mutations.json"
RESULTS = ROOT / "build" / "mutations.json"
LIT = "/usr/lib/llvm-22/bin/lit"
SECONDS = 300
# The tests with the programs that each needs, the fastest first.
TESTS = [
    ("weft-fuzz", "weft-fuzz", ["build/bin/weft-fuzz", "--seed", "1", "--count", "1700", "--compiled-every", "0", "--report", "0"]),
    ("lit passes", "weft-opt", [LIT, "-s", "build/test/passes"]),
    ("lit dialects", "weft-opt", [LIT, "-s", "build/test/dialects"]),
    ("plan-file-test", "plan-file-test", ["build/bin/plan-file-test"]),
    ("runtime-plan-test", "runtime-plan-test", ["build/bin/runtime-plan-test"]),
    ("runtime-plan-kernels-test", "runtime-plan-kernels-test", ["build/bin/runtime-plan-kernels-test"]),
    ("runtime-starts-test", "runtime-starts-test", ["build/bin/runtime-starts-test"]),
    ("runtime-async-test", "runtime-async-test", ["build/bin/runtime-async-test"]),
    ("runtime-joint-test", "runtime-joint-test", ["build/bin/runtime-joint-test"]),
    ("runtime-executor-test", "runtime-executor-test", ["build/bin/runtime-executor-test"]),
    ("layout-quality-test", "layout-quality-test", ["build/bin/layout-quality-test"]),
    ("lit parallelism-models", "weft", [LIT, "-s", "build/test/pipeline/parallelism-models.test"]),
    ("strategies-test", "strategies-test", ["build/bin/strategies-test"]),
    ("rules-test", "rules-test", ["build/bin/rules-test"]),
    ("sharding-rule-test", "sharding-rule-test", ["build/bin/sharding-rule-test"]),
    ("known-failures-test", "known-failures-test", ["build/bin/known-failures-test"]),
    ("resharding-test", "resharding-test", ["build/bin/resharding-test"]),
    ("every-op-test", "every-op-test", ["build/bin/every-op-test"]),
    ("device-groups-test", "device-groups-test", ["build/bin/device-groups-test"]),
    ("fetch-traffic-test", "fetch-traffic-test", ["build/bin/fetch-traffic-test"]),
    ("codegen-kernels-test", "codegen-kernels-test", ["build/bin/codegen-kernels-test"]),
    ("reversed-operands-test", "reversed-operands-test", ["build/bin/reversed-operands-test"]),
    # Tests on the fake driver of GPUs.
    ("gpu-collectives-test", "gpu-collectives-test", ["build/bin/gpu-collectives-test", "--abort"]),
    ("gpu-collectives-two-gpus", "gpu-collectives-test",
     ["env", "FAKE_CUDA_GPUS=2", "build/bin/gpu-collectives-test", "--abort"]),
    ("gpu-collectives-apart", "gpu-collectives-test",
     ["env", "FAKE_CUDA_GPUS=2", "FAKE_CUDA_PEERS=none", "WEFT_CUDA_LIBRARIES=none", "build/bin/gpu-collectives-test", "[.apart]"]),
    ("gpu-collectives-exact", "gpu-collectives-test",
     ["env", "FAKE_CUDA_GPUS=4", "FAKE_CUDA_PEERS=none", "WEFT_TEST_COLLECTIVES=exact", "build/bin/gpu-collectives-test", "--abort"]),
    ("gpu-nccl-test", "gpu-nccl-test",
     ["env", "FAKE_CUDA_GPUS=4", "FAKE_CUDA_PEERS=none", "WEFT_TEST_COLLECTIVES=nccl", "build/bin/gpu-nccl-test", "--abort"]),
    ("gpu-nccl-failing", "gpu-nccl-test",
     ["env", "FAKE_CUDA_GPUS=2", "FAKE_CUDA_FAIL=kernel:2", "WEFT_TEST_COLLECTIVES=nccl", "build/bin/gpu-nccl-test", "[.failing]"]),
    ("gpu-nccl-loop", "gpu-nccl-test",
     ["env", "FAKE_CUDA_GPUS=2", "FAKE_CUDA_FAIL=kernel:1", "WEFT_TEST_COLLECTIVES=nccl", "build/bin/gpu-nccl-test", "[.loop]"]),
    ("gpu-contractions-test", "gpu-contractions-test", ["build/bin/gpu-contractions-test", "--abort"]),
    ("gpu-staging-test", "gpu-staging-test", ["build/bin/gpu-staging-test", "--abort"]),
    ("lit cuda/libraries", "gpu-contractions-test", [LIT, "-s", "build/test/cuda", "--filter=cuda/libraries"]),
    # Tests of GPU kernels on the machine that runs PTX.
    ("gpu-walks-test", "gpu-walks-test", ["build/bin/gpu-walks-test"]),
    ("gpu-every-op-test", "gpu-every-op-test", ["build/bin/gpu-every-op-test"]),
    ("lit cuda/run", "gpu-collectives-test", [LIT, "-s", "build/test/cuda", "--filter=cuda/run"]),
    ("lit cuda/errors", "gpu-collectives-test", [LIT, "-s", "build/test/cuda", "--filter=cuda/errors"]),
    ("lit stablehlo/precision", "weft", [LIT, "-s", "build/test/stablehlo", "--filter=stablehlo/precision"]),
    ("packed-dot-test", "packed-dot-test", ["build/bin/packed-dot-test"]),
    ("lit cuda/processes", "gpu-together-test", [LIT, "-s", "build/test/cuda", "--filter=cuda/processes"]),
    ("lit cuda/local-ranks", "WeftCuda", [LIT, "-s", "build/test/cuda", "--filter=cuda/local-ranks"]),
    # Tests of layouts, of Keras models and of the command line.
    ("op-sharding-test", "op-sharding-test", ["build/bin/op-sharding-test"]),
    ("kernel-traits-test", "kernel-traits-test", ["build/bin/kernel-traits-test"]),
    ("keras-layers-test", "keras-layers-test", ["build/bin/keras-layers-test", "--abort"]),
    ("lit pipeline/explain", "weft", [LIT, "-s", "build/test/pipeline", "--filter=pipeline/explain.test"]),
    ("pipeline-meaning-test", "pipeline-meaning-test", ["build/bin/pipeline-meaning-test"]),
    ("lit exec/pipelines", "weft", [LIT, "-s", "build/test/exec", "--filter=exec/pipelines"]),
    ("lit exec/rings", "weft", [LIT, "-s", "build/test/exec", "--filter=exec/rings"]),
    ("lit exec/microbatches", "weft", [LIT, "-s", "build/test/exec", "--filter=exec/microbatches"]),
    ("lit exec/mpi-interrupt", "weft", [LIT, "-s", "build/test/exec", "--filter=exec/mpi-interrupt"]),
    # Tests of the compiler as a library.
    ("lit capi", "weft-compiler-refusals", [LIT, "-s", "build/test/capi"]),
    ("lit python", "WeftC", [LIT, "-s", "build/test/python", "--filter=python/python"]),
]


def patches():
    return json.loads(PATCHES.read_text())


def applied(patch):
    """Returns the file's text with the mistake; None where the text to replace is not there once."""
    text = (ROOT / patch["file"]).read_text()
    return text.replace(patch["find"], patch["replace"]) if text.count(patch["find"]) == 1 else None


def build(targets):
    return subprocess.run(["ninja", "-C", "build", "-j2"] + targets, cwd=ROOT, capture_output=True, text=True)


def fails(command):
    with tempfile.TemporaryDirectory() as folder:
        words = [word if not word.startswith("build/") else str(ROOT / word) for word in command]
        try:
            return subprocess.run(words, cwd=folder, capture_output=True, timeout=SECONDS).returncode != 0
        except subprocess.TimeoutExpired:
            return True


def catchers(first, every):
    """Returns (names of the tests that fail, the error if one does not build); the test named `first` is the first to run"""
    caught = []
    for name, target, command in sorted(TESTS, key=lambda test: test[0] != first):
        made = build([target])
        if made.returncode:
            return [], "does not build: " + made.stdout[-2000:]
        if fails(command):
            caught.append(name)
        if caught and not every:
            break
    return caught, ""


def try_one(patch, every):
    path = ROOT / patch["file"]
    original = path.read_text()
    mutated = applied(patch)
    if mutated is None:
        return {"caught": [], "note": "its text is not there once"}
    begin = time.time()
    try:
        path.write_text(mutated)
        caught, note = catchers(patch.get("test"), every)
    finally:
        path.write_text(original)
    return {"caught": caught, "note": note, "seconds": round(time.time() - begin)}


def table(results):
    caught = sum(bool(results.get(p["name"], {}).get("caught")) for p in patches())
    lines = [
        "# Deliberate mistakes, and the tests that catch them",
        "",
        "Written by `python3 tools/check/mutations.py --table docs/mutations.md` (rebuilds for each mistake: an hour on two cores);",
        "`tools/test` checks that each still applies. Named is the first test that fails: one that the mistake names, then in the",
        "order of the command `weft-fuzz` (its 1,700 fixed seeds), `lit build/test/passes` and unit tests.",
        "",
        f"{datetime.date.today()}: {caught} of {len(patches())} are caught.",
        "",
        "| factor or rule | mistake | where | caught by |",
        "|---|---|---|---|",
    ]
    for patch in patches():
        result = results.get(patch["name"], {})
        by = ", ".join(f"`{name}`" for name in result.get("caught", []))
        note = patch.get("note") or result.get("note", "not run")[:60]
        lines.append(f"| {patch['kind']} | {patch['name']} | `{patch['file']}` | {by or 'nothing' + (': ' + note if note else '')} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--table")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; the file is as it was"))
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() and not options.again else {}
    for patch in patches():
        if patch["name"] in results or options.only not in patch["name"]:
            continue
        results[patch["name"]] = try_one(patch, options.all)
        print(f"{patch['kind']}: {patch['name']}: {results[patch['name']]}", flush=True)
        RESULTS.write_text(json.dumps(results, indent=1))
    build([target for _, target, _ in TESTS])
    if options.table:
        (ROOT / options.table).write_text(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
