"""Keras' own train, evaluate and predict steps of a model, as one StableHLO file that weft takes.

    python -m weft.trace model.keras --batch-size 32 -o step.mlir
    weft fit step.mlir --weights model.keras --data mnist.npz

Keras on JAX's CPU traces the steps of fit, evaluate and predict: any layer, loss, metric and optimizer that it has, and
those that --import defines. Nothing is trained here, and no device of Weft is used.
"""

import argparse
import json
import math
import os
import pathlib
import sys

from .refusal import Refusal

EXAMPLES = """examples:
  python -m weft.trace model.keras --batch-size 32 -o step.mlir
  python -m weft.trace model.json --distribution dist.json --seed 1337 -o step.mlir
  python -m weft.trace model.json --batch-size 32 --batch-size 4 -o step.mlir   (100 samples: 3 of 32, 1 of 4)
  python -m weft.trace f.jax --batch-size 1 --batch-size 8 -o predict.mlir      (a function of jax.export)
  python -m weft.trace model.keras --import layers.py --input tokens=128:int32 -o step.mlir
then:
  weft fit step.mlir --weights model.keras --data mnist.npz --save trained.keras
  weft compile step.mlir -o step.weft        and, without a compiler:  weft fit step.weft --weights ...
"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m weft.trace", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="model.keras, or model.json of model.to_json(); or a function that jax.export "
                        "serialized with a symbolic batch dimension")
    parser.add_argument("-o", "--out", required=True, metavar="STEP.mlir")
    parser.add_argument("--batch-size", type=int, action="append", metavar="N",
                        help="samples in a step (32); repeated: steps for a short last batch, too")
    parser.add_argument("--distribution", metavar="FILE.json", help="DataParallel or ModelParallel, as weft takes it")
    parser.add_argument("--seed", type=int, help="as keras.utils.set_random_seed (default: drawn, printed)")
    parser.add_argument("--sample-weight", action="store_true", help="steps take a weight for each sample")
    parser.add_argument("--optimizer", help="a Keras name or JSON, instead of the model's")
    parser.add_argument("--loss", help="a Keras name or JSON, instead of the model's")
    parser.add_argument("--metrics", help="Keras names, comma-separated, or a JSON list, instead of the model's")
    parser.add_argument("--input", action="append", default=[], metavar="[NAME=]SHAPE[:DTYPE]",
                        help="of a sample, 28x28 or 128:int32, where the model leaves it open; repeated")
    parser.add_argument("--label", action="append", default=[], metavar="[NAME=]SHAPE[:DTYPE]",
                        help="of a sample, where it is not that of the output; repeated")
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="MODULE",
                        help="a module, or file.py, that registers custom objects; repeated")
    parser.add_argument("--unsafe", action="store_true", help="run the Python code that a .keras file holds (Lambda)")
    options = parser.parse_args(arguments)
    options.batch_size = options.batch_size or [32]
    for size in options.batch_size:
        if size < 1:
            parser.error(f"--batch-size {size}: give the samples of a step")
    if len(set(options.batch_size)) != len(options.batch_size):
        parser.error(f"--batch-size: {options.batch_size} names a size twice")
    return options


def read_distribution(path):
    """The file's class name and config; None without one."""
    if not path:
        return None
    try:
        spec = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        shape = spec["config"]["device_mesh"]["shape"]
        math.prod(shape)
    except OSError as error:
        raise Refusal(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{path}: is no distribution ({type(error).__name__}: {error}); write class_name and config "
                      "with device_mesh, as docs/keras-trace.md shows") from None
    return spec


def prepare_jax(device_count):
    """Gives JAX's own CPU as many devices as the mesh has; call it before JAX is imported."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["KERAS_BACKEND"] = "jax"
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={device_count}".strip()


def write(path, text):
    """Writes the whole file or nothing."""
    target = pathlib.Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Refusal(f"{path}: cannot be written: {error.strerror}; check the folder") from None


def trace(options):
    spec = read_distribution(options.distribution)
    prepare_jax(math.prod(spec["config"]["device_mesh"]["shape"]) if spec else 1)
    if not options.model.endswith((".keras", ".json")):
        from . import exported

        return write(options.out, exported.trace_exported(options))
    from . import models, program

    model = models.load(options, spec)
    write(options.out, program.trace_steps(model, options))


def main(arguments=None):
    options = parse(arguments)
    try:
        trace(options)
    except Refusal as refusal:
        print(f"weft.trace: error: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
