"""A Functional model of N Dense layers, as Keras' model.json has it: deep_model.py 512."""

import json
import sys

layers, width = int(sys.argv[1]), 64


def tensor(source):
    shape = {"shape": [None, width], "dtype": "float32", "keras_history": [source, 0, 0]}
    return [{"args": [{"class_name": "__keras_tensor__", "config": shape}], "kwargs": {}}]


configs = [{"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
            "config": {"batch_shape": [None, width], "dtype": "float32", "name": "x"}}]
for i in range(layers):
    configs.append({"class_name": "Dense", "name": f"d{i}", "inbound_nodes": tensor(configs[-1]["name"]),
                    "config": {"name": f"d{i}", "units": width, "activation": "relu", "use_bias": True}})
ends = {"input_layers": [["x", 0, 0]], "output_layers": [[f"d{layers - 1}", 0, 0]]}
json.dump({"class_name": "Functional", "config": {"name": "deep", "layers": configs, **ends},
           "compile_config": {"optimizer": "adam", "loss": "mean_squared_error"}}, sys.stdout)
