"""Twelve families of models at real size, as losses over named weights: the cases of families.py.

    weights, inputs, loss = FAMILIES["llama"].build(keep, layers)

A weight or input is an Array: its shape and a name for each dimension. Layouts (families.py) say by these names which mesh axis
shards a dimension. `keep(x, *names)` is an expert's constraint on an activation, or returns x where there are none. Layers are
fewer than in the models, whose widths, sequences and batches are real: FAMILIES states both numbers.
"""

import math
from typing import Any, Callable, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

BATCH = 64


class Array(NamedTuple):
    shape: tuple
    names: tuple
    dtype: Any = jnp.float32


class Family(NamedTuple):
    build: Callable   # (keep, layers) -> (weights, inputs, loss(weights, inputs))
    layers: int       # layers that are compiled
    real: int         # layers of the model
    layouts: tuple    # names of layouts that apply


def vector(size, name=None):
    return Array((size,), (name,))


def matrix(rows, columns, *names):
    return Array((rows, columns), names)


def rms_norm(x, gain):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def layer_norm(x, gain):
    x = x - jnp.mean(x, -1, keepdims=True)
    return rms_norm(x, gain[0]) + gain[1]


def cross_entropy(logits, labels):
    wanted = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - wanted)


def attention_weights(width, heads, size, groups=None):
    kernel = lambda count: Array((width, count, size), ("embed", "heads", None))
    return dict(q=kernel(heads), k=kernel(groups or heads), v=kernel(groups or heads), o=Array((heads, size, width), ("heads", None, "embed")))


def attend(keep, p, x, source=None, causal=False, bias=0.0, turn=lambda x: x):
    """Attention of x to source: [batch, length, width]. A group of query heads shares a key."""
    source = x if source is None else source
    q = keep(turn(jnp.einsum("btw,whd->bthd", x, p["q"])), "batch", "length", "heads", None)
    k, v = (keep(jnp.einsum("bsw,whd->bshd", source, p[name]), "batch", None, "heads", None) for name in ("k", "v"))
    b, t, heads, size = q.shape
    q = q.reshape(b, t, k.shape[2], -1, size)
    scores = jnp.einsum("btgrd,bsgd->bgrts", q, turn(k)) * size ** -0.5 + bias
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
    mixed = jnp.einsum("bgrts,bsgd->btgrd", jax.nn.softmax(scores, -1), v).reshape(b, t, heads, size)
    return jnp.einsum("bthd,hdw->btw", keep(mixed, "batch", "length", "heads", None), p["o"])


def mlp_weights(width, hidden):
    return dict(up=matrix(width, hidden, "embed", "mlp"), down=matrix(hidden, width, "mlp", "embed"))


def mlp(keep, p, x, act=jax.nn.gelu):
    names = ("batch", "length", "mlp") if x.ndim == 3 else ("batch", "mlp")
    return keep(act(x @ p["up"]), *names) @ p["down"]


def tokens(length, name="length"):
    return Array((BATCH, length), ("batch", name), jnp.int32)


def embedding(words, width):
    return matrix(words, width, "vocab", "embed")


def stream(keep, x):
    return keep(x, "batch", "length", None)


def llama(keep, layers):
    """Llama 3 8B: 32 heads that share 8 keys, rotary positions, SwiGLU."""
    width, hidden, words, length = 4096, 14336, 128256, 2048
    one = dict(attention_weights(width, 32, 128, 8), **mlp_weights(width, hidden), gate=matrix(width, hidden, "embed", "mlp"),
               norm1=vector(width), norm2=vector(width))
    weights = dict(embedding=embedding(words, width), layers=[one] * layers, norm=vector(width), head=matrix(width, words, "embed", "vocab"))

    def turn(x):
        angles = jnp.arange(length)[:, None] / 500000 ** (jnp.arange(0, 128, 2) / 128)
        c, s = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate([first * c - second * s, second * c + first * s], -1)

    def loss(p, inputs):
        x = stream(keep, p["embedding"][inputs["x"]])
        for q in p["layers"]:
            x = stream(keep, x + attend(keep, q, rms_norm(x, q["norm1"]), causal=True, turn=turn))
            h = rms_norm(x, q["norm2"])
            h = keep(jax.nn.silu(h @ q["gate"]) * (h @ q["up"]), "batch", "length", "mlp")
            x = stream(keep, x + h @ q["down"])
        return cross_entropy(keep(rms_norm(x, p["norm"]) @ p["head"], "batch", "length", "vocab"), inputs["y"])
    return weights, dict(x=tokens(length), y=tokens(length)), loss


