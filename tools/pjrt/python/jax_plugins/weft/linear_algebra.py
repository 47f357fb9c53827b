"""QR, eigenvalues and singular values as programs of JAX, for devices without LAPACK.

JAX lowers these to LAPACK or to a vendor's library, and to nothing for other platforms. Here
they are loops of matrix operations, which the compiler takes like any other program:
Householder's reflections with LAPACK's signs, and Jacobi's rotations of all pairs of a round
at once. Leading dimensions are batches.

    geqrf(a) -> a, taus               eigh(a) -> vectors, values        svd(a) -> s, u, vh
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SWEEPS = 30  # Jacobi's method takes 6 to 10 for any matrix of single precision


def _dagger(a):
    return jnp.conj(jnp.swapaxes(a, -1, -2))


def _reflector(column, j, rows):
    """LAPACK's larfg: v (1 at j), tau and the beta that replaces the column's element at j."""
    column = jnp.where(rows >= j, column, 0)
    scale = jnp.max(jnp.abs(column), axis=-1, keepdims=True)
    scale = jnp.where(scale > 0, scale, 1)
    column = column / scale
    alpha = jnp.sum(jnp.where(rows == j, column, 0), axis=-1, keepdims=True)
    below = jnp.where(rows > j, column, 0)
    rest = jnp.sum(jnp.abs(below) ** 2, axis=-1, keepdims=True)
    norm = jnp.sqrt(jnp.abs(alpha) ** 2 + rest)
    beta = jnp.where(jnp.real(alpha) >= 0, -norm, norm).astype(column.dtype)
    trivial = (rest == 0) & (jnp.imag(alpha) == 0)
    beta = jnp.where(trivial, alpha, beta)
    tau = jnp.where(trivial, 0, (beta - alpha) / jnp.where(trivial, 1, beta))
    v = jnp.where(rows == j, 1, below / jnp.where(trivial, 1, alpha - beta))
    return v, tau, beta * scale


def _put(columns, j, column):
    return lax.dynamic_update_slice_in_dim(columns, column[..., None], j, axis=-1)


def _project(v, a):
    """Computes v^H a, for each batch."""
    return jnp.einsum("...m,...mn->...n", jnp.conj(v), a)


def geqrf(a):
    m, n = a.shape[-2:]
    rows, columns = lax.iota(np.int32, m), lax.iota(np.int32, n)

    def step(j, state):
        a, taus = state
        column = lax.dynamic_index_in_dim(a, j, axis=-1, keepdims=False)
        v, tau, beta = _reflector(column, j, rows)
        moved = jnp.where(columns > j, _project(v, a), 0) * jnp.conj(tau)
        a = a - v[..., :, None] * moved[..., None, :]
        column = jnp.where(rows < j, column, jnp.where(rows == j, beta, v))
        return _put(a, j, column), _put(taus[..., None, :], j, tau)[..., 0, :]

    taus = jnp.zeros((*a.shape[:-2], min(m, n)), a.dtype)
    return _rounds(min(m, n), step, (a, taus))


def geqp3(a, jpvt, *, use_magma=None):
    """QR with pivoting: the columns of largest norm first. LAPACK's fixed columns (jpvt > 0) are not supported."""
    m, n = a.shape[-2:]
    rows, columns = lax.iota(np.int32, m), lax.iota(np.int32, n)

    def step(j, state):
        a, order, taus = state
        norms = jnp.sum(jnp.where(rows[:, None] >= j, jnp.abs(a) ** 2, 0), axis=-2)
        best = jnp.argmax(jnp.where(columns >= j, norms, -1), axis=-1)[..., None]
        swapped = jnp.where(columns == j, best, jnp.where(columns == best, j, columns))
        a = jnp.take_along_axis(a, swapped[..., None, :], axis=-1)
        order = jnp.take_along_axis(order, swapped, axis=-1)
        column = lax.dynamic_index_in_dim(a, j, axis=-1, keepdims=False)
        v, tau, beta = _reflector(column, j, rows)
        moved = jnp.where(columns > j, _project(v, a), 0) * jnp.conj(tau)
        a = a - v[..., :, None] * moved[..., None, :]
        column = jnp.where(rows < j, column, jnp.where(rows == j, beta, v))
        return _put(a, j, column), order, _put(taus[..., None, :], j, tau)[..., 0, :]

    taus = jnp.zeros((*a.shape[:-2], min(m, n)), a.dtype)
    order = jnp.broadcast_to(columns, (*a.shape[:-2], n))
    a, order, taus = _rounds(min(m, n), step, (a, order, taus))
    return a, (order + 1).astype(jpvt.dtype), taus


