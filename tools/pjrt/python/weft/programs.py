"""Compiled programs on NumPy arrays, without a compiler.

    program = weft.load("f.weft")
    y = program(x)                                    # arrays in the order of the inputs
    outputs = program.run({"in/000": x})              # or by name; a dict of arrays

On one device a program reads and writes the arrays' own memory where they are dense and aligned to 64 bytes
(weft.empty), and on several devices arrays are scattered before and gathered after a run.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
import weakref
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import abi, arrays
from .abi import Error


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a program."""

    name: str  #: d1/kernel, x, y, metrics/loss
    role: str  #: weight, state, slot, input, label, sample_weight, output, metric, other, metric_state
    shape: tuple[int, ...]  #: of the global array
    dtype: np.dtype
    layout: str  #: axes of the mesh over which each dimension is split: [-,(data,model)]
    donated: int | None  #: of an input, the output that reuses its memory; of an output, the input; None: neither


def port_of(describe, program, index: int) -> Port:
    """The port that a function of the C interface describes."""
    port = abi.Port()
    abi.check(describe(program, index, ctypes.byref(port)))
    return Port(port.name.decode(), abi.runtime().weft_role_name(port.role).decode(), tuple(port.shape[:port.rank]),
                arrays.numpy_dtype(port.dtype), port.layout.decode(), None if port.donated < 0 else port.donated)


def ports_of(count, describe, program) -> tuple[Port, ...]:
    """All ports that two functions of the C interface count and describe."""
    return tuple(port_of(describe, program, index) for index in range(count(program)))


def pointers(addresses) -> ctypes.Array:
    """Addresses as an argument of the C interface."""
    addresses = list(addresses)
    return (ctypes.c_void_p * max(1, len(addresses)))(*addresses)


def _check_names(names, ports: tuple[Port, ...], kind: str) -> None:
    """Raises Error for a name that is no port's. kind: input or output."""
    known = [port.name for port in ports]
    for name in names:
        if name not in known:
            raise Error(f"{name}: the program has no such {kind}; its {kind}s are {', '.join(known)}")


