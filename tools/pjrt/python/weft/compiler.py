"""weft.compile and weft.explain: the command line on functions, Keras models and files.

The compiler runs in a process of its own, `weft`: it needs no MLIR in this one, and can be interrupted.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from .abi import Error
from .command import run
from .programs import Program, load
from .serving import Model


def _is_keras(source: Any) -> bool:
    return hasattr(source, "get_config") and hasattr(source, "save") and hasattr(source, "layers")


def _text_of(function: Any, arguments: tuple) -> str:
    """A function as StableHLO, with a parameter for each array of its arguments. It is lowered for Weft's devices, whichever
    JAX's platforms are: linear algebra is a part of the program, and no call of a library."""
    if not hasattr(function, "as_text"):  # the result of jax.jit(f).lower(...) has it
        import jax
        from jax._src.interpreters import mlir
        from jax_plugins.weft import lowerings, tables

        if not hasattr(function, "trace"):
            function = jax.jit(function, keep_unused=True)
        jax.local_device_count()  # makes JAX know the platforms of its plugins
        lowerings.register()
        tables.let_donate()
        into_file = mlir.LoweringParameters(for_export=True, export_ignore_forward_compatibility=True)
        try:
            function = function.trace(*arguments).lower(lowering_platforms=("weft",), _private_parameters=into_file)
        except NotImplementedError as error:
            raise Error(str(error)) from error
    elif arguments:
        raise Error("a lowered function has its arguments; give none")
    return function.as_text(debug_info=True)  # with the lines of the script, which explanations name


@contextlib.contextmanager
def _file_of(source: Any, arguments: tuple) -> Iterator[tuple[str, pathlib.Path]]:
    """A file that weft reads, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="weft-") as scratch:
        folder = pathlib.Path(scratch)
        if isinstance(source, (str, os.PathLike)):
            if arguments:
                raise Error(f"{os.fspath(source)}: a file takes no arguments here; leave them out")
            yield os.fspath(source), folder
        elif _is_keras(source):
            if arguments:
                raise Error("a Keras model is compiled for its inputs; give batch_size= and no arguments")
            source.save(folder / "model.keras")
            yield str(folder / "model.keras"), folder
        elif callable(source) or hasattr(source, "as_text"):
            name = getattr(source, "__name__", "function")
            path = folder / (name if name.isidentifier() else "function")
            path = path.with_suffix(".mlir")
            path.write_text(_text_of(source, arguments), encoding="utf-8")
            yield str(path), folder
        else:
            raise Error(f"{type(source).__name__}: is no function, Keras model or path of a file; give one of them")


def _flags(options: dict[str, Any]) -> list[str]:
    """Converts batch_size=32 to --batch-size 32; lists are repeated flags; callers write dicts to JSON files."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                flags.append(flag)
            elif item is not None and item is not False:
                flags.append(f"{flag}={item}")
    return flags


class Explanation:
    """The communication of a program, with its reasons and costs: print it, or let a notebook show it as a page."""

    def __init__(self, text: str, page: str, data: dict[str, Any]):
        self.text = text  #: the output of `weft explain`
        self.html = page  #: a page of its own, without a network
        self.data = data  #: `weft explain --json`

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # The page is in a frame, as it has its own styles and script.
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


def explain(source: Any, *arguments: Any, **options: Any) -> Explanation:
    """Explains communication and memory of the compiled program of a function of JAX (jitted, lowered or plain) on these
    arguments, of a Keras model, or of a file (.keras, .json, .mlir, .weft).

    options are the flags of `weft explain`: batch_size=128, devices="cpu:8", distribution="dist.json", step="predict",
    expect=["all_reduce=0"]. Raises Error with weft's message.
    """
    with _file_of(source, arguments) as (path, folder):
        flags = _flags(options)
        page = folder / "page.html"
        if path.endswith(".weft"):  # a .weft file has no page
            return Explanation(run("explain", path, *flags), "", json.loads(run("explain", path, "--json", *flags)))
        text = run("explain", path, "--html", page, *flags)
        return Explanation(text, page.read_text(encoding="utf-8"), json.loads(run("explain", path, "--json", *flags)))


def compile(source: Any, *arguments: Any, out: str | os.PathLike | None = None, **options: Any) -> Program | Model:
    """A function of JAX compiled for arrays like these arguments, or a Keras model's predict step, for a mesh of devices.

    Of a function: a weft.Program, which takes arrays in the order of the function's flattened arguments. Of a Keras model:
    a weft.Model with the model's weights, for one batch size or several (batch_size=[1, 8, 32]; 32 without it).
    out: keeps the .weft file there. options are the flags of `weft compile`: devices="cpu:8", distribution="dist.json",
    target="cpu:avx2". Raises Error with weft's message.
    """
    with _file_of(source, arguments) as (path, folder):
        file = os.fspath(out) if out is not None else str(folder / "program.weft")
        if not _is_keras(source):
            run("compile", path, "--out", file, *_flags(options))
            return load(file)
        sizes = options.pop("batch_size", 32)
        sizes = ",".join(map(str, sizes if isinstance(sizes, (list, tuple)) else [sizes]))
        run("compile", path, "--out", file, *_flags({"step": "predict", "batch_size": sizes} | options))
        return Model(file, weights=path)