def householder_product(a, taus):
    m, n = a.shape[-2:]
    rows = lax.iota(np.int32, m)
    count = taus.shape[-1]

    def step(i, q):
        j = count - 1 - i
        column = lax.dynamic_index_in_dim(a, j, axis=-1, keepdims=False)
        tau = lax.dynamic_index_in_dim(taus, j, axis=-1, keepdims=True)
        v = jnp.where(rows == j, 1, jnp.where(rows > j, column, 0))
        return q - v[..., :, None] * (tau * _project(v, q))[..., None, :]

    return _rounds(count, step, jnp.broadcast_to(jnp.eye(m, n, dtype=a.dtype), a.shape))


def _rounds(count, step, state):
    """A fori_loop that stays a loop in the program, however few iterations it has."""
    def body(carry):
        return carry[0] + 1, carry[1], step(carry[0], carry[2])

    # The bound is a carried value, as a loop with a known trip count may be unrolled.
    start = (jnp.int32(0), jnp.int32(count), state)
    return lax.while_loop(lambda carry: carry[0] < carry[1], body, start)[2]


def _round_robin(n):
    """The source of each of n (even) players in the next round, so that all pairs meet in n - 1 rounds."""
    half = n // 2
    top, bottom = list(range(half)), list(range(half, n))
    top, bottom = [top[0], bottom[0], *top[1:-1]], [*bottom[1:], top[-1]]
    return np.array(top + bottom if half > 1 else [0, 1], np.int32)


def _rotation(p, q, between):
    """Cosine and sine of the rotation that makes [[p, between], [.., q]] diagonal."""
    size = jnp.abs(between)
    done = size == 0
    phase = jnp.where(done, 0, between / jnp.where(done, 1, size))
    ratio = (q - p) / jnp.where(done, 1, 2 * size)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
    tangent = jnp.where(done, 0, tangent)
    cosine = lax.rsqrt(1 + tangent * tangent)
    return cosine, (tangent * cosine) * phase


def _turn(a, cosine, sine, order):
    """Rotates the pairs of columns (i, half + i), then moves them for the next round."""
    left, right = jnp.split(a, 2, axis=-1)
    cosine, sine = cosine[..., None, :], sine[..., None, :]
    turned = [cosine * left - jnp.conj(sine) * right, sine * left + cosine * right]
    return jnp.take(jnp.concatenate(turned, axis=-1), order, axis=-1)


def _sweeps(rounds, turn, state, tolerance):
    """Runs rounds of all pairs until the values that turn reports are below the tolerance everywhere."""
    def sweep(carry):
        count, state, _ = carry
        state, worst = _rounds(rounds, turn, (state, jnp.zeros_like(tolerance)))
        return count + 1, state, worst

    def goes_on(carry):
        return (carry[0] < SWEEPS) & jnp.any(carry[2] > tolerance)

    start = (jnp.int32(0), state, jnp.full_like(tolerance, np.inf))
    return lax.while_loop(goes_on, sweep, start)[1]


def _pad(a, rows, columns):
    return lax.pad(a, jnp.zeros((), a.dtype), [(0, 0, 0)] * (a.ndim - 2) + [(0, rows, 0), (0, columns, 0)])


def _eye_like(a, n):
    return jnp.broadcast_to(jnp.eye(n, dtype=a.dtype), (*a.shape[:-2], n, n))


def _jacobi_eigh(a):
    """Values and vectors of a Hermitian a, in no order."""
    n = a.shape[-1]
    even = n + n % 2
    half = even // 2
    order = _round_robin(even)
    norm = jnp.sqrt(jnp.sum(jnp.abs(a) ** 2, axis=(-1, -2)))
    pairs = np.arange(half)

    def turn(_, carry):
        (a, v), worst = carry
        p, q = jnp.real(a[..., pairs, pairs]), jnp.real(a[..., half + pairs, half + pairs])
        between = a[..., pairs, half + pairs]
        cosine, sine = _rotation(p, q, between)
        a = _dagger(_turn(a, cosine, sine, order))
        a = _turn(a, cosine, sine, order)
        worst = jnp.maximum(worst, jnp.max(jnp.abs(between), axis=-1))
        return (a, _turn(v, cosine, sine, order)), worst

    start = (_pad(a, even - n, even - n), _eye_like(a, even))
    tolerance = jnp.finfo(a.dtype).eps * norm
    a, v = _sweeps(max(even - 1, 1), turn, start, tolerance)
    return jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1))[..., :n], v[..., :n, :n]


def _not_finite(a):
    return ~jnp.all(jnp.isfinite(a), axis=(-1, -2))


def _mark(bad, *results):
    """Replaces results by NaN if the matrix had NaN or infinity."""
    return [jnp.where(bad.reshape(bad.shape + (1,) * (r.ndim - bad.ndim)), np.nan, r) for r in results]


