#!/usr/bin/env python3
"""The GPU tables of docs/performance.md, from the committed results of bench/gpu/check.py: bench/gpu/results/DATE-GPU.jsonl.

    python3 bench/gpu/table.py           says whether the page has them
    python3 bench/gpu/table.py --write   writes them there

A row is of the newest file that has it; peers are of the newest file that has them. Rounds of one file become their median.
"""

import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- GPU figures: bench/gpu/table.py --write -->", "<!-- end of GPU figures -->"
STEPS = {"mlp": "MLP of the seed, batch 128, StableHLO of Keras' step", "mlp-keras": "the same MLP, compiled from Keras' file",
         "cnn": "CNN of the seed, batch 256, StableHLO of Keras' step", "cnn-keras": "the same CNN, compiled from Keras' file",
         "gpt2-bf16": "GPT-2, 124 M weights, 16 x 1024 tokens, bf16, Adam", "gpt2-f32": "GPT-2, 124 M weights, 1 x 1024 tokens, f32, Adam"}
MODELS = {
    "resnet50-bf16": "ResNet-50, mixed_bfloat16, 64 images of 224 x 224", "mobilenet-bf16": "MobileNetV2, mixed_bfloat16, 64 images of 224 x 224",
    "bert-bf16": "encoder of 6 layers, 512 wide, 32 x 128 words of 30,522, mixed_bfloat16",
    "bert": "encoder of 6 layers, 512 wide, 32 x 128 words of 30,522, both in TF32",
    "bert-exact": "encoder of 6 layers, 512 wide, 32 x 128 words of 30,522, Weft with all bits of f32, Keras in TF32",
    "recurrent": "LSTM in both directions and GRU, 128 wide, 64 x 128 words of 20,000, both in TF32",
    "recurrent-exact": "LSTM in both directions and GRU, 128 wide, 64 x 128 words of 20,000, Weft with all bits of f32, Keras in TF32"}
PEERS_OF = {"mlp-keras": "mlp", "cnn-keras": "cnn"}  # the StableHLO of the same model
TORCH = {"gpt2-bf16": ("PyTorch, eager", "PyTorch, compiled")}


class Results:
    """The lines of one file."""

    def __init__(self, file):
        self.name = file.name
        self.lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.measured = f"{file.name[:10]}, {self.find('machine', 'made from')['commit'][:8]}"

    def items(self, part):
        return list(dict.fromkeys(line["item"] for line in self.lines if line["part"] == part and line["ok"]))

    def find(self, part, item):
        return next((line for line in self.lines if line["part"] == part and line["item"] == item and line["ok"]), {})

    def median(self, part, item, key):
        found = [line[key] for line in self.lines if line["part"] == part and line["item"] == item and line["ok"] and line.get(key)]
        return statistics.median(found) if found else None

    def machine(self):
        """A sentence about what was measured where."""
        made, gpu = self.find("machine", "made from"), self.find("machine", "gpu").get("state", "").split(", ")
        versions = self.find("machine", "versions").get("versions", {})
        library = self.find("environment", "weft devices").get("libraries", [{}])[0]
        copy, product = self.find("ceilings", "copy of 1 GiB"), self.find("ceilings", "product bf16 8192")
        ceilings = f" A copy of 1 GiB moves {copy['GBps']:,.0f} GB/s (counted twice: read and written), PyTorch's product of 8192 x 8192 " \
                   f"in bf16 makes {product['TFLOPs']:,.0f} TFLOP/s." if copy and product else ""
        return (f"{self.name[:10]}: {gpu[0]}, driver {gpu[1]}, cuBLASLt {library.get('version')}, commit {made['commit'][:8]}"
                f"{' with changes' if made['altered'] else ''}, code for `{made['target']}`; PyTorch {versions.get('torch')}, JAX "
                f"{versions.get('jax')}.{ceilings} Lines: `bench/gpu/results/{self.name}`.")


def peer_of(files, part, item):
    """The newest file that measured a peer, or the last one."""
    return next((its for its in reversed(files) if its.find(part, item)), files[-1])


def shown(value, form):
    return "-" if value is None else format(value, form)


def ms(value):
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def newest(files, part):
    """{item: the newest file that has it}, in the order of the lines."""
    found = {}
    for its in files:
        for item in its.items(part):
            found[item] = its
    return found


