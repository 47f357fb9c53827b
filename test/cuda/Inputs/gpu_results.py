"""Writes two files of results as bench/gpu/check.py does: an older one, and one of 2026-12-01."""

import json
import pathlib
import sys

MACHINE = [
    {"part": "machine", "item": "made from", "ok": True, "commit": "abcdef1234567890", "altered": False, "target": "cuda:sm_90a"},
    {"part": "machine", "item": "gpu", "ok": True, "state": "A GPU, 1.2, 81559 MiB"},
    {"part": "machine", "item": "versions", "ok": True, "versions": {"torch": "2.11.0", "jax": "0.11.2"}},
    {"part": "environment", "item": "weft devices", "ok": True, "libraries": [{"name": "cuBLASLt", "version": "13.1.0"}]},
    {"part": "ceilings", "item": "copy of 1 GiB", "ok": True, "ms": 0.7, "GBps": 3000},
    {"part": "ceilings", "item": "product bf16 8192", "ok": True, "ms": 1.4, "TFLOPs": 785}]
GEMM = {"part": "figures", "item": "gemm bf16 8192x8192x8192", "ok": True, "row": 1, "ms": 1.5, "kernels_ms": 1.4, "TFLOPs": 785.4}
OLD = [*MACHINE, {**GEMM, "kernels_ms": 9}]
NEW = [
    *MACHINE,
    {"part": "steps", "item": "gpt2-bf16", "ok": True, "ms": 40},
    {"part": "losses", "item": "gpt2-bf16", "ok": True, "losses": [10, 9]},
    {"part": "profile", "item": "gpt2-bf16", "ok": True, "kernels_ms": 39},
    {"part": "xla", "item": "gpt2-bf16", "ok": True, "ms": 20, "queued_ms": 19, "losses": [10, 10]},
    {"part": "gpt2", "item": "PyTorch, eager", "ok": True, "ms": 30},
    {"part": "gpt2", "item": "PyTorch, compiled", "ok": False, "why": "no compiler"},
    {"part": "fit", "item": "mlp, cuda:1", "ok": True, "ms": 0.2, "difference_to_cpu:1": {"first": 1e-7, "largest": 2e-7}},
    GEMM, {**GEMM, "round": 2, "kernels_ms": 1.3}, {**GEMM, "round": 3, "kernels_ms": 1.5},
    {"part": "torch", "item": "gemm bf16 8192x8192x8192", "ok": True, "ms": 0.7},
    {"part": "figures", "item": "gemm f32 4096x4096x4096", "ok": False, "row": 3, "why": "no library"},
    {"part": "figures", "item": "bias and GELU, f32", "ok": True, "row": 4, "ms": 0.3, "kernels_ms": 0.2, "GBps": 2684.4}]

if __name__ == "__main__":
    for name, lines in (("2026-11-01-gpu", OLD), ("2026-12-01-gpu", NEW)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (pathlib.Path(sys.argv[1]) / f"{name}.jsonl").write_text(text)
