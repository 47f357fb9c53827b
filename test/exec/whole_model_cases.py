"""Files that hold whole models, or something else: (name, arguments of weft). `cases` is that of error_cases.py."""

import json


def other_files(cases):
    """Files that are no model of Keras, or one that is not supported as a whole."""
    of_js = {"format": "layers-model", "modelTopology": {"model_config": {}}, "weightsManifest": []}
    yield "TensorFlow.js", ["layout", cases.write("js.json", json.dumps(of_js))]
    yield "a graph of TensorFlow.js", ["layout", cases.write("graph.json", json.dumps({**of_js, "format": "graph-model"}))]
    yield "an empty file", ["layout", cases.write("empty.keras", "")]
    yield "another kind of file", ["layout", cases.write("model.pb", b"\x08\x01\x12\xff\x00\x00\x00\x00")]
    (cases.scratch / "saved").mkdir()
    (cases.scratch / "saved" / "saved_model.pb").write_bytes(b"")
    yield "a SavedModel", ["layout", cases.scratch / "saved"]
    quantized = {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int2", "source_name": "float32"}}
    yield "quantized weights", ["layout", cases.layer("value", 2, dtype=quantized)]
    quantized = {"class_name": "QuantizedFloat8DTypePolicy", "config": {"mode": "float8", "source_name": "float32", "amax_history_length": 0}}
    yield "no history of float8", ["layout", cases.layer("history", 2, dtype=quantized)]
    yield "training of float8", ["explain", cases.fixtures / "quantized" / "float8.keras"]
    yield "unsupported option", ["layout", cases.layer("optional", 0, optional=True)]


def weights(cases, archive, predict):
    """Files of weights of another model."""
    yield "foreign archive", predict(archive)
    yield "more layers", predict(cases.fixtures / "legacy" / "keras3_sequential.h5")
    yield "another layer", predict(cases.fixtures / "legacy" / "keras2_frozen.h5")
    data = cases.write_npz("heads.npz", x=((2, 4, 6), bytes(48)))
    yield "integers for floats", ["predict", cases.fixtures / "quantized" / "heads.keras", "--x", f"{data}:x", "--out", cases.scratch / "p.npy"]


def altered_h5(cases):
    """Models in .h5 files, altered in bytes of the same number."""
    legacy = cases.fixtures / "legacy"
    good = (legacy / "keras3_sequential.h5").read_bytes()

    def altered(name, old, new, content=good):
        assert old in content and len(old) == len(new)
        return ["layout", cases.write(f"{name}.h5", content.replace(old, new))]

    yield "cut .h5", ["layout", cases.write("cut.h5", good[:3000])]
    yield "weights alone", altered("weights", b"model_config", b"modem_config")
    yield "a weight that is not there", altered("lost", b"sequential/dense/bias", b"sequential/dense/boas")
    yield "another shape", altered("shape", b'"units": 4', b'"units": 5')
    yield "another number of weights", altered("count", b'"use_bias": true,', b'"use_bias":false,')
    yield "training_config", altered("training", b'{"loss": ', b'["loss": ')
    nested = (legacy / "keras3_nested.h5").read_bytes()
    yield "a function of keras.ops", altered("function", b'"trainable": true', b'"trainablE": true', nested)


def of_keras2(cases):
    """Models of Keras 2 of which Keras 3 computes something else."""
    legacy = cases.fixtures / "legacy"
    yield "an optimizer of Keras 2", ["layout", legacy / "keras2_sequential.h5"]
    decays = (legacy / "keras2_frozen.h5").read_bytes().replace(b"optimizer_weights", b"optimizer_weightz")
    yield "a decay of Keras 2", ["layout", cases.write("decay.h5", decays)]
    hard = {"class_name": "Activation", "config": {"name": "hard", "activation": "hard_sigmoid", "batch_input_shape": [None, 4]}}
    yield "a formula of Keras 2", ["layout", cases.write("hard.json", json.dumps(
        {"class_name": "Sequential", "keras_version": "2.4.0", "config": {"name": "old", "layers": [hard]}}))]