class Program:
    """A compiled program on devices of its own. Runs of one program take place one after the other, from any thread."""

    def __init__(self, image: str | os.PathLike | bytes, *, devices: str | None = None, workers: int = 0):
        """image: a .weft file of one program, or its bytes. devices: "cpu:8"; as many as the program's mesh has without it.
        workers: threads that the devices share; 0: one for each core. Raises Error where the file is damaged or made for
        another processor."""
        self._runtime = None
        library = abi.runtime()
        if isinstance(image, bytes):
            self._program = abi.handle(library.weft_program_load_memory, image, len(image))
        else:
            self._program = abi.handle(library.weft_program_load, os.fsencode(image))
        weakref.finalize(self, library.weft_program_free, self._program)
        info = abi.ProgramInfo()
        abi.check(library.weft_program_describe(self._program, ctypes.byref(info)))
        self.name: str = info.name.decode()
        self.target: str = info.target.decode()  #: cpu:avx512
        self.mesh: str = info.mesh.decode()  #: "data=2, model=4"; "" for one device
        self.device_count: int = info.device_count
        self.inputs = ports_of(library.weft_program_input_count, library.weft_program_input, self._program)
        self.outputs = ports_of(library.weft_program_output_count, library.weft_program_output, self._program)
        self._devices = devices or f"{self.target.split(':')[0]}:{self.device_count}"
        self._workers = workers
        self._bound: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<weft.Program {self.name}: {len(self.inputs)} inputs, {len(self.outputs)} outputs, {self._devices}>"

    def bind(self, values: Mapping[str, Any], *, copy: bool | None = None) -> None:
        """Keeps values for inputs, such as weights, which runs then need not pass. An input that is donated has the new
        value after each run. copy: as run(). Raises Error for a name that is no input."""
        _check_names(values, self.inputs, "input")
        self._begin_after_fork()
        ports = {port.name: port for port in self.inputs}
        with self._lock:
            for name, value in values.items():
                port = ports[name]
                self._bound[name] = arrays.as_memory(value, name, port.shape, port.dtype, copy, port.donated is not None)

    def bound(self, name: str) -> np.ndarray:
        """The value of an input that bind() was given, after the last run. KeyError where there is none."""
        return self._bound[name]

    def run(self, inputs: Mapping[str, Any], *, outputs: Mapping[str, np.ndarray] | None = None,
            copy: bool | None = None) -> dict[str, np.ndarray]:
        """Runs the program once, on global arrays by the names of its inputs and outputs.

        outputs: arrays to which results are written; results without one are new arrays. Each needs memory of its own.
        copy: None copies inputs that are not dense, aligned memory, and donated ones, which a run overwrites; False raises
        Error instead of a copy; True copies all.
        Raises Error for a name, shape or dtype that the program does not have, and for memory to which the program writes
        and that is given twice.
        """
        in_place = self.device_count == 1 and self.target.startswith("cpu")
        if copy is False and not in_place:
            raise Error(f"the program runs on {self._devices}, so arrays are scattered to devices and gathered from them; "
                        "allow it with copy=None")
        self._begin_after_fork()
        with self._lock:
            memory = self._take_inputs(inputs, copy)
            results = self._take_outputs(outputs or {}, memory)
            arrays.check_apart([(port.name, array, port.donated is not None) for port, array in zip(self.inputs, memory)] +
                               [(port.name, array, True) for port, array in zip(self.outputs, results) if port.donated is None])
            if self._runtime is None:
                self._start()
            if in_place:
                self._run_in_place(memory, results)
            else:
                self._run_scattered(memory, results)
        return {port.name: array for port, array in zip(self.outputs, results)}

    def __call__(self, *values: Any) -> Any:
        """Runs the program on arrays in the order of the inputs that bind() was not given. One output is an array, several
        are a tuple."""
        free = [port.name for port in self.inputs if port.name not in self._bound]
        if len(values) != len(free):
            raise Error(f"the program takes {len(free)} arrays, {', '.join(free)}; {len(values)} were given")
        results = tuple(self.run(dict(zip(free, values))).values())
        return results[0] if len(results) == 1 else results

    def _start(self) -> None:
        library = abi.runtime()
        self._runtime = abi.handle(library.weft_runtime_create, self._devices.encode(), self._workers)
        weakref.finalize(self, library.weft_runtime_free, self._runtime)
        abi.check(library.weft_program_prepare(self._program))

    def _begin_after_fork(self) -> None:
        """Drops the runtime and the lock of a process from which this one was forked: their threads are not in it."""
        if self._process != os.getpid():
            self._process, self._runtime, self._lock = os.getpid(), None, threading.Lock()

    def _take_inputs(self, inputs, copy):
        _check_names(inputs, self.inputs, "input")
        memory = []
        for port in self.inputs:
            if port.name in inputs:
                memory.append(arrays.as_memory(inputs[port.name], port.name, port.shape, port.dtype, copy,
                                               port.donated is not None))
            elif port.name in self._bound:
                memory.append(self._bound[port.name])
            else:
                raise Error(f"{port.name}: the array is missing; give it with shape {port.shape} and dtype {port.dtype}")
        return memory

    def _take_outputs(self, given, memory):
        _check_names(given, self.outputs, "output")
        results = []
        for port in self.outputs:
            if port.donated is not None:
                if port.name in given:
                    raise Error(f"{port.name}: the result reuses the memory of the input "
                                f"{self.inputs[port.donated].name}; leave it out of outputs")
                results.append(memory[port.donated])
            elif port.name in given:
                results.append(arrays.as_memory(given[port.name], port.name, port.shape, port.dtype, False, True))
            else:
                results.append(arrays.empty(port.shape, port.dtype))
        return results

    def _run_in_place(self, memory, results):
        # The address of an array without elements is not used.
        take = [array.ctypes.data for array in memory]
        give = [array.ctypes.data for array in results]
        abi.check(abi.runtime().weft_execute_local(self._runtime, self._program, pointers(take), pointers(give)))

    def _run_scattered(self, memory, results):
        library = abi.runtime()
        buffers: list[ctypes.c_void_p] = []
        try:
            for index, array in enumerate(memory):
                buffers.append(abi.handle(library.weft_input_create, self._runtime, self._program, index))
                abi.check(library.weft_buffer_write(buffers[index], array.ctypes.data, array.nbytes))
            gives = []
            for index, port in enumerate(self.outputs):
                if port.donated is None:
                    buffers.append(abi.handle(library.weft_output_create, self._runtime, self._program, index))
                    gives.append(buffers[-1])
                else:
                    gives.append(buffers[port.donated])
            abi.check(library.weft_execute(self._runtime, self._program, pointers(b.value for b in buffers[:len(memory)]),
                                           pointers(b.value for b in gives)))
            for buffer, array in zip(gives, results):
                abi.check(library.weft_buffer_read(buffer, array.ctypes.data, array.nbytes))
        finally:
            for buffer in buffers:
                library.weft_buffer_free(buffer)


def _choose(path, names, step, batch_size) -> str:
    """The name of a member of an archive of steps: train-32.weft."""
    wanted = [name for name in names if (step is None or name.rpartition("-")[0] == step)
              and (batch_size is None or name.rpartition("-")[2] == f"{batch_size}.weft")]
    if len(wanted) != 1:
        held = ", ".join(name.removesuffix(".weft") for name in names)
        raise Error(f"{path}: holds the steps {held}; choose one with step= and batch_size=")
    return wanted[0]


def load(path: str | os.PathLike, *, step: str | None = None, batch_size: int | None = None, devices: str | None = None,
         workers: int = 0) -> Program:
    """The program of a .weft file. step, batch_size: of a file of several, "predict" and 32. devices, workers: as Program.
    Raises Error where the file has no such step or is damaged, OSError where it cannot be read."""
    with open(path, "rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    if not is_archive:
        return Program(path, devices=devices, workers=workers)
    with zipfile.ZipFile(path) as archive:
        image = archive.read(_choose(path, archive.namelist(), step, batch_size))
    return Program(image, devices=devices, workers=workers)
