"""Models whose layers cannot be called as the file says: (name, arguments of weft)."""

import json


def sequential(shape, *layers, dtype="float32"):
    """The JSON of a Sequential of (class, config) with samples of this shape."""
    first = {"class_name": "InputLayer", "config": {"name": "input", "batch_shape": [None, *shape], "dtype": dtype}}
    rest = [{"class_name": kind, "config": {"name": "wrong", **config}} for kind, config in layers]
    return json.dumps({"class_name": "Sequential", "config": {"name": "outer", "layers": [first, *rest]}})


def merged(shapes, kind, called=True):
    """A Functional that calls one layer with inputs of these shapes."""
    names = [f"input_{i}" for i in range(len(shapes))]
    inputs = [{"class_name": "InputLayer", "name": name, "config": {"name": name, "batch_shape": [None, *shape]},
               "inbound_nodes": []} for name, shape in zip(names, shapes)]
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, 0]}} for name in names]
    layer = {"class_name": kind, "name": "wrong", "config": {"name": "wrong"},
             "inbound_nodes": [{"args": [tensors], "kwargs": {}}] if called else []}
    config = {"name": "outer", "layers": [*inputs, layer], "input_layers": [[name, 0, 0] for name in names],
              "output_layers": ["wrong", 0, 0] if called else ["input_0", 0, 0]}
    return json.dumps({"class_name": "Functional", "config": config})


def listing(*names):
    """A Functional of two inputs that lists these layers as its inputs."""
    model = json.loads(merged([(4,), (4,)], "Add"))
    model["config"]["input_layers"] = [[name, 0, 0] for name in names]
    return json.dumps(model)


def operation(kind, rest=(), outputs=None, shape=(4,), keywords=None, **config):
    """A Functional that applies a function of keras.ops to its input and the arguments in `rest` and `keywords`."""
    tensor = {"class_name": "__keras_tensor__", "config": {"keras_history": ["input", 0, 0]}}
    layers = [{"class_name": "InputLayer", "name": "input", "config": {"name": "input", "batch_shape": [None, *shape]},
               "inbound_nodes": []},
              {"module": "keras.src.ops.numpy", "class_name": kind, "name": "wrong", "config": {"name": "wrong", **config},
               "inbound_nodes": [{"args": [tensor, *rest], "kwargs": keywords or {}}]}]
    config = {"name": "outer", "layers": layers, "input_layers": [["input", 0, 0]], "output_layers": ["wrong", 0, 0]}
    return json.dumps({"class_name": "Functional", "config": config})


def called(shapes, kind, keywords, positional=True, first=None, **config):
    """A Functional that calls a layer with one input, and by name with the inputs (a number or a list) in `keywords`."""
    names = [f"input_{i}" for i in range(len(shapes))]
    tensor = lambda i: {"class_name": "__keras_tensor__", "config": {"keras_history": [names[i], 0, 0]}}
    inputs = [{"class_name": "InputLayer", "name": name, "config": {"name": name, "batch_shape": [None, *shape]},
               "inbound_nodes": []} for name, shape in zip(names, shapes)]
    given = {name: [tensor(i) for i in which] if isinstance(which, list) else tensor(which) for name, which in keywords.items()}
    layer = {"class_name": kind, "name": "wrong", "config": {"name": "wrong", **config},
             "inbound_nodes": [{"args": [first or tensor(0)] if positional else [], "kwargs": given}]}
    config = {"name": "outer", "layers": [*inputs, layer], "input_layers": [[name, 0, 0] for name in names],
              "output_layers": ["wrong", 0, 0]}
    return json.dumps({"class_name": "Functional", "config": config})


