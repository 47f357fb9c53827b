"""Ends the process while a program of two devices calls its functions. Functions with effects are waited for, as on JAX's
platforms; a program of a pure function is left alone."""

import atexit
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

like = jax.ShapeDtypeStruct((4,), np.float32)
ended, notes, called, never = [], [], threading.Event(), threading.Event()


def slow(value):
    called.set()
    never.wait(0.01)
    if ended:
        print("called after the end", flush=True)
    return np.asarray(value)


def at_the_end():
    ended.append(True)
    print(f"all {len(notes)} notes were taken", flush=True)


atexit.register(at_the_end)  # is called last: before JAX and Weft register theirs
running = jax.jit(lambda v: jax.lax.fori_loop(0, 10000, lambda i, w: jax.pure_callback(slow, like, w), v))


@jax.jit
def noted(v):
    return jax.lax.fori_loop(0, 5, lambda i, w: io_callback(lambda u: (notes.append(1), slow(u))[1], like, w, ordered=True), v)


kept = noted(jnp.ones(4))
left = running(jnp.ones(4))
called.wait()