def gpt2(keep, layers):
    """GPT-2 XL: 25 heads, which no axis divides, in square kernels that one divides; a tied embedding of padded words."""
    width, words, length, heads = 1600, 50304, 1024, 25
    one = dict(qkv=matrix(width, 3 * width, "embed", "heads"), o=matrix(width, width, "heads", "embed"), **mlp_weights(width, 4 * width),
               norm1=matrix(2, width, None, None), norm2=matrix(2, width, None, None))
    weights = dict(embedding=embedding(words, width), positions=matrix(length, width, None, "embed"), layers=[one] * layers,
                   norm=matrix(2, width, None, None))

    def attention(q, x):
        whole = lambda x: keep(x, "batch", "length", None, None)
        parts = jnp.split(x @ q["qkv"], 3, -1)
        query, key, value = (whole(part.reshape(*x.shape[:2], heads, -1)) for part in parts)
        scores = jnp.einsum("bthd,bshd->bhts", query, key) / 8
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
        return whole(jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1), value)).reshape(x.shape) @ q["o"]

    def loss(p, inputs):
        x = stream(keep, p["embedding"][inputs["x"]] + p["positions"])
        for q in p["layers"]:
            x = stream(keep, x + attention(q, layer_norm(x, q["norm1"])))
            x = stream(keep, x + mlp(keep, q, layer_norm(x, q["norm2"])))
        return cross_entropy(keep(layer_norm(x, p["norm"]) @ p["embedding"].T, "batch", "length", "vocab"), inputs["y"])
    return weights, dict(x=tokens(length), y=tokens(length)), loss


