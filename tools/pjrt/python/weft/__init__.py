"""Weft in Python: compile, explain and run programs for a mesh of devices.

    import weft

    print(weft.explain(step, params, batch))        # a function, jitted or not; bytes sent and held
    program = weft.compile(step, params, batch)     # weft.Program
    new_params, loss = program(params, batch)       # NumPy arrays in and out

    program = weft.load("step.weft")                # a file of `weft compile`; no compiler is loaded
    model = weft.Model("predict.weft", weights="model.keras", devices="cpu:1")
    y = model.predict(x)

    module = weft.Context().parse(text)             # the compiler in this process: stages, layouts, plug-ins

`python -m weft.trace` writes the steps of a Keras model as StableHLO, `weft.dtensor` has DTensor's vocabulary, and
`JAX_PLATFORMS=weft` runs whole scripts. docs/python.md has all of it.
"""

import importlib

_HOME = {"load": "programs", "Program": "programs", "Port": "programs", "Error": "abi", "empty": "arrays",
         "Context": "context", "Module": "context",
         "compile": "compiler", "explain": "compiler", "Explanation": "compiler", "Model": "serving"}
__all__ = [*_HOME, "__version__"]


def __getattr__(name):
    # The attribute is imported on first use, as the command `weft` imports this package and needs none of it.
    if name == "__version__":
        return importlib.import_module(".abi", __name__).version()
    if name not in _HOME:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)


def __dir__():
    return sorted(__all__)