def step_rows(files):
    found = newest(files, "steps")
    yield "| train step | Weft, ms | its kernels, ms | XLA, ms | XLA in a row, ms | XLA with TF32, ms | PyTorch, compiled PyTorch, ms | " \
          "Weft / XLA | losses differ from XLA's by | measured |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for item, title in STEPS.items():
        if item not in found:
            continue
        its, peer = found[item], PEERS_OF.get(item, item)
        other = peer_of(files, "xla", peer)
        own, xla = its.median("steps", item, "ms"), other.median("xla", peer, "ms")
        torch = ", ".join(ms(peer_of(files, "gpt2", name).median("gpt2", name, "ms")) for name in TORCH.get(item, ())) or "-"
        losses, others = its.find("losses", item).get("losses", []), other.find("xla", item).get("losses", [])
        far = max((abs(a - b) / (abs(b) or 1) for a, b in zip(losses, others)), default=None)
        yield f"| {title} | {ms(own)} | {ms(its.median('profile', item, 'kernels_ms'))} | {ms(xla)} | " \
              f"{ms(other.median('xla', peer, 'queued_ms'))} | {ms(other.median('xla', f'{peer}, TF32', 'ms'))} | {torch} | " \
              f"{shown(own / xla if xla else None, '.2f')} | {shown(far, '.0e')} | {its.measured} |"


def model_rows(files):
    found, peers = newest(files, "models"), newest(files, "keras")
    yield "| Keras model, a train step with Adam | Weft, ms | its kernels, ms | Keras on JAX, ms | Weft / Keras on JAX | measured |"
    yield "|---|---|---|---|---|---|"
    for item in MODELS:
        if item not in found:
            continue
        its = found[item]
        own = its.median("models", item, "ms")
        other = peers[item].median("keras", item, "ms") if item in peers else None
        yield f"| {MODELS[item]} | {ms(own)} | {ms(its.median('profile', item, 'kernels_ms'))} | {ms(other)} | " \
              f"{shown(own / other if other else None, '.2f')} | {its.measured} |"


def fit_rows(files):
    found = newest(files, "fit")
    yield "| `weft fit` | ms a step (`--stats`) | first loss, difference from the CPU's | largest of all steps | measured |"
    yield "|---|---|---|---|---|"
    for item, its in found.items():
        line = its.find("fit", item)
        far = line.get("difference_to_cpu:1", {})
        yield f"| {item} | {ms(its.median('fit', item, 'ms'))} | {shown(far.get('first'), '.0e')} | {shown(far.get('largest'), '.0e')} | {its.measured} |"


def figure_rows(files):
    found = newest(files, "figures")
    yield "| row | figure | kernels, ms | a run, ms | PyTorch, ms | XLA in a row, ms | Weft / PyTorch | TFLOP/s | of a copy's bandwidth | measured |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    rows = sorted(((its.find("figures", item)["row"], item, its) for item, its in found.items()), key=lambda row: row[:2])
    for row, item, its in rows:
        line, kernels = its.find("figures", item), its.median("figures", item, "kernels_ms")
        peer = item.removesuffix(", own code")
        torch = peer_of(files, "torch", peer).median("torch", peer, "ms")
        copy = peer_of(files, "ceilings", "copy of 1 GiB").median("ceilings", "copy of 1 GiB", "GBps")
        share = its.median("figures", item, "GBps")
        yield f"| {row} | {item} | {ms(kernels)} | {ms(its.median('figures', item, 'ms'))} | {ms(torch)} | " \
              f"{ms(peer_of(files, 'xla', peer).median('xla', peer, 'queued_ms'))} | {shown(kernels / torch if torch else None, '.2f')} | " \
              f"{shown(line.get('TFLOPs'), ',.1f')} | {shown(share / copy if share and copy else None, '.2f')} | {its.measured} |"


def tables(files):
    used = [its for part in ("steps", "models", "fit", "figures") for its in newest(files, part).values()]
    machines = [its.machine() for its in files if its in used]
    return "\n".join([BEGIN, *machines, "", *step_rows(files), "", *model_rows(files), "", *fit_rows(files), "", *figure_rows(files), END])


def results(folder):
    return [Results(file) for file in sorted(folder.glob("*.jsonl"))]


def main():
    text = PAGE.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{PAGE}: a line '{BEGIN}' and one '{END}' are wanted, once each")
    before, rest = text.split(BEGIN)
    wanted = before + tables(results(pathlib.Path(__file__).parent / "results")) + rest.split(END)[1]
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif text != wanted:
        sys.exit(f"{PAGE} differs from bench/gpu/results; run python3 bench/gpu/table.py --write")
    return 0


if __name__ == "__main__":
    sys.exit(main())