def sequences(lstm):
    """States and masks of recurrent layers that do not fit."""
    yield "mask of other times", called([(4, 3), (5,)], "LSTM", {"mask": 1}, units=2)
    yield "mask of other features, unrolled", called([(4, 3), (4, 3)], "LSTM", {"mask": 1}, units=2, unroll=True)
    yield "mask of images", called([(4, 3, 2), (4,)], "ConvLSTM1D", {"mask": 1}, filters=2, kernel_size=1)
    yield "one state of two", called([(4, 3), (2,)], "LSTM", {"initial_state": [1]}, units=2)
    yield "state of another size", called([(4, 3), (3,)], "GRU", {"initial_state": 1}, units=2)
    yield "three states of two ways", called([(4, 3), (2,)], "Bidirectional", {"initial_state": [1, 1, 1]}, layer=lstm,
                                             backward_layer={**lstm, "config": {**lstm["config"], "name": "back", "go_backwards": True}})
    yield "mask of samples", called([(4, 3), ()], "TimeDistributed", {"mask": 1}, layer={"class_name": "Dense", "config": {"name": "d", "units": 2}})
    yield "several results of each time", sequential((4, 5, 3), ("TimeDistributed", {"layer": {**lstm, "config": {**lstm["config"],
                                                                                                        "return_state": True}}}))


def inner_models():
    """Models inside a TimeDistributed that cannot be called as the file says."""
    tensor = lambda *history: {"class_name": "__keras_tensor__", "config": {"keras_history": list(history)}}
    entry = lambda kind, name, nodes=(), module="keras.layers", **config: {
        "module": module, "class_name": kind, "name": name, "config": {"name": name, **config},
        "inbound_nodes": [{"args": args, "kwargs": kwargs} for args, kwargs in nodes]}
    first = entry("InputLayer", "a", batch_shape=[None, 3])
    dense = entry("Dense", "d", [([tensor("a", 0, 0)], {})], units=2)

    def apart(*layers, inputs=("a",), output="d", kind="Functional", shape=(4, 3)):
        config = {"name": "inner", "layers": list(layers)}
        if kind == "Functional":
            config |= {"input_layers": [[name, 0, 0] for name in inputs], "output_layers": [output, 0, 0]}
        return sequential(shape, ("TimeDistributed", {"layer": {"class_name": kind, "config": config}}))

    yield "a model of two inputs", apart(first, {**first, "name": "b", "config": {**first["config"], "name": "b"}}, dense, inputs=("a", "b"))
    yield "a model of other inputs", apart(first, dense, shape=(4, 5))
    yield "an argument of an inner call", apart(first, {**dense, "inbound_nodes": [{"args": [tensor("a", 0, 0)], "kwargs": {"colour": 1}}]})
    yield "an output that is never computed", apart(first, dense, output="e")
    yield "a function in an inner model", apart(first, entry("Add", "d", [([tensor("a", 0, 0), 1], {})], module="keras.src.ops.numpy"))
    yield "an inner model without layers", apart(kind="Sequential")
    yield "a number as a layer", apart(7, kind="Sequential")
    yield "integers in an inner layer", json.dumps(json.loads(apart(first, dense).replace('"float32"', '"int32"').replace('"Dense"', '"ReLU"').replace('"units": 2, ', "").replace(', "units": 2', "")))


