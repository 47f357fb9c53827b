"""QR, eigenvalues and singular values as programs of JAX, for devices without LAPACK.

JAX lowers these to LAPACK or to a vendor's library, and to nothing for other platforms. Here
they are loops of matrix operations, which the compiler takes like any other program:
Householder's reflections with LAPACK's signs, and Jacobi's rotations of all pairs of a round
at once. Leading dimensions are batches. Sizes may be symbols of jax.export.

    geqrf(a) -> a, taus               eigh(a) -> vectors, values        svd(a) -> s, u, vh
    lu(a) -> lu, pivots, permutation  tridiagonal_solve(dl, d, du, b) -> x
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core

SWEEPS = 30  # Jacobi's method takes 6 to 10 for any matrix of single precision


def _dagger(a):
    return jnp.conj(jnp.swapaxes(a, -1, -2))


def _scalar(size, dtype=np.int32):
    """A size, which may be a symbol, as a value."""
    return lax.convert_element_type(core.dimension_as_value(size), dtype)


def _numbers(count):
    """The numbers from 0 on: constants if their count is known."""
    return np.arange(count) if core.is_constant_dim(count) else jnp.arange(count)


def _first(a, *sizes):
    """The first elements of the last dimensions, whose sizes may be symbols that JAX cannot compare."""
    sizes = (*a.shape[:a.ndim - len(sizes)], *sizes)
    return a if a.shape == sizes else lax.dynamic_slice(a, [np.int32(0)] * a.ndim, sizes)


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

    count = core.min_dim(m, n)
    taus = jnp.zeros((*a.shape[:-2], count), a.dtype)
    return _rounds(count, step, (a, taus))


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

    count = core.min_dim(m, n)
    taus = jnp.zeros((*a.shape[:-2], count), a.dtype)
    order = jnp.broadcast_to(columns, (*a.shape[:-2], n))
    a, order, taus = _rounds(count, step, (a, order, taus))
    return a, (order + 1).astype(jpvt.dtype), taus


def householder_product(a, taus):
    m, n = a.shape[-2:]
    rows = lax.iota(np.int32, m)
    count = taus.shape[-1]

    def step(i, q):
        j = _scalar(count) - 1 - i
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
    start = (jnp.int32(0), _scalar(count), state)
    return lax.while_loop(lambda carry: carry[0] < carry[1], body, start)[2]


def _round_robin(half):
    """The source of each of 2 * half players in the next round, so that all pairs (i, half + i) meet in 2 * half - 1 rounds.
    The first player stays; the others move around: 0, half, 1, 2, ... to the top, half + 1, ..., half - 1 to the bottom."""
    places = _numbers(2 * half)
    xp, half = (np, half) if isinstance(places, np.ndarray) else (jnp, _scalar(half))
    top = xp.where(places == 1, half, xp.maximum(places - 1, 0))
    bottom = xp.where(places == 2 * half - 1, xp.maximum(half - 1, 1), places + 1)
    return xp.where(places < half, top, bottom).astype(np.int32)


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


def _halves(a):
    half = a.shape[-1] // 2
    return a[..., :half], a[..., half:]


def _turn(a, cosine, sine, order):
    """Rotates the pairs of columns (i, half + i), then moves them for the next round."""
    left, right = _halves(a)
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
    """Values and vectors of a Hermitian a of even size, in no order."""
    even = a.shape[-1]
    half = even // 2
    order = _round_robin(half)
    norm = jnp.sqrt(jnp.sum(jnp.abs(a) ** 2, axis=(-1, -2)))
    pairs = _numbers(half)

    def turn(_, carry):
        (a, v), worst = carry
        p, q = jnp.real(a[..., pairs, pairs]), jnp.real(a[..., half + pairs, half + pairs])
        between = a[..., pairs, half + pairs]
        cosine, sine = _rotation(p, q, between)
        a = _dagger(_turn(a, cosine, sine, order))
        a = _turn(a, cosine, sine, order)
        worst = jnp.maximum(worst, jnp.max(jnp.abs(between), axis=-1))
        return (a, _turn(v, cosine, sine, order)), worst

    tolerance = jnp.finfo(a.dtype).eps * norm
    a, v = _sweeps(even - 1, turn, (a, _eye_like(a, even)), tolerance)
    return jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1)), v


def _eigh_pairs(a):
    """Values and vectors of a Hermitian a, in no order. Thousands of rotations round each value, so that the vectors are a
    hundred times less exact than LAPACK's. They are made orthogonal (one step of Newton's method), and the small rest of
    V^H A V is diagonalised again, which takes one or two sweeps."""
    n = a.shape[-1]
    half = (n + 1) // 2
    a = _pad(a, 2 * half - n, 2 * half - n)
    v = _jacobi_eigh(a)[1]
    v = 1.5 * v - 0.5 * (v @ (_dagger(v) @ v))
    rest = _dagger(v) @ (a @ v)
    values, turned = _jacobi_eigh(0.5 * (rest + _dagger(rest)))
    return _first(values, n), _first(v @ turned, n, n)


def _not_finite(a):
    return ~jnp.all(jnp.isfinite(a), axis=(-1, -2))


def _mark(bad, *results):
    """Replaces results by NaN if the matrix had NaN or infinity."""
    return [jnp.where(bad.reshape(bad.shape + (1,) * (r.ndim - bad.ndim)), np.nan, r) for r in results]


def _pick(results, subset):
    return results if subset is None else [r[..., subset[0]:subset[1]] for r in results]


def eigh(a, *, lower, sort_eigenvalues, subset_by_index, algorithm=None):
    del sort_eigenvalues, algorithm  # values are always sorted
    if core.definitely_equal(a.shape[-1], 0):
        return a, jnp.zeros(a.shape[:-1], jnp.real(a).dtype)
    triangle = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1)).astype(a.dtype)
    whole = triangle + _dagger(triangle) + jnp.eye(a.shape[-1], dtype=a.dtype) * diagonal[..., None, :]
    values, vectors = _eigh_pairs(whole)
    order = jnp.argsort(values, axis=-1)
    values = jnp.take_along_axis(values, order, axis=-1)
    vectors = jnp.take_along_axis(vectors, order[..., None, :], axis=-1)
    return _pick(_mark(_not_finite(a), vectors, values), subset_by_index)


def _jacobi_columns(a):
    """The product A V, with orthogonal columns, largest first, their norms, and V; a is square."""
    n = a.shape[-1]
    half = (n + 1) // 2
    even = 2 * half
    order = _round_robin(half)

    def turn(_, carry):
        (a, v), worst = carry
        left, right = _halves(a)
        p, q = (jnp.sum(jnp.abs(x) ** 2, axis=-2) for x in (left, right))
        between = jnp.sum(jnp.conj(left) * right, axis=-2)
        cosine, sine = _rotation(p, q, between)
        size = p * q
        cosines = jnp.abs(between) * jnp.where(size > 0, lax.rsqrt(jnp.where(size > 0, size, 1)), 0)
        worst = jnp.maximum(worst, jnp.max(cosines, axis=-1))
        return (_turn(a, cosine, sine, order), _turn(v, cosine, sine, order)), worst

    start = (_pad(a, 0, even - n), _eye_like(a, even))
    real = jnp.real(a).dtype
    tolerance = jnp.broadcast_to(jnp.finfo(real).eps * jnp.sqrt(_scalar(n, real)), a.shape[:-2])
    a, v = _sweeps(even - 1, turn, start, tolerance)
    a, v = _first(a, n), _first(v, n, n)
    norms = jnp.sqrt(jnp.sum(jnp.abs(a) ** 2, axis=-2))
    places = jnp.argsort(-norms, axis=-1)
    a, v = (jnp.take_along_axis(x, places[..., None, :], axis=-1) for x in (a, v))
    return a, jnp.take_along_axis(norms, places, axis=-1), v


def _orthogonal(w):
    """Q of W = Q S, whose columns are orthogonal; also where a column is zero."""
    turned, taus = geqrf(w)
    signs = jnp.sign(jnp.diagonal(turned, axis1=-2, axis2=-1))
    return householder_product(turned, taus) * jnp.where(signs == 0, 1, signs)[..., None, :]


def _scale(a):
    largest = jnp.max(jnp.abs(a), axis=(-1, -2), keepdims=True)
    return jnp.where(largest > 0, largest, 1)


def _svd_open(a, full_matrices):
    """The SVD for sizes of which none is known to be the greater: that of the square matrix with rows or columns of zeros, whose
    singular values are last, as sorting is stable."""
    m, n = a.shape[-2:]
    size, count, scale = core.max_dim(m, n), core.min_dim(m, n), _scale(a)
    w, s, v = _jacobi_columns(_pad(a, size - m, size - n) / scale)
    u, s = _orthogonal(w), s * scale[..., 0]
    return _first(u, m, m if full_matrices else count), _first(s, count), _first(v, n, n if full_matrices else count)


def _svd_tall(a, full_matrices):
    """The SVD for m >= n: A = Q R, R V = W has orthogonal columns, W = U' S."""
    m, n = a.shape[-2:]
    factored, taus = geqrf(a)
    scale = _scale(a)
    w, s, v = _jacobi_columns(jnp.triu(factored[..., :n, :]) / scale)
    u = _orthogonal(w)
    width = m if full_matrices else n
    q = householder_product(_pad(factored, 0, width - n), taus)
    u = jnp.concatenate([q[..., :n] @ u, q[..., n:]], axis=-1)
    return u, s * scale[..., 0], v


