"""The summary of a check: Weft beside JAX's compiler and PyTorch, and beside an earlier run."""

import json

from check_lines import HERE, short


def median_ms(lines, part, item, key="ms"):
    times = sorted(line[key] for line in lines if line["part"] == part and line["item"] == item and line["ok"] and line.get(key))
    return times[len(times) // 2] if times else None


def shown(value, form="{:.4g}"):
    return "-" if value is None else form.format(value)


def ratio(a, b):
    return a / b if a and b else None


def table(rows, forms):
    """Prints rows of cells; a form is a width, negative for the left."""
    for row in rows:
        cells = (f"{str(cell)[:abs(form)]:{'<' if form < 0 else '>'}{abs(form)}}" for cell, form in zip(row, forms))
        print("  ".join(cells).rstrip())


def difference_of_losses(lines, name):
    """The largest over the first steps between Weft's and XLA's, relative."""
    own = next((line["losses"] for line in lines if line["part"] == "losses" and line["item"] == name and line["ok"]), [])
    xla = next((line["losses"] for line in lines if line["part"] == "xla" and line["item"] == name and line.get("losses")), [])
    return max((abs(a - b) / (abs(b) or 1) for a, b in zip(own, xla)), default=None)


def earlier():
    """The lines of the newest committed run, which the pack has."""
    file = HERE / "before.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def print_steps(lines, before):
    print("\n== Train steps, ms; XLA runs the same StableHLO with all bits of f32: each run waited for, ten queued; then with TF32")
    rows = [("step", "Weft", "kernels", "before", "XLA", "queued", "TF32", "Weft/XLA", "losses differ by")]
    for name in dict.fromkeys(line["item"] for line in lines if line["part"] == "steps" and line["ok"]):
        own, xla = median_ms(lines, "steps", name), median_ms(lines, "xla", name)
        rows.append((name, shown(own), shown(median_ms(lines, "profile", name, "kernels_ms")), shown(median_ms(before, "steps", name)),
                     shown(xla), shown(median_ms(lines, "xla", name, "queued_ms")), shown(median_ms(lines, "xla", f"{name}, TF32")),
                     shown(ratio(own, xla), "{:.2f}"), shown(difference_of_losses(lines, name), "{:.1e}")))
    table(rows, (-12, 8, 8, 8, 8, 8, 8, 8, 16))
    for how in ("eager", "compiled"):
        if ms := median_ms(lines, "gpt2", f"PyTorch, {how}"):
            print(f"PyTorch's GPT-2, {how}: {ms:.4g} ms")
    for line in lines:
        if line["part"] == "fit" and "ms" in line:
            print(f"fit {line['item']}: {line['ms']:.4g} ms a step, loss {line['losses'][0]:.5f} to {line['losses'][-1]:.5f}, the first "
                  f"{line.get('difference', 0):.1e} from the CPU's")


def print_figures(lines, before):
    copy = next((line["GBps"] for line in lines if line["item"] == "copy of 1 GiB" and line["ok"]), None)
    print("\n== Figures, ms. Share of the ceiling: of the copy's GB/s, or of PyTorch's product")
    rows = [("figure", "kernels", "before", "a run", "PyTorch", "XLA", "share")]
    for name, line in {line["item"]: line for line in lines if line["part"] == "figures" and line["ok"]}.items():
        kernels, torch = median_ms(lines, "figures", name, "kernels_ms"), median_ms(lines, "torch", name.split(", own")[0])
        share = ratio(torch, kernels) if name.startswith("gemm") else ratio(line.get("GBps"), copy)
        rows.append((name, shown(kernels), shown(median_ms(before, "figures", name, "kernels_ms")), shown(median_ms(lines, "figures", name)),
                     shown(torch), shown(median_ms(lines, "xla", name, "queued_ms")), shown(share, "{:.2f}")))
    table(rows, (-38, 8, 8, 8, 8, 8, 8))


def print_profiles(lines):
    for line in lines:
        if line["part"] == "profile" and line["ok"] and line["item"] in ("cnn", "gpt2-bf16"):
            print(f"\n== {line['item']}: kernels {line['kernels_ms']} ms of {line['run_ms']} ms, 12 of {line['different_kernels']}")
            table([("ms", "times", "GB/s", "TFLOP/s", "kernel")] + [
                (row["ms"], row["count"], shown(row["GBps"], "{:.0f}"), shown(row["TFLOPs"], "{:.1f}"), row["name"])
                for row in line["kernels"][:12]], (8, 5, 7, 7, -60))


def summary(lines):
    before = earlier()
    print_steps(lines, before)
    print_figures(lines, before)
    print_profiles(lines)
    failed = [line for line in lines if not line["ok"]]
    print(f"\n== {len(lines)} lines, {len(failed)} failed")
    for line in failed[:25]:
        where = f", library {line['library']}" if "library" in line else ""
        print(f"FAILED {line['part']} {line['item']}{where}: {short(line)}"[:170])
