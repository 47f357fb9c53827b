"""The compiler in this process: parse a program, run its stages, read layouts, and get a weft.Program.

    context = weft.Context()
    module = context.parse(text)                  # Weft's text, or StableHLO: jax.jit(f).lower(x).as_text()
    module.set_mesh("data=2,model=4")
    module.set_layout("x", "[data,-]")
    print(module.clone().reach("sharded"))        # the IR; .values() has the layouts
    print(module.explain()["collectives"])
    y = module.compile()(x, w)                    # NumPy arrays in and out

weft.compile and weft.explain start a process for each program and take models and functions as they are; this module is for
those who read, change or extend the passes between a text and a .weft. A context and its modules may be used from any
thread; calls take place one after the other.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import compiler_abi as abi
from .abi import Error
from .programs import Program


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler."""

    severity: str  #: note, remark, warning, error
    message: str
    place: str  #: the file, or the name of an op or port; "" for none
    line: int  #: from 1; 0 if unknown
    column: int


@dataclasses.dataclass(frozen=True)
class Value:
    """An argument, a result or an inner value of a program."""

    name: str  #: of the port, or of the layer or line; "" for none
    made_by: str  #: "argument", "result", or the op that makes it: "weft.dot"
    shape: tuple[int, ...]  #: of the global value
    dtype: str  #: "float32"
    layout: str  #: "[data,-]+sum(model)"; "" if none is chosen yet


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _options(target: str | None = None, cache_folder: str | os.PathLike | None = None, matmul_precision: str | None = None,
             memory: int = 0, expect: str | Sequence[str] = (), threads: int = 0) -> abi.Options:
    """Makes the struct weft_compile_options."""
    budgets = [expect] if isinstance(expect, str) else list(expect)
    return abi.Options(_encoded(target), None if cache_folder is None else os.fsencode(cache_folder),
                       _encoded(matmul_precision), memory, (ctypes.c_char_p * len(budgets))(*map(_encoded, budgets)),
                       len(budgets), threads)


class Context:
    """Dialects, plug-ins, and the modules that are parsed with them."""

    def __init__(self, on_diagnostic: Callable[[Diagnostic], None] | None = None):
        """on_diagnostic receives each error, warning and note at once. Errors are raised as weft.Error as well."""
        self._library = abi.library()
        self._handle = ctypes.c_void_p(self._library.weft_compiler_create())
        self._lock = threading.RLock()  # a module may be collected during a call
        self._report = abi.DIAGNOSTIC_FN(lambda user, found: on_diagnostic and on_diagnostic(Diagnostic(
            abi.SEVERITIES[found.contents.severity], found.contents.message.decode(errors="replace"),
            found.contents.place.decode(errors="replace"), found.contents.line, found.contents.column)))
        if on_diagnostic:
            self._library.weft_compiler_on_diagnostic(self._handle, self._report, None)
        weakref.finalize(self, self._library.weft_compiler_free, self._handle)

    @property
    def stages(self) -> tuple[str, ...]:
        """imported, differentiated, sharded, ...: in their order."""
        names = []
        while name := self._library.weft_stage_name(len(names)):
            names.append(name.decode())
        return tuple(names)

    @property
    def targets(self) -> str:
        """The known values of target=: "native, cpu:avx512, ..."."""
        return self._library.weft_known_targets().decode()

    def load_plugin(self, path: str | os.PathLike) -> None:
        """Loads a shared library with dialects or passes, linked to weft::WeftPlugin. Its code runs in this process. Raises Error
        for any other file, and in the wheel, whose MLIR is not shared."""
        self._call("weft_compiler_load_plugin", self._handle, os.fsencode(path))

    def parse(self, text: str, *, name: str = "program", function: str | None = None, devices: int = 0) -> Module:
        """The program of a text, at stage imported. name: its file, for messages. For StableHLO: function names the program's
        function, by default the first step or main; devices is the number of devices of a program without a mesh."""
        data = text.encode()
        source = abi.Source(data, len(data), _encoded(name), _encoded(function), devices)
        return self._module("weft_module_parse", self._handle, ctypes.byref(source))

    def _call(self, function: str, *arguments: Any) -> None:
        """Calls a function; raises Error, with the compiler's message, if it fails."""
        with self._lock:
            if getattr(self._library, function)(*arguments):
                message = self._library.weft_compiler_message(self._handle).decode(errors="replace")
                raise Error(message.rstrip("\n").removeprefix("error: "))

    def _module(self, function: str, *arguments: Any) -> Module:
        handle = ctypes.c_void_p()
        self._call(function, *arguments, ctypes.byref(handle))
        return Module(self, handle)

    def _text(self, function: str, *arguments: Any) -> bytes:
        text = abi.Text()
        self._call(function, *arguments, ctypes.byref(text))
        try:
            return ctypes.string_at(text.data, text.size)
        finally:
            self._library.weft_text_free(ctypes.byref(text))


