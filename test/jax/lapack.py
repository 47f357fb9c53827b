"""Linear algebra on Weft's devices against JAX's CPU: both call the routines of SciPy's LAPACK, so signs, pivots, orders of
eigenvalues and NaN are the same.

    lapack.py            on one device
    lapack.py sharded    batches over two devices, without communication
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.lax import linalg
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)
TYPES = ("float32", "float64", "complex64", "complex128")
random = np.random.default_rng(5)


def draw(*shape, dtype):
    value = random.normal(size=shape)
    return (value + 1j * random.normal(size=shape) if dtype.startswith("c") else value).astype(dtype)


def dagger(a):
    return np.conj(np.swapaxes(a, -1, -2))


def programs(dtype):
    """Name, function and operands of each program."""
    wide, tall, square = (draw(2, *shape, dtype=dtype) for shape in ((17, 21), (22, 18), (20, 20)))
    hermitian = square + dagger(square)
    definite = square @ dagger(square) + 20 * np.eye(20, dtype=dtype)
    lower = np.tril(square) + 6 * np.eye(20, dtype=dtype)
    sides = draw(2, 20, 3, dtype=dtype)
    for name, a in (("wide", wide), ("tall", tall), ("square", square)):
        yield "lu " + name, linalg.lu, [a]
        yield "svd " + name, lambda a: linalg.svd(a, full_matrices=False), [a]
        yield "full svd " + name, linalg.svd, [a]
        yield "singular values " + name, lambda a: linalg.svd(a, compute_uv=False), [a]
        yield "qr " + name, lambda a: linalg.qr(a, full_matrices=False), [a]
        yield "full qr " + name, linalg.qr, [a]
        yield "pivoted qr " + name, lambda a: linalg.qr(a, full_matrices=False, pivoting=True), [a]
    yield "svd by QR", lambda a: linalg.svd(a, full_matrices=False, algorithm=linalg.SvdAlgorithm.QR), [tall]
    yield "cholesky", linalg.cholesky, [definite]
    yield "eigh", linalg.eigh, [hermitian]
    yield "eigh of the upper triangle", lambda a: linalg.eigh(a, lower=False, symmetrize_input=False), [square]
    yield "eig", linalg.eig, [square]
    yield "eigenvalues", lambda a: linalg.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False), [square]
    yield "right eigenvectors", lambda a: linalg.eig(a, compute_left_eigenvectors=False), [square]
    yield "schur", linalg.schur, [square]
    yield "schur form", lambda a: linalg.schur(a, compute_schur_vectors=False), [square]
    yield "hessenberg", linalg.hessenberg, [square]
    yield "tridiagonal", linalg.tridiagonal, [hermitian]
    yield "upper tridiagonal", lambda a: linalg.tridiagonal(a, lower=False), [hermitian]
    for left in (True, False):
        for is_lower in (True, False):
            for adjoint in (False, True):
                a, b = lower if is_lower else dagger(lower), sides if left else np.swapaxes(sides, -1, -2)
                yield (f"solve {left} {is_lower} {adjoint}", lambda a, b, options=dict(
                    left_side=left, lower=is_lower, transpose_a=adjoint, conjugate_a=adjoint): linalg.triangular_solve(a, b, **options), [a, b])
    yield "transposed, unit diagonal", lambda a, b: linalg.triangular_solve(
        a, b, left_side=True, lower=True, transpose_a=True, unit_diagonal=True), [lower, sides]
    yield "system", jnp.linalg.solve, [square, sides]
    bands = draw(3, 20, dtype=dtype)
    yield "tridiagonal system", lambda *a: linalg.tridiagonal_solve(*a), [bands[0], bands[1] + 4, bands[2], sides[0]]
    # No matrix: JAX has NaN, not an error.
    broken = square.copy()
    broken[1, 2, 3] = np.nan
    indefinite = definite - 80 * np.eye(20, dtype=dtype)
    yield "not definite", linalg.cholesky, [np.stack([definite[0], indefinite[0]])]
    yield "singular lu", linalg.lu, [np.zeros((2, 3, 3), dtype)]
    for name, function in (("eig", linalg.eig), ("qr", linalg.qr), ("lu", linalg.lu), ("cholesky", linalg.cholesky)):
        yield f"{name} of NaN", function, [broken]
    yield "values of NaN", lambda a: linalg.svd(a, compute_uv=False), [broken]
    yield "nothing", linalg.lu, [np.zeros((2, 0, 3), dtype)]


def compare(name, found, wanted):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (name, a.shape, b.shape, a.dtype, b.dtype)
        assert (np.isnan(a) == np.isnan(b)).all(), (name, a, b)
        scale = max(1, float(np.max(np.abs(b), initial=0, where=~np.isnan(b))))
        precision = np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0
        worst = float(np.max(np.abs(a - b), initial=0, where=~np.isnan(b)))
        assert worst <= 200 * precision * scale, (name, worst, precision * scale, a, b)


def check_all():
    cpu = jax.devices("cpu")[0]
    for dtype in TYPES:
        for name, function, operands in programs(dtype):
            lowered = jax.jit(function).lower(*operands)
            assert "custom_call @lapack_" in lowered.as_text(), name
            with jax.default_device(cpu):
                wanted = jax.jit(function)(*(jax.device_put(x, cpu) for x in operands))
            compare(f"{name} of {dtype}", jax.jit(function)(*operands), wanted)
    # Loops, functions that JAX differentiates, and types that LAPACK does not have.
    a = draw(20, 20, dtype="float64")
    a = a @ a.T + 20 * np.eye(20)
    powers = jax.jit(lambda a: lax.fori_loop(0, 3, lambda _, x: linalg.cholesky(x) @ linalg.cholesky(x).T + a, a))(a)
    np.testing.assert_allclose(powers, 4 * a, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(jax.grad(lambda a: jnp.linalg.slogdet(a)[1]))(a), np.linalg.inv(a).T, rtol=1e-10)
    values = jax.jit(lambda a: linalg.eigh(a, subset_by_index=(1, 3))[1])(a)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a)[1:3], rtol=1e-10)
    # A matrix in one task and in many: the batch is shared by workers.
    many = draw(64, 8, 8, dtype="float32")
    compare("many", jax.jit(linalg.lu)(many), jax.vmap(linalg.lu)(many))


def check_sharded():
    mesh = Mesh(np.array(jax.devices()), "x")
    batch, columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, None, "x"))
    for dtype in ("float32", "complex128"):
        a, b = draw(4, 20, 20, dtype=dtype), draw(1, 20, 6, dtype=dtype)
        a = a @ dagger(a) + 20 * np.eye(20, dtype=dtype)
        for function in (linalg.lu, linalg.cholesky, linalg.eigh, linalg.svd):
            compiled = jax.jit(function).lower(jax.device_put(a, batch)).compile()
            assert not any(word in compiled.as_text() for word in ("all-gather", "all-to-all")), compiled.as_text()
            compare("sharded", compiled(jax.device_put(a, batch)), jax.jit(function)(a))
        # The right-hand sides of a system are independent.
        lower = np.linalg.cholesky(a[:1])

        def solve(a, b):
            return linalg.triangular_solve(a, b, left_side=True, lower=True)

        compiled = jax.jit(solve).lower(lower, jax.device_put(b, columns)).compile()
        assert "all-gather" not in compiled.as_text(), compiled.as_text()
        compare("right-hand sides", compiled(lower, jax.device_put(b, columns)), jax.jit(solve)(lower, b))


check_sharded() if sys.argv[1:] == ["sharded"] else check_all()