def images():
    """Random changes and norms whose options do not fit."""
    yield "one range of colours", sequential((4, 4, 3), ("RandomContrast", {"factor": 0.1, "value_range": [1]}))
    yield "a zoom above all", sequential((4, 4, 3), ("RandomZoom", {"height_factor": [0.1, 3]}))
    yield "images that are cut and padded", sequential((4, 4, 3), ("Resizing", {
        "height": 2, "width": 2, "crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True}))
    yield "images that are padded far", sequential((2, 2**12, 3), ("Resizing", {"height": 2**12, "width": 2, "pad_to_aspect_ratio": True}))
    yield "an adapter of a weight with a constraint", sequential((4,), ("Dense", {"units": 2, "lora_rank": 1, "kernel_constraint": "NonNeg"}))
    yield "images of any height", sequential((4, 4, 3), ("Resizing", {"height": 2**62, "width": 2}))
    yield "matrices of a resizing", sequential((2**20, 2, 3), ("UpSampling2D", {"size": [2**10, 2], "interpolation": "bilinear"}))
    yield "pools of a function", operation("MaxPool", shape=(4, 4, 3), pool_size=[2, 0])
    yield "blocks that do not divide", operation("SpaceToDepth", shape=(4, 4, 3), block_size=3)
    yield "a diagonal outside", operation("Diagonal", shape=(4, 4), offset=9)
    yield "a grid of matrices", operation("Meshgrid", shape=(4,))
    yield "a crop of vectors", sequential((3,), ("RandomCrop", {"height": 2, "width": 2}))
    yield "a rotation of videos", sequential((2, 4, 4, 3), ("RandomRotation", {"factor": 0.1}))
    yield "no kernel to divide", sequential((4,), ("SpectralNormalization", {"layer": {"class_name": "ReLU", "config": {"name": "r"}}}))
    yield "no layer to divide", sequential((4,), ("SpectralNormalization", {"layer": None}))
    yield "clipped without bounds", sequential((4,), ("BatchNormalization", {"renorm": True, "renorm_clipping": {"rmax": 1, "rmin": 2}}))
    yield "attention along features", called([(4, 3), (4, 3)], "MultiHeadAttention", {"value": 1}, num_heads=1, key_dim=2, attention_axes=[2])
    yield "order along two axes", called([(4, 4, 3), (4, 4, 3)], "MultiHeadAttention", {"value": 1}, num_heads=1, key_dim=2, sliding_window=2)
    yield "other sizes beside the axes", called([(4, 2, 3), (3, 2, 3)], "MultiHeadAttention", {"value": 1}, num_heads=1, key_dim=2,
                                                attention_axes=[2])
    yield "mask of other scores", called([(4, 4, 3), (4, 4, 3), (3, 3)], "MultiHeadAttention", {"value": 1, "attention_mask": 2}, num_heads=1,
                                         key_dim=2)


def quantized():
    """Quantized weights of layers that do not have them so."""
    policy = lambda mode: {"class_name": "QuantizedDTypePolicy", "config": {"mode": mode, "source_name": "float32"}}
    config = lambda kind, **config: {"class_name": kind, "config": config}
    scaled = lambda **of: config("Int8QuantizationConfig", activation_quantizer=config("AbsMaxQuantizer", **of))
    yield "integers of a norm", sequential((4,), ("LayerNormalization", {"dtype": policy("int8")}))
    yield "float8 of a table", sequential((4,), ("Embedding", {"input_dim": 3, "output_dim": 2, "dtype": policy("float8")}))
    for mode in ("float8", "awq/4/-1"):
        yield f"an adapter of {mode}", sequential((4,), ("Dense", {"units": 2, "lora_rank": 1, "dtype": policy(mode)}))
    yield "an adapter of turned integers", sequential((4, 3), ("EinsumDense", {
        "equation": "abc,cde->aebd", "output_shape": [2, 4, 5], "lora_rank": 1, "dtype": policy("int8")}))
    yield "a wide range", sequential((4,), ("Dense", {"units": 2, "dtype": policy("int8"), "quantization_config": scaled(value_range=[-5, 200])}))
    yield "groups of no rows", sequential((4,), ("Dense", {"units": 2, "dtype": policy("int4/4"), "quantization_config": config("Int4QuantizationConfig", block_size=0)}))
    yield "too many dimensions of integers", sequential((1,) * 60, ("Dense", {"units": 2, "dtype": policy("int8")}))
    yield "a calibrated kernel of four dimensions", sequential((4, 3), ("EinsumDense", {"equation": "abc,bcde->ade", "output_shape": [2, 2], "dtype": policy("gptq/4/-1")}))
    logits = json.loads(called([(4,)], "ReversibleEmbedding", {}, input_dim=3, output_dim=4, dtype=policy("int8"), quantization_config=scaled(axis=0)))
    logits["config"]["layers"][1]["inbound_nodes"][0]["kwargs"]["reverse"] = True
    yield "logits scaled along the batch", json.dumps(logits)


def arguments():
    """Arguments of calls that the layer does not take."""
    yield "mask of a softmax", called([(4, 3), (4, 2)], "Softmax", {"mask": 1})
    yield "mask of an average", called([(4, 3), (5,)], "GlobalAveragePooling1D", {"mask": 1})
    yield "mask of a batch", called([(4, 3), (5,)], "BatchNormalization", {"mask": 1})
    yield "masks of attention", called([(4, 3), (5,)], "Attention", {"inputs": [0, 0], "mask": [1, 1]}, positional=False)
    yield "argument that is no tensor", called([(4, 3)], "LSTM", {}, first="x", units=2)
    yield "argument given twice", called([(4, 3), (4, 3)], "LSTM", {"sequences": 1}, units=2)


def operations():
    """Functions of keras.ops that cannot be applied so."""
    yield "no function", operation("Bincount")
    yield "argument of another kind", operation("Add", [{"class_name": "Tokenizer", "config": {}}])
    yield "too many arguments", operation("Exp", [1, 2])
    yield "form of an argument", operation("ExpandDims", axis="last")
    yield "no batch", operation("Sum")
    yield "shapes of a function", operation("Add", [[1, 2, 3]])
    yield "axis of a function", operation("ExpandDims", axis=7)


def cases():
    """Yields (name, text of a model)."""
    yield "rank", sequential((28, 28), ("Conv2D", {"filters": 3, "kernel_size": 3}))
    yield "axis that is not there", sequential((4,), ("Softmax", {"axis": 3}))
    yield "axis of the batch", sequential((4,), ("LayerNormalization", {"axis": 0}))
    yield "windows", sequential((2, 2, 3), ("MaxPooling2D", {"pool_size": 3}))
    yield "reshape", sequential((4,), ("Reshape", {"target_shape": [3, 3]}))
    yield "integers", sequential((4,), ("Softmax", {}), dtype="int32")
    yield from operations()
    yield "one tensor", merged([(4,), (4,)], "Softmax")
    yield "shapes", merged([(4,), (3,)], "Add")
    yield "an input twice", listing("input_0", "input_0", "input_1")
    yield "an input missing", listing("input_0")
    yield "a layer as an input", listing("input_0", "input_1", "wrong")
    yield "units", sequential((4, 3), ("LSTM", {"units": 2**50}))
    yield "never called", merged([(4,)], "Softmax", called=False)
    lstm = {"class_name": "LSTM", "config": {"name": "lstm", "units": 2}}
    cell = {"class_name": "LSTMCell", "config": {"name": "cell", "units": 2}}
    image = {"filters": 2, "kernel_size": 5}
    yield "cell as a layer", sequential((4,), ("LSTMCell", {"units": 2}))
    yield "layer as a cell", sequential((4, 3), ("RNN", {"cell": lstm}))
    yield "no cells", sequential((4, 3), ("RNN", {"cell": {"class_name": "StackedRNNCells", "config": {"name": "none", "cells": []}}}))
    yield "rank of a sequence", sequential((4,), ("LSTM", {"units": 2}))
    yield "windows of a sequence", sequential((3, 4, 4, 2), ("ConvLSTM2D", image))
    yield "two ways alike", sequential((4, 3), ("Bidirectional", {"layer": lstm, "backward_layer": lstm}))
    yield "no way back", sequential((4, 3), ("Bidirectional", {"layer": cell, "backward_layer": lstm}))
    other = {"class_name": "LSTM", "config": {"name": "back", "units": 3, "go_backwards": True}}
    yield "two ways of two sizes", sequential((4, 3), ("Bidirectional", {"layer": lstm, "backward_layer": other, "merge_mode": "sum"}))
    yield "states of one way", sequential((4, 3), ("Bidirectional", {"layer": {**lstm, "config": {**lstm["config"], "return_state": True}},
                                                                     "backward_layer": other}))
    yield from sequences(lstm)
    yield from images()
    yield from arguments()
    inner = {"class_name": "Dense", "config": {"name": "dense", "units": 3}, "build_config": {"input_shape": [None, 3]}}
    again = {"class_name": "TimeDistributed", "config": {"name": "again", "layer": inner}}
    twice = json.loads(sequential((4, 3), ("TimeDistributed", {"layer": inner})))
    twice["config"]["layers"].append(again)
    yield "one path twice", json.dumps(twice)
    yield "no times", sequential((4,), ("TimeDistributed", {"layer": {"class_name": "Dense", "config": {"name": "dense", "units": 2}}}))
    dropped = {"class_name": "Dropout", "config": {"name": "drop", "rate": 0.5}}
    yield from inner_models()
    yield "too many times", sequential((2**20, 4), ("TimeDistributed", {"layer": dropped}))
    yield "constraint", sequential((4,), ("Dense", {"units": 2, "kernel_constraint": "max_nrom"}))
    yield from quantized()
