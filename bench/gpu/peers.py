#!/usr/bin/env python3
"""What other software does with the same work on the same GPU; prints a line of JSON for each measurement.

    python3 peers.py ceilings          PyTorch: a copy of 1 GiB, products of 8192 x 8192 matrices
    python3 peers.py torch [NAME...]   PyTorch: the figures of figures.py
    python3 peers.py xla [NAME...]     JAX's compiler on the very same StableHLO: train steps, then figures
    python3 peers.py keras [NAME...]   Keras on JAX: the train steps of keras_models.py
    python3 peers.py gpt2 [eager|compiled]   PyTorch: a GPT-2 of 124 M weights, 16 x 1024 tokens, bf16, fused attention and AdamW

--cpu: on this machine's CPU with small sizes, to try this file. Each measurement stands alone: one that fails says why.
--after ITEM begins behind ITEM, which ended an earlier process.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 5  # losses that are compared
after = None  # the last item that is left out


def say(line):
    print(json.dumps(line), flush=True)


def attempt(part, item, call):
    """Says what a call returns, or why it fails."""
    global after
    if after:
        after = None if item == after else after
        return
    say({"begin": item})
    begin = time.perf_counter()
    try:
        line = {"ok": True, **call()}
    except Exception as error:
        line = {"ok": False, "why": f"{type(error).__name__}: {error}"[:600]}
    say({"part": part, "item": item, **line, "seconds": round(time.perf_counter() - begin, 2)})


def spread(times):
    return {"ms": round(statistics.median(times), 5), "least_ms": round(min(times), 5), "runs": len(times)}


# ------------------------------------------------------------------------------------------------------------------------ PyTorch

def timed(call, device, runs=20, warm=3, most_s=3.0):
    """ms of a call by the GPU's events around several calls, so that no launch is waited for; by the clock on a CPU."""
    import torch

    def sync():
        if device != "cpu":
            torch.cuda.synchronize()
    for _ in range(warm):
        call()
    sync()
    begin = time.perf_counter()
    call()
    sync()
    inner = max(1, min(20, int(0.003 / (time.perf_counter() - begin))))
    times, end = [], time.perf_counter() + most_s
    while len(times) < runs and (len(times) < 3 or time.perf_counter() < end):
        if device == "cpu":
            begin = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - begin))
            continue
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        for _ in range(inner):
            call()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last) / inner)
    return times


