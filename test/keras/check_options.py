"""Compares the options of Weft's classes with the signatures of the installed Keras.

    check_options.py OPTIONS.json     as WEFT_WRITE_OPTIONS=OPTIONS.json keras-docs-test writes it

Each parameter of a class's constructor is an option of the same name and default, in the same order; each option is a
parameter. DIFFERENCES has the exceptions, with the reason for each.
"""

import inspect
import json
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras  # noqa: E402

MODULES = {
    "layers": keras.layers,
    "initializers": keras.initializers,
    "regularizers": keras.regularizers,
    "constraints": keras.constraints,
    "losses": keras.losses,
    "metrics": keras.metrics,
    "optimizers": keras.optimizers,
    "schedules": keras.optimizers.schedules,
    "callbacks": keras.callbacks,
}
# Options of every class of the kind, which base/config and the class's base read.
COMMON = {
    "layers": {"name", "dtype", "trainable"},
    "losses": {"name", "dtype", "fn", "reduction"},
    "metrics": {"name", "dtype", "fn"},
    "optimizers": {"name"},
    "schedules": {"name"},
}
BASE_OF_OPTIMIZERS = list(inspect.signature(keras.optimizers.Optimizer.__init__).parameters)[1:]

# Options without a parameter of this name in the signature, by the reason.
INHERITED = "**kwargs takes it for a base class, whose get_config writes it"
SAVED = "get_config of a base class writes it, the class itself has no use for it"
OPTIONS = {
    ("Activation", "EinsumDense", "Embedding", "ReversibleEmbedding", "RNN", "TimeDistributed"): ({"activity_regularizer"}, INHERITED),
    ("Conv1D", "Conv2D", "Conv3D"): ({"lora_rank", "lora_alpha", "quantization_config"}, INHERITED),
    ("ReversibleEmbedding",): ({"lora_rank", "lora_alpha", "quantization_config"}, INHERITED),
    ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"): ({"unroll", "zero_output_for_mask"}, INHERITED),
    ("GRU", "LSTM", "SimpleRNN"): ({"zero_output_for_mask"}, INHERITED),
    ("AdditiveAttention",): ({"seed"}, INHERITED),
    ("LayerNormalization",): ({"rms_scaling"}, "models of earlier versions of Keras have it"),
    ("AutoContrast", "RandomBrightness", "RandomContrast", "Solarization"): ({"bounding_box_format", "data_format"}, INHERITED),
    ("RandomRotation",): ({"value_range"}, SAVED),
    ("RandomColorJitter", "RandomCrop"): ({"factor"}, SAVED),
    tuple(
        "RandomColorDegeneration RandomColorJitter RandomCrop RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom".split()
    ): ({"bounding_box_format"}, INHERITED),
    ("LossScaleOptimizer",): (set(BASE_OF_OPTIMIZERS) | {"dynamic"}, INHERITED),
}
# Parameters without an option: get_config does not write them, or the class cannot be read with them.
PARAMETERS = {
    ("CategoryEncoding",): ({"sparse"}, "get_config does not write it"),
    ("Embedding", "Bidirectional"): ({"weights"}, "values of weights are in the file of weights"),
    ("InputLayer",): ({"shape", "batch_size", "input_tensor"}, "get_config writes batch_shape"),
    ("GRU", "LSTM"): ({"use_cudnn"}, "get_config does not write it"),
    ("CosineSimilarity",): ({"axis"}, "the metric's get_config does not write it"),
}
# Defaults that are written in another form.
DEFAULTS = {
    ("CategoryEncoding", "num_tokens"): "without a number the layer cannot be built",
    ("InputLayer", "sparse"): "null is false",
    ("InputLayer", "ragged"): "null is false",
    ("RandomErasing", "factor"): "f stands for the range from 0 to f",
    ("RandomGaussianBlur", "factor"): "f stands for the range from 0 to f",
    ("RandomGaussianBlur", "sigma"): "f stands for the range from 0 to f",
    ("RandomInvert", "factor"): "f stands for the range from 0 to f",
    ("TruePositives", "thresholds"): "null is 0.5",
    ("FalsePositives", "thresholds"): "null is 0.5",
    ("TrueNegatives", "thresholds"): "null is 0.5",
    ("FalseNegatives", "thresholds"): "null is 0.5",
}
# Classes whose options stand in another order than the parameters, by the reason.
ORDERS = {
    "the order of get_config": "AlphaDropout AUC Dropout InputLayer Normalization",
    "options that several classes share are read together": """Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv1D
        DepthwiseConv2D SeparableConv1D SeparableConv2D RandomColorDegeneration RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue
        RandomInvert RandomPosterization RandomSaturation RandomSharpness RandomShear RandomColorJitter RandomCrop SpatialDropout2D SpatialDropout3D
        IoU OneHotIoU MultiHeadAttention ReversibleEmbedding""",
    "the order in which the constructor draws seeds": "Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D GRU LSTM LSTMCell SimpleRNN SimpleRNNCell",
}


