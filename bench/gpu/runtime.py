"""Weft's C interface from Python: a program with its buffers, on a runtime of this process.

    weft = Weft()
    with opened(weft, "programs/mlp.weft", "cuda:1") as program:
        program.bind(arrays)
        program.run()
        program.result(0)
"""

import contextlib
import ctypes
import os
import pathlib
import time

import numpy as np

import inputs

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")  # weft_dtype


class Error(Exception):
    pass


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_int), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_uint64), ("device_bytes", ctypes.c_uint64),
                ("layout", ctypes.c_char_p), ("donated", ctypes.c_int64)]


class ProgramInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("target", ctypes.c_char_p), ("mesh", ctypes.c_char_p),
                *((name, ctypes.c_uint64) for name in ("devices", "arena_bytes", "input_bytes", "output_bytes", "constant_bytes",
                                                       "code_bytes", "kernels", "launches", "collectives"))]


class Instruction(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char_p), ("name", ctypes.c_char_p), ("bytes", ctypes.c_uint64), ("operations", ctypes.c_double)]


class Time(ctypes.Structure):
    _fields_ = [("instruction", ctypes.c_uint32), ("position", ctypes.c_int64), ("begin", ctypes.c_uint64), ("end", ctypes.c_uint64)]


class Gpu(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("memory", ctypes.c_uint64), ("capability", ctypes.c_int32), ("why_not", ctypes.c_char_p),
                ("number", ctypes.c_int32)]


class Library(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "version", "path", "why_not", "limit")]


class GpuList(ctypes.Structure):
    _fields_ = [("gpus", ctypes.POINTER(Gpu)), ("count", ctypes.c_size_t), ("driver_version", ctypes.c_int32),
                ("driver", ctypes.c_char_p)]


class Weft:
    """The functions of libWeftRuntime.so.0; those that return an error raise it."""

    COUNTS = ("weft_program_input_count", "weft_program_output_count", "weft_program_instruction_count", "weft_profile_times",
              "weft_gpu_notes")

    def __init__(self, folder=HERE / "lib"):
        self.library = ctypes.CDLL(str(folder / "libWeftRuntime.so.0"))
        self.library.weft_error_message.restype = ctypes.c_char_p
        self.library.weft_error_message.argtypes = self.library.weft_error_free.argtypes = [ctypes.c_void_p]
        for name in self.COUNTS:
            getattr(self.library, name).restype = ctypes.c_size_t

    def __getattr__(self, name):
        function = getattr(self.library, f"weft_{name}")
        if f"weft_{name}" in self.COUNTS:
            return function
        function.restype = ctypes.c_void_p

        def call(*arguments):
            error = function(*arguments)
            if error:
                self.raise_error(error)
        return call

    def raise_error(self, error):
        message = self.library.weft_error_message(error).decode(errors="replace")
        self.library.weft_error_free(error)
        raise Error(message)

    def free(self, kind, handle):
        function = getattr(self.library, f"weft_{kind}_free")
        function.restype, function.argtypes = None, [ctypes.c_void_p]
        function(handle)

    def made(self, name, *arguments):
        """The object that a function returns by its last parameter."""
        out = ctypes.c_void_p()
        getattr(self, name)(*arguments, ctypes.byref(out))
        return out


class Program:
    """A .weft file on a runtime, with buffers for all ports; donated state goes from run to run."""

    def __init__(self, weft, runtime, file):
        begin = time.perf_counter()
        self.weft, self.runtime, self.buffers, self.execute = weft, runtime, [], weft.library.weft_execute
        self.execute.restype = ctypes.c_void_p
        self.handle = weft.made("program_load", os.fsencode(file))
        weft.program_prepare(self.handle)
        self.info = ProgramInfo()
        weft.program_describe(self.handle, ctypes.byref(self.info))
        self.inputs, self.outputs = self._ports("input"), self._ports("output")
        self.load_ms = 1e3 * (time.perf_counter() - begin)

    def _ports(self, kind):
        ports = []
        for number in range(getattr(self.weft, f"program_{kind}_count")(self.handle)):
            port = Port()
            getattr(self.weft, f"program_{kind}")(self.handle, ctypes.c_size_t(number), ctypes.byref(port))
            ports.append(port)
        return ports

    @staticmethod
    def shape(port):
        return tuple(port.shape[:port.rank])

    def bind(self, arrays):
        """Writes the inputs, and makes buffers for results."""
        if not self.buffers:
            self.takes = [self._buffer("input", number) for number in range(len(self.inputs))]
            self.gives = [self.takes[port.donated] if port.donated >= 0 else self._buffer("output", number)
                          for number, port in enumerate(self.outputs)]
            self.take = (ctypes.c_void_p * max(1, len(self.takes)))(*(buffer.value for buffer in self.takes))
            self.give = (ctypes.c_void_p * max(1, len(self.gives)))(*(buffer.value for buffer in self.gives))
        for buffer, array in zip(self.takes, arrays, strict=True):
            array = np.ascontiguousarray(array)
            self.weft.buffer_write(buffer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))

    def _buffer(self, kind, number):
        self.buffers.append(self.weft.made(f"{kind}_create", self.runtime, self.handle, ctypes.c_size_t(number)))
        return self.buffers[-1]

    def run(self):
        error = self.execute(self.runtime, self.handle, self.take, self.give)  # few words, as this is timed
        if error:
            self.weft.raise_error(error)

    def result(self, number):
        port = self.outputs[number]
        array = np.empty(self.shape(port), inputs.HELD[KINDS[port.dtype]])
        self.weft.buffer_read(self.gives[number], array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        return array

    def profiled(self):
        """[(instruction, device, ns)] of one run, and the ns from the first begin to the last end of a device; each has a clock."""
        made, times = ctypes.c_void_p(), ctypes.POINTER(Time)()
        self.weft.execute_profiled(self.runtime, self.handle, self.take, self.give, ctypes.byref(made))
        count = self.weft.profile_times(made, ctypes.byref(times))
        found = [(times[i].instruction, times[i].position, times[i].end - times[i].begin) for i in range(count)]
        spans = {}
        for i in range(count):
            begin, end = spans.get(times[i].position, (times[i].begin, times[i].end))
            spans[times[i].position] = min(begin, times[i].begin), max(end, times[i].end)
        self.weft.free("profile", made)
        return found, max((end - begin for begin, end in spans.values()), default=0)

    def instruction(self, number):
        its = Instruction()
        self.weft.program_instruction(self.handle, ctypes.c_size_t(number), ctypes.byref(its))
        return its

    def close(self):
        for buffer in self.buffers:
            self.weft.free("buffer", buffer)
        self.buffers = []
        self.weft.free("program", self.handle)


def ports_of(program):
    return [(program.shape(port), KINDS[port.dtype]) for port in program.inputs]


def notes_of(weft, runtime):
    """Why programs of the runtime ran their own code where a library could compute."""
    texts = ctypes.POINTER(ctypes.c_char_p)()
    count = weft.gpu_notes(runtime, ctypes.byref(texts))
    return [text.decode() for text in texts[:count]]


_runtimes = {}  # by devices: GPUs are opened once in a process


def runtime_of(weft, devices):
    if devices not in _runtimes:
        _runtimes[devices] = weft.made("runtime_create", devices.encode(), 0)
    return _runtimes[devices]


def free_runtimes(weft):
    for runtime in _runtimes.values():
        weft.free("runtime", runtime)
    _runtimes.clear()


@contextlib.contextmanager
def opened(weft, file, devices):
    program = Program(weft, runtime_of(weft, devices), file)
    try:
        yield program
    finally:
        program.close()