def _free(context: Context, handle: ctypes.c_void_p) -> None:
    """Frees a module, whose context it keeps alive until then."""
    with context._lock:
        context._library.weft_module_free(handle)


class Module:
    """One program at some stage; str() is its IR. Options are target="cpu:avx2", expect=["all_reduce=1"], memory=bytes,
    matmul_precision="tf32", cache_folder=, threads=. A refused call raises weft.Error and changes nothing."""

    def __init__(self, context: Context, handle: ctypes.c_void_p):
        self.context = context
        self._handle = handle
        weakref.finalize(self, _free, context, handle)

    def __str__(self) -> str:
        return self.context._text("weft_module_print", self._handle).decode()

    def __repr__(self) -> str:
        return f"<weft.Module at stage {self.stage}>"

    @property
    def stage(self) -> str:
        """The module's stage. Set it after run_passes, or for a text that is past stage imported."""
        return self.context._library.weft_module_stage(self._handle).decode()

    @stage.setter
    def stage(self, name: str) -> None:
        self.context._call("weft_module_set_stage", self._handle, name.encode())

    def clone(self) -> Module:
        return self.context._module("weft_module_clone", self._handle)

    def reach(self, stage: str, **options: Any) -> Module:
        """Runs the passes up to that stage, in place; returns the module."""
        self.context._call("weft_module_reach", self._handle, stage.encode(), _options(**options))
        return self

    def run_passes(self, pipeline: str) -> Module:
        """Runs passes in place: "builtin.module(weft-propagate-layouts)"; returns the module. The caller sets the
        stage."""
        self.context._call("weft_module_run_passes", self._handle, pipeline.encode())
        return self

    def set_mesh(self, mesh: str) -> None:
        """The mesh of a module without one: "data=2,model=4"."""
        self.context._call("weft_module_set_mesh", self._handle, mesh.encode())

    def set_layout(self, port: str, layout: str | None) -> None:
        """Lays out an argument or result: "[data,-]"; None removes its annotation."""
        self.context._call("weft_module_set_layout", self._handle, port.encode(), _encoded(layout))

    def values(self) -> list[Value]:
        """Arguments, results, and at stage sharded every inner value."""
        found, value = [], abi.Value()
        with self.context._lock:
            while self.context._library.weft_module_value(self._handle, len(found), ctypes.byref(value)) == 0:
                found.append(Value(value.name.decode(), value.made_by.decode(), tuple(value.shape[:value.rank]),
                                   value.dtype.decode(), value.layout.decode()))
        return found

    def explain(self, **options: Any) -> dict[str, Any]:
        """The bytes that the program sends between devices and holds, as of weft explain --json."""
        return json.loads(self.context._text("weft_module_explain", self._handle, _options(**options)))

    def why(self, name: str) -> list[dict[str, Any]]:
        """The reasons for the layouts of the values of that name or line, as of weft explain --why NAME --json."""
        return json.loads(self.context._text("weft_module_why", self._handle, name.encode()))

    def image(self, **options: Any) -> bytes:
        """The bytes of a .weft file."""
        return self.context._text("weft_module_compile", self._handle, _options(**options))

    def compile(self, *, devices: str | None = None, workers: int = 0, **options: Any) -> Program:
        """The program, ready to run. devices, workers: as of weft.Program."""
        return Program(self.image(**options), devices=devices, workers=workers)
