#!/usr/bin/env python3
"""A pipeline of stages by layouts beside one by hand in JAX: the bytes of a step, and the losses.

    python3 bench/pipeline_peer.py --weft build/bin/weft [--mesh 2x2x2] [--microbatches 8] [--steps 3] [--json]

For a Python with bench/requirements.txt. The model is 8 residual blocks, x + down(tanh(up(x))), of width 64 and 256 inside, batch 128,
with a squared loss and SGD, in f32. The mesh is stage x data x model.

The hand-made one is GPipe in one program, as people write it: blocks stacked by stage, shard_map, and a scan of microbatches + stages - 1
ticks, in which each stage computes its blocks and sends to the next one by ppermute; up and down are cut over "model", with a psum for
each block, and gradients come from jax.grad. XLA's bytes are what a device receives (hlo_traffic.py), loops with all their rounds; Weft's
are what the busiest device sends, from the rows of `weft explain`, for gpipe and 1f1b. Both start with the same weights; losses are those of
the steps. Exits with 1 if a loss differs by more than 1e-5 of it, or Weft sends more.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", XLA_FLAGS="--xla_force_host_platform_device_count=8")

import hlo_traffic
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

BLOCKS, WIDTH, INSIDE, BATCH, RATE = 8, 64, 256, 128, 0.05


def hand_made(mesh, microbatches):
    """A jitted step of (up, down, x, y), with up [stages, blocks of a stage, WIDTH, INSIDE]: new weights and the loss."""
    stages = mesh.shape["stage"]

    def local(up, down, x, y):
        stage = jax.lax.axis_index("stage")
        # Gradients are summed over "data" behind the scan, not in each tick.
        up, down = (jax.lax.pcast(each[0], ("data",), to="varying") for each in (up, down))

        def blocks(value):
            for i in range(BLOCKS // stages):
                value = value + jax.lax.psum(jnp.tanh(value @ up[i]) @ down[i], "model")
            return value

        def tick(carry, t):
            arrived, loss = carry
            value = blocks(jnp.where(stage == 0, x[jnp.clip(t, 0, microbatches - 1)], arrived))
            done = t - (stages - 1)
            error = jnp.sum((value - y[jnp.clip(done, 0, microbatches - 1)]) ** 2)
            loss = loss + jnp.where((stage == stages - 1) & (done >= 0), error, 0.0)
            return (jax.lax.ppermute(value, "stage", [(s, s + 1) for s in range(stages - 1)]), loss), None

        begin = jax.lax.pcast((jnp.zeros(x.shape[1:]), jnp.zeros(())), ("stage", "data"), to="varying")
        (_, loss), _ = jax.lax.scan(tick, begin, jnp.arange(microbatches + stages - 1))
        return jax.lax.psum(loss, ("stage", "data")) / (BATCH * WIDTH)

    rows = P(None, "data", None)
    loss = jax.shard_map(local, mesh=mesh, in_specs=(P("stage", None, None, "model"), P("stage", None, "model", None), rows, rows), out_specs=P())

    def step(up, down, x, y):
        value, gradients = jax.value_and_grad(loss, argnums=(0, 1))(up, down, x, y)
        return up - RATE * gradients[0], down - RATE * gradients[1], value
    return jax.jit(step)


def tensor(name):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, WIDTH], "dtype": "float32", "keras_history": [name, 0, 0]}}


def model():
    """The model as Keras writes it."""
    layers = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [], "config": {"name": "x", "batch_shape": [None, WIDTH], "dtype": "float32"}}]
    value = "x"
    for i in range(BLOCKS):
        for name, units, activation, source, width in ((f"up{i}", INSIDE, "tanh", value, WIDTH), (f"down{i}", WIDTH, "linear", f"up{i}", INSIDE)):
            its = tensor(source)
            its["config"]["shape"] = [None, width]
            layers.append({"class_name": "Dense", "name": name, "config": {"name": name, "units": units, "activation": activation, "use_bias": False},
                           "inbound_nodes": [{"args": [its], "kwargs": {}}]})
        layers.append({"class_name": "Add", "name": f"add{i}", "config": {"name": f"add{i}"},
                       "inbound_nodes": [{"args": [[tensor(value), tensor(f"down{i}")]], "kwargs": {}}]})
        value = f"add{i}"
    return {"class_name": "Functional", "config": {"name": "blocks", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[value, 0, 0]]},
            "compile_config": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": RATE}}, "loss": "mean_squared_error"}}


def distribution(sizes, microbatches, schedule):
    per = BLOCKS // sizes[0]
    stages = [[f"(up|down|add)[{s * per}-{(s + 1) * per - 1}]"] for s in range(sizes[0])]
    return {"class_name": "ModelParallel", "config": {
        "device_mesh": {"shape": list(sizes), "axis_names": ["stage", "data", "model"], "devices": None}, "batch_dim_name": "data",
        "layout_map": {r"up\d/kernel": [None, "model"], r"down\d/kernel": ["model", None]},
        "pipeline": {"axis": "stage", "stages": stages, "microbatches": microbatches, "schedule": schedule}}}


def busiest(collectives, stages):
    """The bytes that the busiest stage's device sends: `explain` adds up those of all stages that take part in a move."""
    sent = [0] * stages
    for each in collectives:
        sender = re.search(r'is on "stage"=(\d+)', each["reason"])
        layer = re.search(r"(?:up|down)(\d)", each["reason"])
        sent[int(sender[1]) if sender else int(layer[1]) // (BLOCKS // stages)] += each["bytes"] * each["count"]
    return max(sent)


class Weft:
    def __init__(self, weft, folder):
        self.weft, self.folder = weft, folder
        (folder / "model.json").write_text(json.dumps(model()))

    def run(self, *words):
        done = subprocess.run([self.weft, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def initial(self):
        self.run("fit", "model.json", "--batch-size", BATCH, "--seed", 1, "--init-only", "--save-weights", "initial.npz")
        return np.load(self.folder / "initial.npz")

    def step(self, sizes, microbatches, schedule, steps):
        """Bytes of a step, and the losses of some."""
        (self.folder / "dist.json").write_text(json.dumps(distribution(sizes, microbatches, schedule)))
        said = json.loads(self.run("explain", "model.json", "--batch-size", BATCH, "--distribution", "dist.json", "--json"))
        self.run("fit", "model.json", "--data", "data.npz", "--batch-size", BATCH, "--seed", 1, "--no-shuffle", "--epochs", steps, "--verbose", 0,
                 "--distribution", "dist.json", "--history", "h.json", "--history-steps")
        return busiest(said["collectives"], sizes[0]), json.loads((self.folder / "h.json").read_text())["steps"]["loss"]


def by_hand(sizes, microbatches, steps, weights, x, y):
    mesh = jax.make_mesh(sizes, ("stage", "data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 3)
    stages = sizes[0]

    def stacked(name, *spec):
        array = np.stack([weights[f"{name}{i}/kernel"] for i in range(BLOCKS)])
        return jax.device_put(array.reshape(stages, BLOCKS // stages, *array.shape[1:]), NamedSharding(mesh, P("stage", None, *spec)))

    # Microbatch k has the rows k, k + m, ..., as Weft's.
    rows = lambda a: jax.device_put(a.reshape(-1, microbatches, WIDTH).swapaxes(0, 1), NamedSharding(mesh, P(None, "data", None)))
    up, down, x, y = stacked("up", None, "model"), stacked("down", "model", None), rows(x), rows(y)
    compiled = hand_made(mesh, microbatches).lower(up, down, x, y).compile()
    losses = []
    for _ in range(steps):
        up, down, loss = compiled(up, down, x, y)
        losses.append(float(loss))
    return hlo_traffic.bytes_in_rounds(compiled.as_text(), int(np.prod(sizes))), losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", type=pathlib.Path, default=pathlib.Path("build/bin/weft"))
    parser.add_argument("--mesh", default="2x2x2")
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = tuple(int(size) for size in options.mesh.split("x"))
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        weft = Weft(options.weft.resolve(), pathlib.Path(folder))
        draw = np.random.RandomState(0)
        x, y = (draw.uniform(-1, 1, (BATCH, WIDTH)).astype("f4") for _ in range(2))
        np.savez(weft.folder / "data.npz", x=x, y=y)
        rows = {"JAX by hand": by_hand(sizes, options.microbatches, options.steps, weft.initial(), x, y)}
        for schedule in ("gpipe", "1f1b"):
            rows[f"Weft, {schedule}"] = weft.step(sizes, options.microbatches, schedule, options.steps)
    most, wanted = rows["JAX by hand"]
    for name, (count, losses) in rows.items():
        if not options.json:
            print(f"{name:14} {count:12,} bytes  losses " + " ".join(f"{loss:.7f}" for loss in losses))
        if count > most:
            problems.append(f"{name}: {count} bytes, more than the {most} of JAX by hand")
        if not np.allclose(losses, wanted, rtol=1e-5):
            problems.append(f"{name}: losses {losses}, those of JAX by hand are {wanted}")
    if options.json:
        print(json.dumps({name: {"bytes": count, "losses": losses} for name, (count, losses) in rows.items()}))
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
