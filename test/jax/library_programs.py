"""Programs of libraries that stand on JAX, for libraries.py. Each returns arrays that depend on all its computations."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

PROGRAMS = {}
FEATURES = np.random.default_rng(0).normal(size=(64, 16)).astype(np.float32)
CLASSES = (FEATURES[:, :4].sum(1) > 0).astype(np.int32)
TOKENS = np.arange(80, dtype=np.int32).reshape(8, 10) % 20


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def cross_entropy(logits, classes):
    import optax

    return optax.softmax_cross_entropy_with_integer_labels(logits, classes).mean()


def descend(loss, parameters, optimizer, steps=4):
    """The losses of some steps."""
    import optax

    @jax.jit
    def step(parameters, state, index):
        value, gradients = jax.value_and_grad(loss)(parameters, jax.random.key(index))
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    state, losses = optimizer.init(parameters), []
    for index in range(steps):
        parameters, state, value = step(parameters, state, index)
        losses.append(value)
    return jnp.stack(losses)


def descend_nnx(model, loss):
    import optax
    from flax import nnx

    optimizer = nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return value

    return jnp.stack([step(model, optimizer) for _ in range(4)])


@program
def optax_optimizers():
    import optax

    def loss(parameters, _):
        hidden = jax.nn.relu(FEATURES @ parameters["first"])
        return cross_entropy(hidden @ parameters["second"], CLASSES)

    names = ["adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamaxw", "adamw", "amsgrad", "fromage", "lamb", "lars", "lion",
             "nadam", "nadamw", "noisy_sgd", "novograd", "optimistic_adam", "optimistic_gradient_descent", "radam", "rmsprop", "rprop", "sgd",
             "sign_sgd", "sm3", "yogi"]
    optimizers = {name: getattr(optax, name) for name in names if hasattr(optax, name)}
    optimizers |= {name: getattr(optax.contrib, name) for name in ("ademamix", "adopt", "muon") if hasattr(optax.contrib, name)}
    parameters = {"first": jnp.asarray(FEATURES[:16, :16]) / 4, "second": jnp.asarray(FEATURES[16:32, :2]) / 4}
    return {name: descend(loss, parameters, optimizer(learning_rate=1e-2)) for name, optimizer in optimizers.items()}


@program
def flax_nnx_convolutions():
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.convolution = nnx.Conv(1, 8, (3, 3), rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.dropout = nnx.Dropout(0.2, rngs=rngs)
            self.head = nnx.Linear(128, 10, rngs=rngs)

        def __call__(self, images):
            hidden = nnx.avg_pool(nnx.relu(self.norm(self.convolution(images))), (2, 2), strides=(2, 2))
            return self.head(self.dropout(hidden.reshape(len(images), -1)))

    images = jnp.asarray(np.random.default_rng(1).normal(size=(16, 8, 8, 1)), jnp.float32)
    return descend_nnx(Model(nnx.Rngs(0)), lambda model: cross_entropy(model(images), jnp.arange(16) % 10))


@program
def flax_nnx_recurrence_and_attention():
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(20, 16, rngs=rngs)
            self.recur = nnx.RNN(nnx.OptimizedLSTMCell(16, 16, rngs=rngs), rngs=rngs)
            self.attend = nnx.MultiHeadAttention(num_heads=4, in_features=16, decode=False, rngs=rngs)
            self.norm = nnx.LayerNorm(16, rngs=rngs)
            self.head = nnx.Linear(16, 20, rngs=rngs)

        def __call__(self, tokens):
            hidden = self.recur(self.embed(tokens))
            return self.head(self.norm(hidden + self.attend(hidden, mask=nnx.make_causal_mask(tokens))))

    return descend_nnx(Model(nnx.Rngs(0)), lambda model: cross_entropy(model(TOKENS)[:, :-1], TOKENS[:, 1:]))


@program
def flax_linen_scanned_transformer():
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            x = x + nn.SelfAttention(num_heads=4)(nn.LayerNorm()(x))
            return x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x)))), None

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            blocks = nn.scan(nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
            return nn.Dense(2)(blocks()(nn.Embed(20, 16)(tokens), None)[0].mean(1))

    model = Model()
    loss = lambda parameters, _: cross_entropy(model.apply(parameters, TOKENS), CLASSES[:8])
    return descend(loss, model.init(jax.random.key(0), TOKENS), optax.adam(1e-3))


@program
def flax_linen_partitioned():
    import flax.linen as nn
    import optax

    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

    def dense(width, *axes):
        return nn.Dense(width, kernel_init=nn.with_partitioning(nn.initializers.lecun_normal(), axes))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            return dense(2, "model", None)(nn.relu(dense(32, None, "model")(x)))

    model = Model()
    specs = nn.get_partition_spec(jax.eval_shape(model.init, jax.random.key(0), FEATURES))
    shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs)
    parameters = jax.jit(model.init, out_shardings=shardings)(jax.random.key(0), FEATURES)
    rows = NamedSharding(mesh, PartitionSpec("data"))
    features, classes = jax.device_put(FEATURES, rows), jax.device_put(CLASSES, rows)
    return descend(lambda parameters, _: cross_entropy(model.apply(parameters, features), classes), parameters, optax.adam(1e-2))


@program
def equinox_recurrence():
    import equinox as eqx
    import optax

    cell = eqx.nn.GRUCell(4, 8, key=jax.random.key(0))
    head = eqx.nn.Linear(8, 1, key=jax.random.key(1))
    learned, fixed = eqx.partition((cell, head), eqx.is_inexact_array)

    def loss(parameters, _):
        cell, head = eqx.combine(parameters, fixed)
        last = lambda sequence: lax.scan(lambda state, x: (cell(x, state), None), jnp.zeros(8), sequence)[0]
        found = jax.vmap(lambda sequence: jax.nn.sigmoid(head(last(sequence)))[0])(FEATURES.reshape(64, 4, 4))
        return jnp.mean((found - CLASSES) ** 2)

    return descend(loss, learned, optax.adam(1e-2))


@program
def haiku_variational_autoencoder():
    import haiku as hk
    import optax

    def negative_bound(x):
        hidden = jax.nn.relu(hk.Linear(32)(x))
        mean, log_variance = hk.Linear(4)(hidden), hk.Linear(4)(hidden)
        code = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(hk.next_rng_key(), mean.shape)
        error = jnp.mean((hk.Linear(16)(jax.nn.relu(hk.Linear(32)(code))) - x) ** 2)
        return error - 0.05 * jnp.mean(1 + log_variance - mean**2 - jnp.exp(log_variance))

    transformed = hk.transform(negative_bound)
    parameters = transformed.init(jax.random.key(0), FEATURES)
    return descend(lambda parameters, key: transformed.apply(parameters, key, FEATURES), parameters, optax.adam(1e-2))


@program
def numpyro_variational_inference():
    import numpyro
    import numpyro.distributions as dist
    from numpyro import infer

    def model(x, y):
        scale = numpyro.sample("scale", dist.Gamma(2.0, 2.0))
        shares = numpyro.sample("shares", dist.Dirichlet(jnp.ones(3)))
        weights = numpyro.sample("weights", dist.Normal(0, 1).expand([16]).to_event(1))
        numpyro.sample("y", dist.StudentT(3.0, x @ weights, scale + shares[0]), obs=y)

    inference = infer.SVI(model, infer.autoguide.AutoNormal(model), numpyro.optim.Adam(1e-2), infer.Trace_ELBO())
    return inference.run(jax.random.key(0), 20, FEATURES, CLASSES.astype(np.float32), progress_bar=False).losses


@program
def numpyro_hamiltonian_chain():
    """A chain of four steps: rounding makes longer chains on two platforms diverge."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro import infer

    def model(x, y):
        weights = numpyro.sample("weights", dist.Normal(0, 1).expand([16]).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)

    kernel = infer.NUTS(model, step_size=0.1, adapt_step_size=False, adapt_mass_matrix=False, max_tree_depth=3)
    chain = infer.MCMC(kernel, num_warmup=0, num_samples=4, progress_bar=False)
    chain.run(jax.random.key(0), FEATURES, CLASSES)
    return chain.get_samples()


@program
def diffrax_adaptive_steps():
    import diffrax

    def end(decay):
        term = diffrax.ODETerm(lambda t, y, decay: -decay * y + jnp.sin(t))
        control = diffrax.PIDController(rtol=1e-4, atol=1e-6)
        found = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 2.0, 0.1, jnp.array([1.0, 2.0]), args=decay, stepsize_controller=control,
                                    saveat=diffrax.SaveAt(ts=jnp.linspace(0, 2, 5)))
        return jnp.sum(found.ys**2), found.ys

    return jax.jit(jax.value_and_grad(end, has_aux=True))(jnp.float32(0.5))
