"""Keras' train, evaluate and predict steps as functions of flat lists, with a port for each argument and result.

    step = make_step("train", model, batch, places, options)
    step.function(*arrays)      # as JAXTrainer.train_step: results in the order of step.results

Metrics that are means give their batch's sum and count, which the training loop adds up as Keras' Mean does. Any other
(AUC, F1) keeps its variables from step to step, ports of the role metric_state, and gives its value so far, a number or
a list of them: its port has the fact "running".
"""

import dataclasses

import jax.numpy as jnp
import keras
from keras import tree
from keras.src import backend
from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.metrics import reduction_metrics

from . import models, values
from .batch import Port
from .refusal import Refusal


@dataclasses.dataclass
class Step:
    kind: str
    function: object
    avals: list
    arguments: list  # list of Port
    results: list


def _is_mean(metric):
    """Whether the metric only adds to a sum and a count, and its result is their quotient."""
    cls, mean = type(metric), reduction_metrics.Mean
    return isinstance(metric, mean) and cls.result is mean.result and cls.reset_state is mean.reset_state and \
        cls.update_state in (mean.update_state, reduction_metrics.MeanMetricWrapper.update_state)


def _direction(metric):
    """The direction of a metric, if Keras gives one: for callbacks of mode "auto"."""
    direction = getattr(metric, "_direction", None)
    return {"direction": direction} if direction in ("up", "down") else {}


def _leaves(metric):
    inner = getattr(metric, "metrics", None)
    return [leaf for each in inner for leaf in _leaves(each)] if isinstance(inner, list) and inner else [metric]


def _logged(model):
    """Metrics by the name under which Keras shows their result."""
    leaves = {id(leaf): leaf for metric in model.metrics for leaf in _leaves(metric)}
    try:
        for leaf in leaves.values():
            leaf.result = lambda leaf=leaf: leaf
        return model.get_metrics_result()
    finally:
        for leaf in leaves.values():
            del leaf.result


def _role(variable, model):
    if variable.name == "seed_generator_state":
        return "state"
    return "weight"


def _axes(variable, distribution):
    """The mesh's axes for each dimension of a variable; None without a distribution."""
    if distribution is None:
        return None
    layout = distribution.get_variable_layout(variable)
    axes = getattr(layout, "axes", None)
    axes = tuple(layout.spec) if axes is None else tuple(axes)
    return axes + (None,) * (len(variable.shape) - len(axes))


