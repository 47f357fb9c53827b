"""QR, eigenvalues and singular values on a Weft device, against NumPy's (LAPACK): by LAPACK, and with WEFT_LAPACK_LIBRARIES=none by
Weft's own programs."""

import os

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

BY_LAPACK = os.environ.get("WEFT_LAPACK_LIBRARIES") != "none"
random = np.random.default_rng(3)


def draw(*shape, dtype=np.float32):
    value = random.normal(size=shape)
    return (value + 1j * random.normal(size=shape) if dtype == np.complex64 else value).astype(dtype)


def near(name, found, expected, tolerance=1e-5):
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    difference = float(np.max(np.abs(np.asarray(found) - expected), initial=0))
    assert difference <= tolerance * scale, (name, difference, scale)


def dagger(a):
    return np.conj(np.swapaxes(np.asarray(a), -1, -2))


def unitary(name, q):
    near(name, dagger(q) @ np.asarray(q), np.eye(q.shape[-1]))


def check_qr(a):
    for mode in ("reduced", "complete"):
        q, r = jnp.linalg.qr(a, mode=mode)
        expected = np.linalg.qr(a, mode=mode)
        near("r with LAPACK's signs", r, expected[1])
        near("q with LAPACK's signs", q[..., :, :r.shape[-1]], expected[0][..., :, :r.shape[-1]])
        unitary("q", q)
        near("q r", np.asarray(q) @ np.asarray(r), a)


def check_svd(a):
    s0 = np.linalg.svd(a, compute_uv=False)
    near("s alone", jnp.linalg.svd(a, compute_uv=False), s0)
    for full in (False, True):
        u, s, vh = jnp.linalg.svd(a, full_matrices=full)
        near("s", s, s0)
        k = s.shape[-1]
        near("u s vh", (np.asarray(u)[..., :k] * np.asarray(s)[..., None, :]) @ np.asarray(vh)[..., :k, :], a)
        unitary("u", u)
        unitary("v", dagger(vh))


def check_eigh(a):
    a = a + dagger(a)
    values, vectors = jnp.linalg.eigh(a)
    near("values", values, np.linalg.eigvalsh(a))
    near("a v", a @ np.asarray(vectors), np.asarray(vectors) * np.asarray(values)[..., None, :])
    unitary("vectors", vectors)


def check_general(a):
    """Checks decompositions that LAPACK alone computes."""
    n = a.shape[-1]
    w, vr = (np.asarray(x) for x in jnp.linalg.eig(a))
    near("a vr", a @ vr, vr * w[..., None, :])
    t, z = (np.asarray(x) for x in jax.jit(lambda a: lax.linalg.schur(a))(a))
    near("z t z^h", z @ t @ dagger(z), a)
    unitary("z", z)
    h, taus = (np.asarray(x) for x in lax.linalg.hessenberg(a))
    assert taus.shape == (*a.shape[:-2], n - 1)
    near("trace of h", np.trace(h, axis1=-2, axis2=-1), np.trace(a, axis1=-2, axis2=-1))
    symmetric = a + dagger(a)
    _, d, e, _ = (np.asarray(x) for x in lax.linalg.tridiagonal(symmetric))
    if a.ndim == 2:
        band = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
        near("eigenvalues", np.linalg.eigvalsh(band), np.linalg.eigvalsh(symmetric))


if BY_LAPACK:
    for dtype in (np.float32, np.complex64):
        check_general(draw(5, 5, dtype=dtype))
        check_general(draw(2, 4, 4, dtype=dtype))
        left, right = lax.linalg.eig(draw(3, 3, dtype=dtype))[1:]
        assert left.shape == right.shape == (3, 3)
    assert np.isnan(np.asarray(jnp.linalg.eigvals(np.full((2, 2), np.inf, np.float32)))).all()
