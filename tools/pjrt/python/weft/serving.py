"""A model's predictions, by the C interface of weft/runtime/abi/serving.h.

    model = weft.Model("predict.weft", weights="model.keras")
    scores = model.predict(images)                     # any number of samples
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import abi, arrays, libraries
from .abi import Error
from .programs import Port, pointers, ports_of

_POINTER, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_POINTERS = ctypes.POINTER(ctypes.c_void_p)
_FUNCTIONS = {
    "weft_model_open": (_POINTER, [_TEXT, _TEXT, _TEXT, _POINTERS]),
    "weft_model_free": (None, [_POINTER]),
    "weft_model_batch_sizes": (_SIZE, [_POINTER, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))]),
    "weft_model_input_count": (_SIZE, [_POINTER]),
    "weft_model_output_count": (_SIZE, [_POINTER]),
    "weft_model_input": (_POINTER, [_POINTER, _SIZE, ctypes.POINTER(abi.Port)]),
    "weft_model_output": (_POINTER, [_POINTER, _SIZE, ctypes.POINTER(abi.Port)]),
    "weft_model_predict": (_POINTER, [_POINTER, _POINTERS, ctypes.c_int64, _POINTERS]),
}


@functools.cache
def _library() -> ctypes.CDLL:
    abi.runtime()  # first, as the library depends on it
    return abi.declare(ctypes.CDLL(str(libraries.find("lib/libWeftServing.so.0"))), _FUNCTIONS)


class Model:
    """The predict steps of a .weft file, for one or several batch sizes, with the model's weights on devices.

    Any number of samples runs in the batch sizes that there are: the largest that the remaining samples fill first. Fewer
    than the smallest size are padded to it by copies of the last sample, whose results are dropped.
    """

    def __init__(self, steps: str | os.PathLike, *, weights: str | os.PathLike | None = None, devices: str | None = None):
        """steps: a file of `weft compile --step predict --batch-size 1,8,32`. weights: .keras, .weights.h5 or .npz; the
        model's initial values without it. devices: "cpu:8"; as many as the steps need without it.
        Raises Error where a file cannot be read or the two do not fit."""
        library = _library()
        self._model = abi.handle(library.weft_model_open, os.fsencode(steps), os.fsencode(weights) if weights else None,
                                 devices.encode() if devices else None)
        weakref.finalize(self, library.weft_model_free, self._model)
        sizes = ctypes.POINTER(ctypes.c_int64)()
        count = library.weft_model_batch_sizes(self._model, ctypes.byref(sizes))
        self.batch_sizes: tuple[int, ...] = tuple(sizes[:count])  #: in ascending order
        self.inputs = ports_of(library.weft_model_input_count, library.weft_model_input, self._model)
        self.outputs = ports_of(library.weft_model_output_count, library.weft_model_output, self._model)
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<weft.Model of batch sizes {', '.join(map(str, self.batch_sizes))}>"

    def predict(self, x: Any) -> Any:
        """The outputs for all samples: x is an array, or a dict of arrays by the names of the inputs. Their first dimension
        counts the samples. Numbers are converted to the inputs' dtypes. One output is an array, several are a dict.
        Raises Error for a name or shape that the model does not have."""
        values = self._by_name(x)
        columns = [self._column(values[port.name], port) for port in self.inputs]
        counts = {port.name: len(column) for port, column in zip(self.inputs, columns)}
        if len(set(counts.values())) > 1:
            raise Error(f"the inputs have different numbers of samples: {counts}; give as many of each")
        samples = len(columns[0])
        if self._process != os.getpid():
            raise Error(f"the model was opened in process {self._process}, from which this one ({os.getpid()}) was forked without "
                        "its threads; open the model after the fork, or start processes with spawn")
        results = [arrays.empty((samples, *port.shape[1:]), port.dtype) for port in self.outputs]
        with self._lock:
            take, give = (pointers(array.ctypes.data for array in of) for of in (columns, results))
            abi.check(_library().weft_model_predict(self._model, take, samples, give))
        named = {port.name: array for port, array in zip(self.outputs, results)}
        return results[0] if len(results) == 1 else named

    def _by_name(self, x) -> Mapping[str, Any]:
        names = [port.name for port in self.inputs]
        if not isinstance(x, Mapping):
            if len(names) != 1:
                raise Error(f"the model has the inputs {', '.join(names)}; give a dict of arrays by these names")
            return {names[0]: x}
        if set(x) != set(names):
            raise Error(f"the model has the inputs {', '.join(names)}, not {', '.join(map(str, x))}; name each of them")
        return x

    def _column(self, value, port: Port) -> np.ndarray:
        array = np.asarray(value)
        if array.shape[1:] != port.shape[1:] or array.ndim != len(port.shape) or not len(array):
            raise Error(f"{port.name}: the array has shape {array.shape}, the model takes (samples, "
                        f"{', '.join(map(str, port.shape[1:]))}), at least one sample; reshape it")
        return np.ascontiguousarray(array, dtype=port.dtype)