def listed(table, name):
    """The names that a table has for a class."""
    return {each for classes, (names, _) in table.items() if name in classes for each in names}


def signature(kind):
    """The constructor's parameters with their defaults."""
    fixed = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {each.name: each.default for each in inspect.signature(kind).parameters.values() if each.kind in fixed}


def plain(value):
    """A default as JSON: an object is the name of its class, several equal sizes are one."""
    if isinstance(value, (list, tuple)):
        values = [plain(each) for each in value]
        return values[0] if values and all(each == values[0] for each in values) else values
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def same(name, want, got):
    want, got = plain(want), plain(got)
    if isinstance(want, str) and name.endswith("initializer"):
        want = type(keras.initializers.get(want)).__name__
    if name == "data_format" and want is None:
        want = keras.config.image_data_format()
    if want == "type":  # inspect.Parameter.empty
        return True
    empty = (None, [], "", "linear")
    return want == got or (want in empty and got in empty)


def ordered(kind, names):
    """Options of every optimizer, which Weft reads first, and then the others."""
    if kind != "optimizers":
        return names
    return [name for name in names if name in BASE_OF_OPTIMIZERS] + [name for name in names if name not in BASE_OF_OPTIMIZERS]


def differences(kind, name, options):
    """What differs, as (table of exceptions, name, text)."""
    keras_class = getattr(MODULES[kind], name, None)
    if keras_class is None:
        return [(None, name, "is no class of Keras")] if name != "LayerScale" else []  # keras.src.applications.convnext
    common = COMMON.get(kind, ())
    want = {key: value for key, value in signature(keras_class).items() if key not in common}
    got = {option["name"]: option["default"] for option in options if option["name"] not in common}
    out = [("OPTIONS", key, "is no parameter") for key in got if key not in want]
    out += [("PARAMETERS", key, "is no option") for key in want if key not in got]
    here, there = ordered(kind, [key for key in want if key in got]), ordered(kind, [key for key in got if key in want])
    if here != there:
        out.append(("ORDERS", "order", " ".join(there) + ", not " + " ".join(here)))
    out += [("DEFAULTS", key, f"{got[key]!r}, not {plain(want[key])!r}") for key in want if key in got and not same(key, want[key], got[key])]
    return out


def allowed(name):
    """The exceptions for a class, as (table, name)."""
    out = {("OPTIONS", each) for each in listed(OPTIONS, name)} | {("PARAMETERS", each) for each in listed(PARAMETERS, name)}
    out |= {("DEFAULTS", key) for of, key in DEFAULTS if of == name}
    return out | {("ORDERS", "order") for names in ORDERS.values() if name in names.split()}


def main():
    with open(sys.argv[1]) as file:
        tables = json.load(file)
    count, wrong, used = 0, 0, set()
    for kind, classes in tables.items():
        for name, options in classes.items():
            count += len(options)
            for table, key, text in differences(kind, name, options):
                if (table, key) in allowed(name):
                    used.add((name, table, key))
                else:
                    wrong += 1
                    print(f"{kind}.{name}: {key}: {text}")
    names = {name for classes in tables.values() for name in classes}
    for name in sorted(names):
        for table, key in sorted(allowed(name)):
            if (name, table, key) not in used and name != "LossScaleOptimizer":
                wrong += 1
                print(f"{name}: {key}: stands in {table}, but does not differ")
    print(f"{count} options of {sum(map(len, tables.values()))} classes, {wrong} differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
