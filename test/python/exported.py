"""Checks predictions of a function that jax.export wrote with a symbolic batch dimension, for any number of samples.

    exported.py SCRATCH write | read
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import weft

scratch = pathlib.Path(sys.argv[1])
scratch.mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(2)
parameters = {"first": {"kernel": random.normal(size=(4, 6)).astype("float32"), "bias": np.ones(6, "float32")},
              "second": random.normal(size=(6, 3)).astype("float32")}
x = random.normal(size=(11, 4)).astype("float32")


def function(parameters, x):
    hidden = jnp.tanh(x @ parameters["first"]["kernel"] + parameters["first"]["bias"])
    scores = hidden.reshape(x.shape[0], -1) @ parameters["second"]
    return scores - scores.max(axis=1, keepdims=True)


def written(name, shape):
    (batch, *rest) = jax.export.symbolic_shape(shape)
    symbolic = jax.ShapeDtypeStruct((batch, *rest), "float32")
    shapes = jax.tree.map(lambda value: jax.ShapeDtypeStruct(value.shape, value.dtype), parameters)
    (scratch / name).write_bytes(jax.export.export(jax.jit(function))(shapes, symbolic).serialize())


if sys.argv[2] == "write":
    written("f.jax", "b, 4")
    still = jax.export.export(jax.jit(function))(parameters, x)
    (scratch / "still.jax").write_bytes(still.serialize())
    (scratch / "no.jax").write_bytes(b"nothing")
    for name, shape in (("behind", "4, b"), ("two", "b, c")):
        symbolic = jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape), "float32")
        (scratch / f"{name}.jax").write_bytes(jax.export.export(jax.jit(lambda x: x * 2))(symbolic).serialize())
    np.savez(scratch / "w.npz", **{"first/kernel": parameters["first"]["kernel"], "first/bias": parameters["first"]["bias"],
                                   "second": parameters["second"]})
else:
    model = weft.Model(scratch / "f.weft", weights=scratch / "w.npz")
    assert model.batch_sizes == (2, 8), model
    np.testing.assert_allclose(model.predict(x), function(parameters, x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.predict(x[:1]), function(parameters, x[:1]), rtol=1e-5, atol=1e-5)
    print("the exported function predicts")