def _pick(results, subset):
    return results if subset is None else [r[..., subset[0]:subset[1]] for r in results]


def eigh(a, *, lower, sort_eigenvalues, subset_by_index, algorithm=None):
    del sort_eigenvalues, algorithm  # values are always sorted
    if a.shape[-1] == 0:
        return a, jnp.zeros(a.shape[:-1], jnp.real(a).dtype)
    triangle = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1)).astype(a.dtype)
    whole = triangle + _dagger(triangle) + jnp.eye(a.shape[-1], dtype=a.dtype) * diagonal[..., None, :]
    values, vectors = _jacobi_eigh(whole)
    order = jnp.argsort(values, axis=-1)
    values = jnp.take_along_axis(values, order, axis=-1)
    vectors = jnp.take_along_axis(vectors, order[..., None, :], axis=-1)
    return _pick(_mark(_not_finite(a), vectors, values), subset_by_index)


def _jacobi_columns(a):
    """The product A V, with orthogonal columns, largest first, and V; a is square."""
    n = a.shape[-1]
    even = n + n % 2
    half = even // 2
    order = _round_robin(even)

    def turn(_, carry):
        (a, v), worst = carry
        left, right = jnp.split(a, 2, axis=-1)
        p, q = (jnp.sum(jnp.abs(x) ** 2, axis=-2) for x in (left, right))
        between = jnp.sum(jnp.conj(left) * right, axis=-2)
        cosine, sine = _rotation(p, q, between)
        size = p * q
        cosines = jnp.abs(between) * jnp.where(size > 0, lax.rsqrt(jnp.where(size > 0, size, 1)), 0)
        worst = jnp.maximum(worst, jnp.max(cosines, axis=-1))
        return (_turn(a, cosine, sine, order), _turn(v, cosine, sine, order)), worst

    start = (_pad(a, 0, even - n), _eye_like(a, even))
    eps = jnp.finfo(a.dtype).eps
    tolerance = jnp.full(a.shape[:-2], eps * np.sqrt(n), jnp.real(a).dtype)
    a, v = _sweeps(max(even - 1, 1), turn, start, tolerance)
    a, v = a[..., :n], v[..., :n, :n]
    norms = jnp.sqrt(jnp.sum(jnp.abs(a) ** 2, axis=-2))
    places = jnp.argsort(-norms, axis=-1)
    a, v = (jnp.take_along_axis(x, places[..., None, :], axis=-1) for x in (a, v))
    return a, jnp.take_along_axis(norms, places, axis=-1), v


def _svd_tall(a, full_matrices):
    """The SVD for m >= n: A = Q R, R V = W has orthogonal columns, W = U' S."""
    m, n = a.shape[-2:]
    factored, taus = geqrf(a)
    scale = jnp.max(jnp.abs(a), axis=(-1, -2), keepdims=True)
    scale = jnp.where(scale > 0, scale, 1)
    w, s, v = _jacobi_columns(jnp.triu(factored[..., :n, :]) / scale)
    turned, turned_taus = geqrf(w)
    signs = jnp.sign(jnp.diagonal(turned, axis1=-2, axis2=-1))
    u = householder_product(turned, turned_taus) * jnp.where(signs == 0, 1, signs)[..., None, :]
    width = m if full_matrices else n
    q = householder_product(_pad(factored, 0, width - n), taus)
    u = jnp.concatenate([q[..., :n] @ u, q[..., n:]], axis=-1)
    return u, s * scale[..., 0], v


def svd(a, *, full_matrices, compute_uv, subset_by_index=None, algorithm=None):
    del algorithm
    m, n = a.shape[-2:]
    if m == 0 or n == 0:
        s = jnp.zeros((*a.shape[:-2], 0), jnp.real(a).dtype)
        k = (m, n) if full_matrices else (0, 0)
        u, vh = (jnp.broadcast_to(jnp.eye(size, k[i], dtype=a.dtype), (*a.shape[:-2], size, k[i]))
                 for i, size in enumerate((m, n)))
        return [s, u, _dagger(vh)] if compute_uv else [s]
    u, s, v = _svd_tall(_dagger(a) if m < n else a, full_matrices and compute_uv)
    if m < n:
        u, v = v, u
    s, u, v = _mark(_not_finite(a), s, u, v)
    s, u, v = _pick([s, u, v], subset_by_index)
    return [s, u, _dagger(v)] if compute_uv else [s]


def nan_unless_positive(factor):
    """Replaces a Cholesky factor whose diagonal is not positive everywhere by NaN."""
    diagonal = jnp.diagonal(factor, axis1=-2, axis2=-1).real
    good = jnp.all(diagonal > 0, axis=-1)[..., None, None]
    return jnp.where(good, factor, jnp.nan)