class _Tracer:
    """The variables of a model in Keras' order, and steps over them."""

    def __init__(self, model, batch, places, options):
        self.model, self.batch, self.options = model, batch, options
        self.places, self.distribution = places, keras.distribution.distribution()
        self.positions = values.h5_positions(model)
        self.trainable, self.others = model.trainable_variables, model.non_trainable_variables
        self.means, self.logged = {}, {}
        self.draws = models.draws(options.seed)

    def port(self, variable, role, is_in_file=False, weight=None):
        facts = values.facts(variable, self.places, is_in_file, self.averages().get(id(variable)),
                             self.rates().get(id(variable)), weight, self.draws, self.positions)
        return Port(variable.path, role, facts, _axes(variable, self.distribution))

    def optimizer_port(self, variable):
        """Slots are made for a weight and have its shape and, with _ for /, its path in their name."""
        for weight in self.trainable:
            if f"/{weight.path.replace('/', '_')}_" in variable.path and tuple(weight.shape) == tuple(variable.shape):
                return self.port(variable, "slot", weight=weight)
        return self.port(variable, "state")

    def averages(self):
        """The moving average, by id of a weight, that becomes its value when fit ends."""
        optimizer = getattr(self.model, "optimizer", None)  # missing in a model that is not compiled
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if not getattr(optimizer, "use_ema", False):
            return {}
        return {id(weight): average
                for weight, average in zip(self.trainable, optimizer._model_variables_moving_average)}

    def rates(self):
        """The name of the optimizer, by id of a learning rate that a callback may set."""
        optimizer = getattr(self.model, "optimizer", None)
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        return {id(rate): each.name for each in getattr(optimizer, "optimizers", None) or [optimizer]
                if isinstance(rate := getattr(each, "_learning_rate", None), backend.Variable)}

    def model_ports(self):
        """Ports in the order of model.variables, which is that of the file."""
        archive = self.options.model.endswith(".keras")
        return {id(v): self.port(v, _role(v, self.model), archive) for v in self.model.variables}

    def find_metrics(self):
        self.logged = _logged(self.model)
        positions = {id(v): position for position, v in enumerate(self.model.metrics_variables)}
        for metric in self.logged.values():
            if _is_mean(metric):
                self.means[id(metric)] = (positions[id(metric.total)], positions[id(metric.count)])
        self.fixed = {position for pair in self.means.values() for position in pair}

    def metric_starts(self, given):
        """Initial values of metrics' variables: means begin at zero in each step; `given` are the variables of the
        others."""
        given = iter(given)
        return [jnp.zeros(v.shape, v.dtype) if position in self.fixed else next(given)
                for position, v in enumerate(self.model.metrics_variables)]

    def shown(self, logs, after):
        """The values that Keras would show, by name: as in fit, the metrics' results if a step's logs are theirs."""
        if set(logs) != set(self.logged):
            return {name: (jnp.asarray(value), {"running": True}) for name, value in logs.items()}
        mapping = list(zip(self.model.metrics_variables, after))
        with backend.StatelessScope(state_mapping=mapping):
            results = self.model.get_metrics_result()
        found = {}
        for name, metric in self.logged.items():
            if id(metric) in self.means:
                total, count = self.means[id(metric)]
                found[name] = (jnp.stack([after[total], after[count]]), _direction(metric))
            else:
                found[name] = (jnp.asarray(results[name]), {"running": True} | _direction(metric))
        return found

    def state(self, with_optimizer, with_metrics):
        groups = [self.trainable, self.others]
        ports = self.model_ports()
        listed = [[ports[id(v)] for v in group] for group in groups]
        if with_optimizer:
            groups.append(self.model.optimizer.variables)
            listed.append([self.optimizer_port(v) for v in groups[-1]])
        if with_metrics:
            groups.append([v for i, v in enumerate(self.model.metrics_variables) if i not in self.fixed])
            listed.append([self.port(v, "metric_state") for v in groups[-1]])
        return groups, listed

    def step(self, kind):
        groups, ports = self.state(kind == "train", kind != "predict")
        flat_ports = [port for group in ports for port in group]
        data = [self.batch.x] if kind == "predict" else \
            [self.batch.x, self.batch.y] + ([self.batch.sample_weight] if self.batch.sample_weight is not None else [])
        leaves, inputs = tree.flatten(data), self.batch.ports
        results = []

        def function(*arguments):
            state, at = [], 0
            for group in groups:
                state.append(list(arguments[at:at + len(group)]))
                at += len(group)
            given = tree.pack_sequence_as(data, list(arguments[at:]))
            shown, after = self.run(kind, state, given)
            results[:] = [*flat_ports, *(port for port, _ in shown)]
            return [value for group in after for value in group] + [value for _, value in shown]

        avals = [values.aval(v) for group in groups for v in group] + leaves
        return Step(kind, function, avals, flat_ports + inputs[:len(leaves)], results)

    def run(self, kind, state, data):
        """Runs the step: returns ((port, value) of each shown value, the groups of variables after it)."""
        if kind == "predict":
            outputs, others = self.model.predict_step((state[0], state[1]), (data[0],))
            names = self.batch.output_names
            named = ["y"] if len(names) == 1 else [f"y/{name}" for name in names]
            return [(Port(name, "output"), value) for name, value in zip(named, tree.flatten(outputs))], [state[0], others]
        metrics, model = self.metric_starts(state[-1]), self.model
        step = model.train_step if kind == "train" else model.test_step
        logs, after = step((*state[:-1], metrics), tuple(data))
        shown = []
        for name, (value, said) in sorted(self.shown(logs, after[-1]).items()):
            if value.ndim > 1 or (value.shape not in ((), (2,)) and "running" not in said):
                raise Refusal(f"{self.options.model}: metric {name} gives an array of shape {list(value.shape)}; the "
                              "training loop shows numbers and lists of them: leave it out with --metrics")
            shown.append((Port(f"metrics/{name}", "metric", said), value))
        kept = [value for position, value in enumerate(after[-1]) if position not in self.fixed]
        return shown, [*after[:-1], kept]


def is_keras_own(model, kind):
    name = {"train": "train_step", "evaluate": "test_step", "predict": "predict_step"}[kind]
    return getattr(type(model), name) is getattr(JAXTrainer, name)


def kinds_of(model):
    """The kinds of steps of a model; one that is not compiled can only predict."""
    if not model.compiled:
        return ["predict"]
    has_loss = model._compile_loss is not None or not is_keras_own(model, "train") or model.losses
    return ["train", "evaluate", "predict"] if has_loss and model.optimizer is not None else ["predict"]


def make_steps(model, batch, options):
    """All steps of one batch size."""
    kinds = kinds_of(model)
    if "train" in kinds:
        model._symbolic_build(data_batch=(batch.x, batch.y, batch.sample_weight))
    tracer = _Tracer(model, batch, values.saved_places(model), options)
    if "train" in kinds:
        tracer.find_metrics()
    return [tracer.step(kind) for kind in kinds]
