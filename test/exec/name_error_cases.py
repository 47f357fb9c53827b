"""Cases of names in models, flags and data that are refused: parts of the sections models and data."""


class NameCases:
    def name_cases(self):
        layout = ["layout"]
        yield "ESC", [*layout, self.layer("esc", 2, name="d1\x1b[31m")]
        yield "an empty file", [*layout, self.write("empty.keras", b"")]
        yield "shape of no input", [*layout, self.model_file, "--shape", "WRONG=3"]
        yield "shape of a misspelt input", [*layout, self.model_file, "--shape", "input_layr=28x28"]

    def unread_cases(self, fit):
        """Arrays and flags that no input and no output takes."""
        x, y = ((8, 28, 28), bytes(8 * 784)), ((8,), bytes(8))
        yield "labels of a misspelt output", fit("--data", self.write_npz("near-y.npz", **{"x": x, "y": y, "y/d22": y}))
        yield "labels of no output", fit("--data", self.write_npz("far-y.npz", **{"x": x, "y": y, "y/nothing": y}))
        two = self.fixtures / "multi-io" / "model.json"
        inputs = {"x/a": ((8, 16), bytes(128)), "x/b": ((8, 16), bytes(128)), "y/price": ((8, 1), bytes(8)), "y/kind": y}
        yield "one array of several inputs", ["fit", two, "--seed", "1", "--data", self.write_npz("one-x.npz", x=x, **inputs)]
        yield "a file without use", fit("--data", self.good_data, "--x", f"{self.good_data}:x", "--y", f"{self.good_data}:y")
        yield "images", fit("--data", self.good_data, "--image-seed", "1")
        yield "columns", fit("--data", self.good_data, "--inputs", "x")
        yield "weights of classes and of the file", fit("--data", self.write_npz("weights.npz", x=x, y=y, sample_weight=y),
                                                        "--class-weight", "0:2")

    def own_classes(self):
        own = {"module": "builtins", "class_name": "function", "config": "my_own", "registered_name": "function"}
        for kind in ("loss", "metrics"):
            yield f"own function as {kind}", ["explain", self.model(
                f"own-{kind}", lambda m: m["compile_config"].update({kind: own if kind == "loss" else [own]}))]
        yield "own class as metric", ["explain", self.model("own-class", lambda m: m["compile_config"].update(metrics=[
            {"module": "mine", "class_name": "Beauty", "config": {"name": "beauty"}, "registered_name": "mine>Beauty"}]))]
