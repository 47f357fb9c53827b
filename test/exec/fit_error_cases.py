"""What weft fit refuses or warns of: cases of the sections fit, fit-flags and fit-warnings."""

import array
import json

import npz_values


class FitCases:
    def fit_command(self, *words):
        folder = self.fixtures / "callbacks"
        return ["fit", folder / "model.json", "--data", folder / "data.npz", "--seed", "1", "--verbose", "0", *words]

    def fit(self):
        data = self.fixtures / "callbacks" / "data.npz"
        yield "weights of classes and samples", self.fit_command("--class-weight", "0:2", "--sample-weight", f"{data}:y")
        yield "classes of time steps", ["fit", self.write("steps.json", self.time_steps()), "--data", self.series(),
                                        "--class-weight", "0:2"]
        several = self.fixtures / "multi-io"
        yield "classes of several outputs", ["fit", several / "model.json", "--data", several / "golden.npz",
                                             "--class-weight", "0:2"]
        yield "labels of validation", self.fit_command("--validation-x", f"{data}:val_x")

    @staticmethod
    def time_steps():
        """A model whose labels are one number for each of 4 time steps."""
        dense = {"class_name": "Dense", "config": {"name": "d", "units": 1}}
        return json.dumps({"class_name": "Sequential",
                           "config": {"name": "steps", "build_input_shape": [None, 4, 3], "layers": [dense]},
                           "compile_config": {"optimizer": "sgd", "loss": "mse"}})

    def series(self):
        path = self.scratch / "series.npz"
        npz_values.write(path, {"x": ((2, 4, 3), array.array("f", [1] * 24)), "y": ((2, 4, 1), array.array("f", [1] * 8))})
        return path

    def fit_flags(self):
        for flag, value in (("--class-weight", "0=1"), ("--class-weight", "{}"), ("--class-weight", '{"a": 1}'),
                            ("--class-weight", "0:nan"), ("--shuffle", "yes"), ("--validation-freq", "0"),
                            ("--validation-freq", "1,,2"), ("--validation-freq", "[0]")):
            yield f"{flag} {value}", self.fit_command(flag, value)

    def fit_warnings(self):
        yield "steps per epoch", self.fit_command("--steps-per-epoch", "3", "--epochs", "1")