def t5(keep, layers):
    """T5 3B: an encoder and a decoder with biases by relative position, ReLU, 32 heads of 128."""
    width, hidden, words, length, heads = 1024, 16384, 32128, 512, 32
    half = dict(attention_weights(width, heads, 128), norm1=vector(width), norm2=vector(width), **mlp_weights(width, hidden))
    weights = dict(embedding=embedding(words, width), encoder=[half] * layers,
                   decoder=[dict(half, cross=attention_weights(width, heads, 128), norm3=vector(width))] * layers,
                   biases=[matrix(32, heads, None, "heads")] * 2, norms=[vector(width)] * 2, head=matrix(width, words, "embed", "vocab"))

    def bias(table):
        distance = jnp.abs(jnp.arange(length)[:, None] - jnp.arange(length))
        return jnp.moveaxis(table[jnp.minimum(31, distance // 4)], 2, 0)[:, None]

    def loss(p, inputs):
        relu = jax.nn.relu
        x, near = stream(keep, p["embedding"][inputs["x"]]), bias(p["biases"][0])
        for q in p["encoder"]:
            x = stream(keep, x + attend(keep, q, rms_norm(x, q["norm1"]), bias=near))
            x = stream(keep, x + mlp(keep, q, rms_norm(x, q["norm2"]), relu))
        source, near = rms_norm(x, p["norms"][0]), bias(p["biases"][1])
        x = stream(keep, p["embedding"][inputs["y"]])
        for q in p["decoder"]:
            x = stream(keep, x + attend(keep, q, rms_norm(x, q["norm1"]), causal=True, bias=near))
            x = stream(keep, x + attend(keep, q["cross"], rms_norm(x, q["norm3"]), source))
            x = stream(keep, x + mlp(keep, q, rms_norm(x, q["norm2"]), relu))
        logits = keep(rms_norm(x, p["norms"][1]) @ p["head"], "batch", "length", "vocab")
        return cross_entropy(logits, inputs["labels"])
    return weights, dict(x=tokens(length), y=tokens(length), labels=tokens(length)), loss


def encoder_weights(width, heads, hidden):
    return dict(attention_weights(width, heads, width // heads), **mlp_weights(width, hidden), bias1=vector(hidden, "mlp"), bias2=vector(width),
                norm1=matrix(2, width, None, None), norm2=matrix(2, width, None, None))


def encoder_mlp(keep, q, x):
    return keep(jax.nn.gelu(x @ q["up"] + q["bias1"]), "batch", "length", "mlp") @ q["down"] + q["bias2"]


def bert(keep, layers):
    """BERT large: norms after the sums, masked words taken out of the sequence, a head on the first word."""
    width, words, length = 1024, 30528, 512
    weights = dict(embedding=embedding(words, width), positions=matrix(length, width, None, "embed"), segments=matrix(2, width, None, "embed"),
                   layers=[encoder_weights(width, 16, 4096)] * layers, pool=matrix(width, width, "embed", "mlp"),
                   next=matrix(width, 2, None, None), norm=matrix(2, width, None, None), masked=matrix(width, width, "embed", "mlp"))

    def loss(p, inputs):
        x = p["embedding"][inputs["x"]] + p["positions"] + p["segments"][inputs["segments"]]
        x = stream(keep, layer_norm(x, p["norm"]))
        for q in p["layers"]:
            x = stream(keep, layer_norm(x + attend(keep, q, x), q["norm1"]))
            x = stream(keep, layer_norm(x + encoder_mlp(keep, q, x), q["norm2"]))
        words = keep(jnp.take_along_axis(x, inputs["places"][..., None], 1), "batch", None, None)
        logits = keep(jax.nn.gelu(words @ p["masked"]) @ p["embedding"].T, "batch", None, "vocab")
        pair = jnp.tanh(x[:, 0] @ p["pool"]) @ p["next"]
        return cross_entropy(logits, inputs["labels"]) + cross_entropy(pair, inputs["follows"])
    inputs = dict(x=tokens(length), segments=tokens(length), places=tokens(80, None), labels=tokens(80, None), follows=Array((BATCH,), ("batch",), jnp.int32))
    return weights, inputs, loss


def vit(keep, layers):
    """ViT-g/14 on images of 224 x 224: 256 patches, mean of their features, 1,000 classes."""
    width, patch = 1408, 14
    weights = dict(patches=matrix(3 * patch * patch, width, None, "embed"), positions=matrix(256, width, None, "embed"),
                   layers=[encoder_weights(width, 16, 6144)] * layers, norm=matrix(2, width, None, None), head=matrix(width, 1000, "embed", "vocab"))

    def loss(p, inputs):
        x = stream(keep, inputs["x"] @ p["patches"] + p["positions"])
        for q in p["layers"]:
            x = stream(keep, x + attend(keep, q, layer_norm(x, q["norm1"])))
            x = stream(keep, x + encoder_mlp(keep, q, layer_norm(x, q["norm2"])))
        return cross_entropy(keep(jnp.mean(layer_norm(x, p["norm"]), 1) @ p["head"], "batch", "vocab"), inputs["y"])
    return weights, dict(x=Array((BATCH, 256, 3 * patch * patch), ("batch", "length", None)), y=Array((BATCH,), ("batch",), jnp.int32)), loss


def moe(keep, layers):
    """A mixture of 64 experts, two for each word, with a capacity, as GShard sends words to them; 16 heads."""
    width, hidden, experts, words, length = 2048, 2048, 64, 50304, 2048
    capacity = 2 * length // experts
    one = dict(attention_weights(width, 16, 128), route=matrix(width, experts, None, None), norm1=vector(width), norm2=vector(width),
               up=Array((experts, width, hidden), ("experts", "embed", "mlp")), down=Array((experts, hidden, width), ("experts", "mlp", "embed")))
    weights = dict(embedding=embedding(words, width), layers=[one] * layers, norm=vector(width), head=matrix(width, words, "embed", "vocab"))

    def mixture(q, x):
        gates = jax.nn.softmax(x @ q["route"], -1)
        sent, rest = 0.0, gates
        for _ in range(2):
            chosen = jax.nn.one_hot(jnp.argmax(rest, -1), experts)
            place = jnp.cumsum(chosen, 1) * chosen - 1
            sent += (gates * chosen)[..., None] * jax.nn.one_hot(place, capacity)
            rest = rest * (1 - chosen)
        sent = keep(sent, "batch", "length", None, None)
        given = keep(jnp.einsum("btec,btw->ebcw", (sent > 0).astype(x.dtype), x), "experts", "group", None, None)
        h = keep(jax.nn.gelu(jnp.einsum("ebcw,ewh->ebch", given, q["up"])), "experts", "group", None, "mlp")
        made = keep(jnp.einsum("ebch,ehw->ebcw", h, q["down"]), "experts", "group", None, None)
        return jnp.einsum("btec,ebcw->btw", sent, made)

    def loss(p, inputs):
        x = stream(keep, p["embedding"][inputs["x"]])
        for q in p["layers"]:
            x = stream(keep, x + attend(keep, q, rms_norm(x, q["norm1"]), causal=True))
            x = stream(keep, x + mixture(q, rms_norm(x, q["norm2"])))
        return cross_entropy(keep(rms_norm(x, p["norm"]) @ p["head"], "batch", "length", "vocab"), inputs["y"])
    return weights, dict(x=tokens(length), y=tokens(length)), loss


def kernel(size, inputs, outputs, names=("embed", "mlp")):
    return Array((size, size, inputs, outputs), (None, None, *names))


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def image(keep, x):
    return keep(x, "batch", "length", None, None)


def unet(keep, layers):
    """The U-Net of 512 x 512 images: `layers` levels, each halves the image and doubles the 64 channels, two convolutions each."""
    sizes = [64 * 2 ** level for level in range(layers + 1)]
    pair = lambda before, after: dict(a=kernel(3, before, after), b=kernel(3, after, after, ("mlp", "embed")), norm=matrix(2, after, None, None))
    weights = dict(down=[pair(before, after) for before, after in zip([3, *sizes], sizes)],
                   up=[dict(pair(2 * size, size), grow=kernel(2, 2 * size, size)) for size in sizes[-2::-1]], head=kernel(1, 64, 2, (None, None)))
    weights["down"][0]["a"] = kernel(3, 3, 64, (None, "mlp"))

    def both(q, x):
        h = keep(jax.nn.relu(conv(x, q["a"])), "batch", "length", None, "mlp")
        return image(keep, jax.nn.relu(layer_norm(conv(h, q["b"]), q["norm"])))

    def loss(p, inputs):
        x, kept = inputs["x"], []
        for level, q in enumerate(p["down"]):
            x = both(q, x)
            if level < layers:
                kept.append(x)
                x = image(keep, lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))
        for q, side in zip(p["up"], kept[::-1]):
            x = lax.conv_transpose(x, q["grow"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = both(q, jnp.concatenate([side, image(keep, x)], -1))
        return cross_entropy(image(keep, conv(x, p["head"])), inputs["y"])
    return weights, dict(x=Array((BATCH, 512, 512, 3), ("batch", "length", None, None)), y=Array((BATCH, 512, 512), ("batch", "length", None), jnp.int32)), loss


def resnet(keep, layers):
    """ResNet-152 on images of 224 x 224, with statistics of the whole batch: of its 50 blocks, `layers`, at least one a stage."""
    counts = [max(1, round(layers * count / 50)) for count in (3, 8, 36, 3)]
    norms = lambda size, name: Array((2, size), (None, name))

    def block(before, width, first):
        found = dict(a=kernel(1, before, width), b=kernel(3, width, width, ("embed", "mlp")), c=kernel(1, width, 4 * width, ("mlp", "embed")),
                     norms=[norms(width, None), norms(width, None), norms(4 * width, None)])
        return dict(found, side=kernel(1, before, 4 * width), norm=norms(4 * width, None)) if first else found

    before, stages = 64, []
    for stage, count in enumerate(counts):
        width = 64 * 2 ** stage
        stages.append([block(before if at == 0 else 4 * width, width, at == 0) for at in range(count)])
        before = 4 * width
    weights = dict(stem=kernel(7, 3, 64, (None, "mlp")), norm=norms(64, None), stages=stages, head=matrix(2048, 1000, "embed", "vocab"))

    def norm(x, gain):
        mean = jnp.mean(x, (0, 1, 2))
        return (x - mean) * lax.rsqrt(jnp.mean(x * x, (0, 1, 2)) - mean * mean + 1e-5) * gain[0] + gain[1]

    def loss(p, inputs):
        x = image(keep, jax.nn.relu(norm(conv(inputs["x"], p["stem"], 2), p["norm"])))
        x = image(keep, lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"))
        for stage, blocks in enumerate(p["stages"]):
            for q in blocks:
                stride = 2 if stage and "side" in q else 1
                h = keep(jax.nn.relu(norm(conv(x, q["a"]), q["norms"][0])), "batch", "length", None, "mlp")
                h = keep(jax.nn.relu(norm(conv(h, q["b"], stride), q["norms"][1])), "batch", "length", None, "mlp")
                side = norm(conv(x, q["side"], stride), q["norm"]) if "side" in q else x
                x = image(keep, jax.nn.relu(norm(conv(h, q["c"]), q["norms"][2]) + side))
        return cross_entropy(keep(jnp.mean(x, (1, 2)) @ p["head"], "batch", "vocab"), inputs["y"])
    return weights, dict(x=Array((BATCH * 4, 224, 224, 3), ("batch", "length", None, None)), y=Array((BATCH * 4,), ("batch",), jnp.int32)), loss


def state_space(keep, layers):
    """Mamba 1.4B: a diagonal recurrence over the sequence whose steps depend on the words, by an associative scan."""
    width, inner, states, words, length = 2048, 4096, 16, 50304, 2048
    one = dict(norm=vector(width), up=Array((width, 2, inner), ("embed", None, "mlp")), window=Array((4, inner), (None, "mlp")),
               into=Array((inner, 2, states), ("mlp", None, None)), rate=matrix(inner, 128, "mlp", None), rates=matrix(128, inner, None, "mlp"),
               decay=matrix(inner, states, "mlp", None), skip=vector(inner, "mlp"), down=matrix(inner, width, "mlp", "embed"))
    weights = dict(embedding=embedding(words, width), layers=[one] * layers, norm=vector(width), head=matrix(width, words, "embed", "vocab"))

    def mixed(q, x):
        both = keep(jnp.einsum("btw,wki->btki", x, q["up"]), "batch", "length", None, "mlp")
        x, gate = both[:, :, 0], both[:, :, 1]
        padded = jnp.pad(x, ((0, 0), (3, 0), (0, 0)))
        x = jax.nn.silu(sum(padded[:, at:at + length] * q["window"][at] for at in range(4)))
        pair = jnp.einsum("bti,iks->btks", x, q["into"])
        step = keep(jax.nn.softplus(x @ q["rate"] @ q["rates"]), "batch", "length", "mlp")
        kept = jnp.exp(-step[..., None] * jnp.exp(q["decay"]))
        added = (step * x)[..., None] * pair[:, :, None, 0]
        join = lambda before, after: (before[0] * after[0], after[0] * before[1] + after[1])
        _, state = lax.associative_scan(join, (kept, added), axis=1)
        y = jnp.einsum("btis,bts->bti", keep(state, "batch", "length", "mlp", None), pair[:, :, 1]) + q["skip"] * x
        return (y * jax.nn.silu(gate)) @ q["down"]

    def loss(p, inputs):
        x = stream(keep, p["embedding"][inputs["x"]])
        for q in p["layers"]:
            x = stream(keep, x + mixed(q, rms_norm(x, q["norm"])))
        return cross_entropy(keep(rms_norm(x, p["norm"]) @ p["head"], "batch", "length", "vocab"), inputs["y"])
    return weights, dict(x=tokens(length), y=tokens(length)), loss


def two_tower(keep, layers):
    """A recommender: tables of 10^8 users and 10^8 items, a tower for each, softmax over the items of the batch."""
    rows, size, batch = 10 ** 8, 64, 16384
    widths = [size * 8, 1024, 512, 256][:layers + 1]
    tower = [matrix(a, b, *(("embed", "mlp"), ("mlp", "embed"))[at % 2]) for at, (a, b) in enumerate(zip(widths, widths[1:]))]
    weights = dict(users=matrix(rows, size, "rows", None), items=matrix(rows, size, "rows", None), query=tower, candidate=tower)

    def features(table, ids, tower):
        x = keep(keep(table[ids], "batch", None, None).reshape(batch, -1), "batch", None)
        for at, w in enumerate(tower):
            x = keep(jax.nn.relu(x @ w), "batch", None if at % 2 else "mlp")
        return x

    def loss(p, inputs):
        user, item = features(p["users"], inputs["x"], p["query"]), features(p["items"], inputs["y"], p["candidate"])
        return cross_entropy(keep(user @ item.T, "batch", None), jnp.arange(batch))
    return weights, {name: Array((batch, 8), ("batch", None), jnp.int32) for name in ("x", "y")}, loss


def dit(keep, layers):
    """DiT-XL/2: latents of 32 x 32 x 4 in 256 patches, norms with scales and shifts that depend on the time and the class."""
    width = 1152
    one = dict(attention_weights(width, 16, 72), **mlp_weights(width, 4 * width), change=Array((width, 6, width), ("embed", None, "mlp")))
    weights = dict(patches=matrix(16, width, None, "embed"), positions=matrix(256, width, None, "embed"),
                   time=dict(up=matrix(256, width, "embed", "mlp"), down=matrix(width, width, "mlp", "embed")),
                   classes=matrix(1000, width, "vocab", "embed"), layers=[one] * layers, head=matrix(width, 16, "embed", None))

    def norm(x, shift, scale):
        x = x - jnp.mean(x, -1, keepdims=True)
        return rms_norm(x, 1.0) * (1 + scale[:, None]) + shift[:, None]

    def loss(p, inputs):
        x = stream(keep, inputs["x"] @ p["patches"] + p["positions"])
        angles = inputs["t"][:, None] * jnp.exp(-jnp.arange(128) / 14)
        time = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)
        c = keep(mlp(keep, p["time"], time, jax.nn.silu) + p["classes"][inputs["class"]], "batch", None)
        for q in p["layers"]:
            change = keep(jnp.einsum("bw,wkv->bkv", jax.nn.silu(c), q["change"]), "batch", None, None)
            s1, m1, g1, s2, m2, g2 = (change[:, at] for at in range(6))
            x = stream(keep, x + g1[:, None] * attend(keep, q, norm(x, s1, m1)))
            x = stream(keep, x + g2[:, None] * mlp(keep, q, norm(x, s2, m2)))
        return jnp.mean((rms_norm(x, 1.0) @ p["head"] - inputs["y"]) ** 2)
    patches = Array((BATCH * 4, 256, 16), ("batch", "length", None))
    return weights, dict(x=patches, y=patches, t=Array((BATCH * 4,), ("batch",)), **{"class": Array((BATCH * 4,), ("batch",), jnp.int32)}), loss


def lstm(keep, layers):
    """LSTM language model of 8 layers of 1,024 units, 256 words, each layer a scan."""
    width, words, length = 1024, 32000, 256
    one = dict(x=Array((width, 4, width), ("embed", None, "mlp")), h=Array((width, 4, width), ("embed", None, "mlp")), b=Array((4, width), (None, "mlp")))
    weights = dict(embedding=embedding(words, width), layers=[one] * layers, head=matrix(width, words, "embed", "vocab"))

    def layer(q, x):
        given = keep(jnp.einsum("btw,wgh->tbgh", x, q["x"]) + q["b"], None, "batch", None, "mlp")

        def step(state, now):
            h, c = state
            i, f, o, u = jnp.moveaxis(now + jnp.einsum("bw,wgh->bgh", h, q["h"]), 1, 0)
            c = keep(jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u), "batch", "mlp")
            h = keep(jax.nn.sigmoid(o) * jnp.tanh(c), "batch", "mlp")
            return (h, c), h
        zero = jnp.zeros((x.shape[0], width))
        return jnp.swapaxes(lax.scan(step, (zero, zero), given)[1], 0, 1)

    def loss(p, inputs):
        x = stream(keep, p["embedding"][inputs["x"]])
        for q in p["layers"]:
            x = stream(keep, layer(q, x))
        return cross_entropy(keep(x @ p["head"], "batch", "length", "vocab"), inputs["y"])
    return weights, dict(x=tokens(length, None), y=tokens(length, None)), loss


def smoke(keep, layers):
    """Two dense layers: tests the driver."""
    weights = dict(mlp_weights(64, 128))
    loss = lambda p, inputs: jnp.mean((mlp(keep, p, inputs["x"]) - inputs["y"]) ** 2)
    return weights, {name: Array((256, 64), ("batch", None)) for name in "xy"}, loss


PLAIN = ("data", "fully sharded", "tensor", "fully sharded x tensor")
ALL = (*PLAIN, "sequence")
FAMILIES = {
    "llama": Family(llama, 4, 32, ALL),
    "gpt2": Family(gpt2, 4, 48, ALL),
    "t5": Family(t5, 4, 24, ALL),
    "bert": Family(bert, 4, 24, ALL),
    "vit": Family(vit, 4, 40, ALL),
    "moe": Family(moe, 4, 16, ("data", "fully sharded", "expert", "fully sharded x expert")),
    "unet": Family(unet, 4, 4, ALL),
    "resnet": Family(resnet, 12, 50, ALL),
    "state space": Family(state_space, 4, 48, ALL),
    "two tower": Family(two_tower, 3, 3, ("fully sharded", "tensor", "fully sharded x tensor")),
    "dit": Family(dit, 4, 28, ALL),
    "lstm": Family(lstm, 8, 8, PLAIN),
    "smoke": Family(smoke, 1, 1, PLAIN),
}
