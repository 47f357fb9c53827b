"""Programs drawn at random, and the bytes that XLA and Weft send for each: what the surveys in this folder share.

    parser = arguments(__doc__, count=100)
    survey(parser.parse_args(), draw)          # draw(chance) -> (lowered program, its description)

Bytes are those that one device sends by the ring formula, XLA's from its HLO (hlo_traffic.py), Weft's as `weft explain` counts
them; nothing runs. XLA compiles a program while Weft does. Programs are numbered from 0, and a number draws the same program
whatever the count.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=8", TF_CPP_MIN_LOG_LEVEL="3")

import hlo_traffic
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

DEVICES = 8
MESHES = [{"a": 8}, {"a": 4, "b": 2}, {"a": 2, "b": 4}]


def draw_mesh(chance):
    axes = chance.choice(MESHES)
    return Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))


def draw_layout(chance, mesh, shape, often=0.7):
    """A random layout: in `often` of the cases, each axis shards some dimension whose shards stay equal."""
    dims, left = [()] * len(shape), list(shape)
    for axis, size in chance.sample(list(mesh.shape.items()), len(mesh.shape)):
        fits = [dim for dim, rest in enumerate(left) if rest % size == 0]
        if fits and chance.random() < often:
            dim = chance.choice(fits)
            dims[dim] += (axis,)
            left[dim] //= size
    return NamedSharding(mesh, PartitionSpec(*(dim or None for dim in dims)))


def arguments(doc, count):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="build/bin/weft")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--only", type=int, nargs="+", help="the numbers of the programs to compile, of all")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the programs that send more on Weft")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser


def bytes_of_weft(weft, lowered):
    """A child that prints `weft explain`'s report of a program."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
        file.write(lowered.as_text())
    return file.name, subprocess.Popen([weft, "explain", file.name, "--json", "--fix-seconds", "0"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def compare(options, draw, seed, number):
    """Prints what a device sends in a program, as JSON."""
    lowered, what = draw(random.Random(f"{seed} {number}"))
    name, explain = bytes_of_weft(options.weft, lowered)
    print(json.dumps({"number": number, "what": what}), flush=True)
    xla = hlo_traffic.bytes_in_rounds(lowered.compile().as_text(), DEVICES)
    out, error = explain.communicate()
    file = pathlib.Path(name)
    text = file.read_text()
    file.unlink()
    if explain.returncode:
        raise RuntimeError(f"weft explain: {error}")
    weft = json.loads(out)["total"]["bytes"]
    print(json.dumps({"number": number, "xla": xla, "weft": weft}), flush=True)
    if options.keep and weft > xla:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{seed}-{number}.mlir").write_text(text)


def results_of(seed, numbers):
    """Yields (number, description, XLA's bytes, Weft's) from children, as a program at which XLA aborts ends its process;
    its bytes are None."""
    while numbers:
        command = [sys.executable, *sys.argv, "--child", "--seed", str(seed), "--only", *map(str, numbers)]
        what = None
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            for line in child.stdout:
                found = json.loads(line)
                if what := found.get("what", what) if "xla" not in found else what:
                    at = found["number"]
                if "xla" in found:
                    yield at, what, found["xla"], found["weft"]
                    numbers, what = numbers[1:], None
            error = child.stderr.read()
        if not numbers:
            return
        if child.returncode >= 0 or what is None:
            sys.exit(f"seed {seed}, program {numbers[0]}: {error[-2000:]}")
        yield numbers[0], what, None, None
        numbers = numbers[1:]


def survey(options, draw):
    """Prints a line for each program that sends more on Weft, and the sums; exits with 1 if there is one."""
    if options.child:
        for number in options.only:
            compare(options, draw, options.seed[0], number)
        return False
    found, aborted = [], 0
    for seed in options.seed:
        for number, what, xla, weft in results_of(seed, options.only or list(range(options.count))):
            aborted += xla is None
            if xla is None:
                continue
            found.append((xla, weft))
            if weft > xla:
                print(f"seed {seed}, {number}: XLA {xla:,}, Weft {weft:,}: {what}", flush=True)
    ratios = [(weft + 1) / (xla + 1) for xla, weft in found]
    more = sum(weft > xla for xla, weft in found)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    sums = [sum(column) for column in zip(*found, strict=True)]
    print(f"seeds {options.seed}: {len(found)} programs (at {aborted} more XLA aborts); XLA sends {sums[0]:,} bytes, Weft {sums[1]:,}, "
          f"{mean:.2f} of XLA's in the geometric mean; more in {more}, at most {max(ratios):.2f} of XLA's")
    return bool(more)