else:
    try:
        lax.linalg.schur(draw(3, 3))
        raise AssertionError("schur has a program")
    except NotImplementedError as error:
        assert "schur needs LAPACK, and WEFT_LAPACK_LIBRARIES is none; unset it" in str(error), error
for dtype in (np.float32, np.complex64):
    for shape in ((5, 3), (2, 3, 4)):
        check_qr(draw(*shape, dtype=dtype))
        check_svd(draw(*shape, dtype=dtype))
    check_eigh(draw(2, 5, 5, dtype=dtype))
check_eigh(np.diag([3.0, 1, 2]).astype(np.float32))
check_svd(np.ones((6, 4), np.float32))
check_svd(np.zeros((3, 3), np.float32))
near("large", jnp.linalg.qr(np.full((3, 2), 1e30, np.float32))[1], np.linalg.qr(np.full((3, 2), 1e30))[1])
values = np.asarray(jnp.linalg.eigvalsh(np.array([[np.nan, 0], [0, 1]], np.float32)))
assert np.isnan(values).any() if BY_LAPACK else np.isnan(values).all()  # LAPACK's are [nan, 1], on JAX's CPU, too

# Functions that use decompositions, and derivatives.
a = draw(6, 4)
near("pinv", jnp.linalg.pinv(a), np.linalg.pinv(a))
near("lstsq", jnp.linalg.lstsq(a, a[:, 0])[0], np.linalg.lstsq(a, a[:, 0], rcond=None)[0])
near("rank", jnp.linalg.matrix_rank(np.ones((4, 3), np.float32)), 1)
near("norm", jnp.linalg.norm(a, "nuc"), np.linalg.norm(a, "nuc"))
near("det", jnp.linalg.det(a[:4]), np.linalg.det(a[:4]))
near("pivoted", np.abs(jax.scipy.linalg.qr(a, pivoting=True)[1][0, 0]), np.linalg.norm(a, axis=0).max())
gradient = jax.grad(lambda a: jnp.linalg.svd(a, compute_uv=False).sum())(a)
u, _, vh = np.linalg.svd(a, full_matrices=False)
near("gradient of the nuclear norm", gradient, u @ vh)
# The Cholesky factor of a matrix that is not positive definite is NaN, also in a batch: scripts look for NaN
definite = a.T @ a + np.eye(4, dtype=np.float32)
for other in definite - 60 * np.eye(4, dtype=np.float32), np.zeros((4, 4), np.float32), np.diag([1, 2, 3, -1]).astype(np.float32):
    factors = np.asarray(jnp.linalg.cholesky(np.stack([definite, other])))
    near("cholesky", factors[0], np.linalg.cholesky(definite))
    assert np.isnan(factors[1][np.tril_indices(4)]).all(), factors[1]


def check_strict():
    """The settings with which JAX promotes nothing, and inexact products, do not concern the programs of decompositions."""
    a, batch = draw(5, 4, dtype=np.complex64), draw(2, 3, 4, 4)
    symmetric = batch + dagger(batch)
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"), jax.default_matmul_precision("bfloat16"):
        q, r = jnp.linalg.qr(a)
        s = jnp.linalg.svd(a, compute_uv=False)
        found = [jnp.linalg.eigvalsh(symmetric), jnp.linalg.det(batch), jnp.linalg.inv(batch), jnp.linalg.cholesky(batch @ batch)]
    near("strict q r", np.asarray(q) @ np.asarray(r), a)
    near("strict s", s, np.linalg.svd(a, compute_uv=False))
    near("strict eigenvalues", found[0], np.linalg.eigvalsh(symmetric))
    near("strict determinant", found[1], np.linalg.det(batch), 1e-4)
    near("strict inverse", found[2], np.linalg.inv(batch), 1e-3)