def ceilings(device, tiny):
    import torch

    def copy():
        size = 1 << (20 if tiny else 30)
        a, b = (torch.empty(size, dtype=torch.uint8, device=device).random_() for _ in range(2))
        times = timed(lambda: b.copy_(a), device)
        return {**spread(times), "GBps": round(2 * size / statistics.median(times) / 1e6, 1)}

    def product(kind, n, tf32=False):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = (torch.rand(n, n, device=device).sub_(0.5).to(kind) for _ in range(2))
        times = timed(lambda: a @ b, device)
        return {**spread(times), "TFLOPs": round(2 * n**3 / statistics.median(times) / 1e9, 1)}
    n = 64 if tiny else 8192
    attempt("ceilings", "copy of 1 GiB", copy)
    attempt("ceilings", "product bf16 8192", lambda: product(torch.bfloat16, n))
    attempt("ceilings", "product f32 4096", lambda: product(torch.float32, n // 2))
    attempt("ceilings", "product tf32 4096", lambda: product(torch.float32, n // 2, True))


def figures_of_torch(names, device, tiny):
    import torch

    import figures
    import torch_figures

    def one(figure):
        torch.manual_seed(0)
        call = torch_figures.torch_call(figure, device, "tiny" if tiny else "full")
        return spread(timed(call, device)) if call else {"ok": False, "why": "has no counterpart"}
    # torch.compile last: it starts compilers.
    slow = (figures.moments, figures.bias_gelu, figures.residual_mul)
    for figure in sorted(figures.FIGURES, key=lambda figure: figure.make in slow):
        if figure.library and figure.devices == 1 and (not names or figure.name in names):
            attempt("torch", figure.name, lambda: one(figure))


def torch_gpt2(how, device, tiny):
    """One train step; attention never writes its matrix of scores."""
    import torch
    from torch import nn
    from torch.nn import functional

    layers, width, heads, batch, tokens, words = (2, 64, 4, 2, 16, 97) if tiny else (12, 768, 12, 16, 1024, 50257)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (part.view(*x.shape[:2], heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
            return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
            self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(layers))), nn.LayerNorm(width)

        def forward(self, text):
            x = self.words(text[:, :-1]) + self.places.weight
            logits = self.norm(self.blocks(x)) @ self.words.weight.T
            return functional.cross_entropy(logits.float().flatten(0, 1), text[:, 1:].flatten())

    def run():
        torch.manual_seed(0)
        torch.set_float32_matmul_precision("high")
        model = Gpt2().to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=device == "cuda")
        text = torch.randint(words, (batch, tokens + 1), device=device)
        loss_of = torch.compile(model) if how == "compiled" else model

        def step():
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = loss_of(text)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            return loss
        begin = time.perf_counter()
        first = float(step())
        compile_s = time.perf_counter() - begin
        times = timed(step, device, runs=15)
        line = {**spread(times), "first_s": round(compile_s, 2), "loss": [first, float(step())],
                "tokens_per_s": round(batch * tokens / statistics.median(times) * 1e3)}
        if device == "cuda":
            line["memory_GB"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
        return line
    attempt("gpt2", f"PyTorch, {how}", run)


# -------------------------------------------------------------------------------------------------------------------- JAX's compiler

def main_types(text):
    """[(shape, kind, number of the result that takes its place, or None)] of @main's arguments."""
    line = next(line for line in text.splitlines() if "@main(" in line)
    found = []
    for shape, kind, rest in re.findall(r"%\w+: tensor<((?:\d+x)*)(\w+)>([^%]*)", line.split("->")[0]):
        taken = re.search(r"tf\.aliasing_output = (\d+)", rest)
        found.append((tuple(int(n) for n in shape.split("x") if n), kind, int(taken[1]) if taken else None))
    return found


class Xla:
    """A program in StableHLO, compiled for the first device."""

    def __init__(self, text):
        import jax
        from jax._src import compiler
        from jax._src.interpreters import mlir
        from jax._src.lib import xla_client
        from jax._src.lib.mlir import ir
        self.device = jax.devices()[0]
        client = self.device.client
        devices = xla_client.DeviceList((self.device,))
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1, device_assignment=None)
        begin = time.perf_counter()
        if not text.lstrip().startswith("module"):
            text = f"module @program {{\n{text}}}\n"
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            self.executable = compiler.backend_compile_and_load(client, module, devices, options, [])
        self.compile_s = time.perf_counter() - begin
        self.taken = [taken for _, _, taken in main_types(text)]

    def put(self, arrays, kinds):
        import jax
        import ml_dtypes
        own = {"bf16": ml_dtypes.bfloat16, "i1": bool}
        self.arrays = [jax.device_put(array.view(own[kind]) if kind in own else array, self.device)
                       for array, kind in zip(arrays, kinds, strict=True)]
        jax.block_until_ready(self.arrays)

    def run(self):
        """Enqueues a run; its state goes to the next."""
        results = [each[0] for each in self.executable.execute_sharded(self.arrays).disassemble_into_single_device_arrays()]
        self.arrays = [array if taken is None else results[taken] for array, taken in zip(self.arrays, self.taken)]
        return results

    def time(self, runs, most_s):
        import jax
        times, end = [], time.perf_counter() + most_s
        while len(times) < runs and (len(times) < 3 or time.perf_counter() < end):
            begin = time.perf_counter()
            jax.block_until_ready(self.run())
            times.append(1e3 * (time.perf_counter() - begin))
        count = min(runs, 10)
        begin = time.perf_counter()
        for _ in range(count):
            results = self.run()
        jax.block_until_ready(results)
        return {**spread(times), "queued_ms": round(1e3 * (time.perf_counter() - begin) / count, 5)}


def xla(names, tiny):
    import jax
    import numpy as np

    import inputs
    jax.config.update("jax_enable_x64", True)
    manifest = json.loads((HERE / "manifest.json").read_text())

    def one(name, its, exact):
        text = (HERE / "sources" / its.get("source", f"{name}.mlir")).read_text()
        if exact and "bf16" not in name:  # all bits of f32, as Weft does; JAX would round f32 to TF32
            text = re.sub(r"\bDEFAULT\b", "HIGHEST", text)
            if its["part"] == "figures":  # which state no precision
                text = re.sub(r"(contracting_dims = \[1\] x \[0\])", r"\1, precision = [HIGHEST, HIGHEST]", text)
        program = Xla(text)
        types = main_types(text)
        program.put(inputs.draw_all([(shape, kind) for shape, kind, _ in types], its), [kind for _, kind, _ in types])
        losses = []
        for _ in range(STEPS if "loss" in its else 1):
            results = program.run()
            if "loss" in its:
                loss = np.asarray(results[its["loss"]]).reshape(-1).astype(np.float64)
                losses.append(float(loss[0] / loss[1]) if loss.size == 2 else float(loss[0]))
        jax.block_until_ready(results)
        line = {**program.time(10 if tiny else 50, 2.5 if losses else 0.5), "compile_s": round(program.compile_s, 2)}
        for what in ("tokens", "samples"):
            if what in its:
                line[f"{what}_per_s"] = round(its[what] / line["queued_ms"] * 1e3)
        return line | ({"losses": losses} if losses else {})
    listed = manifest["programs"]
    steps = [name for name in ("mlp", "cnn", "gpt2-bf16", "gpt2-f32") if name in listed]
    wanted = [(name, True) for name in steps] + [(name, False) for name in steps if name != "gpt2-bf16"]
    wanted += [(name, True) for name, its in listed.items() if its["part"] == "figures" and its["devices"] == 1 and its["library"]]
    for name, exact in wanted:
        item = name if exact else f"{name}, TF32"
        if not names or item in names:
            attempt("xla", item, lambda: one(name, listed[name], exact))


def keras_steps(names):
    import keras_models
    for name in keras_models.MODELS:
        if not names or name in names:
            attempt("keras", name, lambda: keras_models.peer(HERE / "models" / f"{name}.json", name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["ceilings", "torch", "xla", "keras", "gpt2"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--after")
    options = parser.parse_args()
    global after
    after = options.after
    sys.path.insert(0, str(HERE))
    device = "cpu" if options.cpu else "cuda"
    if options.part == "xla":
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", device)
        xla(options.names, options.cpu)
    elif options.part == "keras":
        keras_steps(options.names)
    elif options.part == "torch":
        figures_of_torch(options.names, device, options.cpu)
    elif options.part == "gpt2":
        torch_gpt2(options.names[0] if options.names else "eager", device, options.cpu)
    else:
        ceilings(device, options.cpu)


if __name__ == "__main__":
    main()