def _svd_any(a, full_matrices):
    m, n = a.shape[-2:]
    if not core.is_constant_shape((m, n)):
        return _svd_open(a, full_matrices)
    u, s, v = _svd_tall(_dagger(a) if m < n else a, full_matrices)
    return (v, s, u) if m < n else (u, s, v)


def svd(a, *, full_matrices, compute_uv, subset_by_index=None, algorithm=None):
    del algorithm
    m, n = a.shape[-2:]
    if core.definitely_equal(m, 0) or core.definitely_equal(n, 0):
        s = jnp.zeros((*a.shape[:-2], 0), jnp.real(a).dtype)
        k = (m, n) if full_matrices else (0, 0)
        u, vh = (jnp.broadcast_to(jnp.eye(size, k[i], dtype=a.dtype), (*a.shape[:-2], size, k[i]))
                 for i, size in enumerate((m, n)))
        return [s, u, _dagger(vh)] if compute_uv else [s]
    u, s, v = _mark(_not_finite(a), *_svd_any(a, full_matrices and compute_uv))
    s, u, v = _pick([s, u, v], subset_by_index)
    return [s, u, _dagger(v)] if compute_uv else [s]


def lu(a):
    """LU with partial pivoting, column by column: JAX's own, which is in blocks, needs known sizes."""
    m, n = a.shape[-2:]
    rows, columns, count = lax.iota(np.int32, m), lax.iota(np.int32, n), core.min_dim(m, n)

    def exchange(x, i, j):
        """Swaps rows j and i, which is a row of each matrix."""
        source = jnp.where(rows == j, i[..., None], jnp.where(rows == i[..., None], j, rows))
        return jnp.take_along_axis(x, source[..., None] if x.ndim == a.ndim else source, axis=a.ndim - 2)

    def step(j, state):
        a, pivots, order = state
        column = lax.dynamic_index_in_dim(a, j, axis=-1, keepdims=False)
        size = jnp.abs(jnp.real(column)) + jnp.abs(jnp.imag(column))  # as LAPACK does
        pivot = jnp.argmax(jnp.where(rows >= j, size, -np.inf), axis=-1).astype(np.int32)
        a, order = exchange(a, pivot, j), exchange(order, pivot, j)
        column = lax.dynamic_index_in_dim(a, j, axis=-1, keepdims=False)
        row = lax.dynamic_index_in_dim(a, j, axis=-2, keepdims=False)
        top = lax.dynamic_index_in_dim(row, j, axis=-1)
        column = jnp.where((rows > j) & (top != 0), column / jnp.where(top == 0, 1, top), column)
        a = _put(a, j, column)
        below, right = jnp.where(rows > j, column, 0), jnp.where(columns > j, row, 0)
        a = a - below[..., :, None] * right[..., None, :]
        return a, _put(pivots[..., None, :], j, pivot[..., None])[..., 0, :], order

    pivots = jnp.zeros((*a.shape[:-2], count), np.int32)
    order = jnp.broadcast_to(rows, (*a.shape[:-2], m))
    return _rounds(count, step, (a, pivots, order))