def check_residual(n):
    """The bound that JAX's tests have for LAPACK: 80 eps, in the norm of all elements."""
    eps = np.finfo(np.float32).eps
    a = eps * draw(n, n)
    a += a.T
    w, v = (np.asarray(x) for x in jnp.linalg.eigh(a))
    residual = np.linalg.norm(a @ v - w * v) / np.linalg.norm(a) / eps
    assert residual <= 80, residual
    assert np.linalg.norm(v.T @ v - np.eye(n)) / eps <= 80 * np.sqrt(n)


def check_tridiagonal(dtype, m):
    """Row exchanges: the first diagonal element is zero, which elimination without them divides by."""
    dl, d, du = (draw(2, m, dtype=dtype) for _ in range(3))
    b = draw(2, m, 3, dtype=dtype)
    d[:, 0] = dl[:, 0] = du[:, -1] = 0
    whole = np.stack([np.diag(d[i]) + np.diag(dl[i, 1:], -1) + np.diag(du[i, :-1], 1) for i in range(2)])
    for perturb in (False, True):
        x = lax.linalg.tridiagonal_solve(dl, d, du, b, perturb_singular=perturb)
        near("tridiagonal", whole @ np.asarray(x), b, 1e-3)
    zero = np.zeros_like(d)
    assert np.isnan(np.asarray(lax.linalg.tridiagonal_solve(zero, zero, zero, b))).all()
    assert np.isfinite(np.asarray(lax.linalg.tridiagonal_solve(dl, zero, du, b, perturb_singular=True))).all()


def check_open_sizes():
    """Programs that jax.export wrote for any size, at some sizes."""
    def exported(function, *shapes):
        scope = export.SymbolicScope()
        return export.export(jax.jit(function))(*(jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), np.float32) for s in shapes))

    eigh = exported(jnp.linalg.eigh, "b, n, n")
    for n in (1, 4, 5):
        a = draw(2, n, n)
        w, v = (np.asarray(x) for x in eigh.call(a + dagger(a)))
        near("open eigh", v * w[..., None, :] @ dagger(v), a + dagger(a))
    wide, thin = (exported(lambda a: jnp.linalg.svd(a, full_matrices=full), "m, n") for full in (True, False))
    lu = exported(lax.linalg.lu, "m, n")
    for m, n in ((3, 5), (5, 3), (4, 4)):
        a, k = draw(m, n), min(m, n)
        for full, program in ((True, wide), (False, thin)):
            u, s, vh = (np.asarray(x) for x in program.call(a))
            assert u.shape == (m, m if full else k) and vh.shape == (n if full else k, n)
            near("open svd", (u[:, :k] * s) @ vh[:k], a)
            unitary("open u", u)
        packed, pivots, order = (np.asarray(x) for x in lu.call(a))
        near("open lu", (np.tril(packed[:, :k], -1) + np.eye(m, k)) @ np.triu(packed[:k]), a[order])
        assert (pivots == np.asarray(lax.linalg.lu(a)[1])).all()
    near("open solve", exported(jnp.linalg.solve, "n, n", "n, k").call(4 * np.eye(3, dtype=np.float32), np.ones((3, 2), np.float32)), 0.25 * np.ones((3, 2)))
    for name, function in (("eig", jnp.linalg.eigvals), ("schur", lax.linalg.schur), ("hessenberg", lax.linalg.hessenberg),
                           ("tridiagonal", lax.linalg.tridiagonal)) if BY_LAPACK else ():
        try:
            exported(function, "n, n")
            raise AssertionError(f"{name} was exported")
        except NotImplementedError as error:
            assert f"{name} is a call of LAPACK, which has no symbolic sizes; export it for known sizes" in str(error), error
        assert "@lapack_s" in exported(function, "3, 3").mlir_module()
    # A file has programs, which need no library where it runs.
    assert "@lapack" not in exported(jnp.linalg.svd, "20, 20").mlir_module()


check_strict()
check_residual(300)
for dtype in (np.float32, np.complex64):
    for m in (2, 7):
        check_tridiagonal(dtype, m)
check_open_sizes()
print("all decompositions agree")