def tridiagonal_solve(dl, d, du, b, *, perturb_singular):
    """Gaussian elimination with row exchanges, as LAPACK's gtsv: U has three diagonals. A pivot of zero gives NaN; with
    `perturb_singular` pivots below eps * max |U| are moved by as much, as LAPACK's lagts does."""
    dl, d, du = (jnp.moveaxis(x, -1, 0)[..., None] for x in (dl, d, du))
    b = jnp.moveaxis(b, -2, 0)
    du = du * jnp.where(jnp.arange(du.shape[0]) < _scalar(du.shape[0]) - 1, 1, 0).reshape((-1,) + (1,) * (du.ndim - 1))

    def eliminate(upper, lower):
        (u0, u1, y), (l0, l1, l2, z) = upper, lower
        stays = jnp.abs(u0) >= jnp.abs(l0)
        pivot, other = jnp.where(stays, u0, l0), jnp.where(stays, l0, u0)
        factor = other / jnp.where(pivot == 0, 1, pivot)
        first = pivot, jnp.where(stays, u1, l1), jnp.where(stays, 0, l2), jnp.where(stays, y, z)
        rest = (jnp.where(stays, l1, u1) - factor * first[1], jnp.where(stays, l2, 0) - factor * first[2],
                jnp.where(stays, z, y) - factor * first[3])
        return rest, first

    def below(x):
        return lax.pad(x, jnp.zeros((), x.dtype), [(-1, 1, 0)] + [(0, 0, 0)] * (x.ndim - 1))

    # A row of zeros comes below the last one.
    u0, u1, u2, y = lax.scan(eliminate, (d[0], du[0], b[0]), tuple(map(below, (dl, d, du, b))))[1]
    if perturb_singular:
        numbers = jnp.finfo(u0.dtype)
        largest = jnp.max(jnp.maximum(jnp.abs(u0), jnp.maximum(jnp.abs(u1), jnp.abs(u2))), axis=0)
        least = jnp.maximum(numbers.eps * largest, numbers.tiny)
        u0 = jnp.where(jnp.abs(u0) < least, u0 + jnp.where(jnp.real(u0) < 0, -least, least), u0)
    else:
        singular = jnp.any(u0 == 0, axis=0)
        y = jnp.where(singular, np.nan, y)

    def substitute(known, row):
        (near, far), (u0, u1, u2, y) = known, row
        x = (y - u1 * near - u2 * far) / u0
        return (x, near), x

    nothing = jnp.zeros_like(y[0])
    return jnp.moveaxis(lax.scan(substitute, (nothing, nothing), (u0, u1, u2, y), reverse=True)[1], 0, -2)


def nan_unless_positive(factor):
    """Replaces a Cholesky factor whose diagonal is not positive everywhere by NaN."""
    diagonal = jnp.diagonal(factor, axis1=-2, axis2=-1).real
    good = jnp.all(diagonal > 0, axis=-1)[..., None, None]
    return jnp.where(good, factor, jnp.nan)
