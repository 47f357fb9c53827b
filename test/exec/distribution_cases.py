"""Files of distributions that are refused: (name, arguments of weft)."""

import json


class DistributionCases:
    """The cases; needs a `scratch` folder, `write(name, text)` and a `model_file` (error_cases.Cases)."""

    def distribution(self, name, class_name="ModelParallel", mesh=None, **config):
        mesh = {"shape": [2, 4], "axis_names": ["data", "model"], "devices": None, **(mesh or {})}
        config = {"device_mesh": mesh, "layout_map": {}, **config}
        return self.write(f"{name}.json", json.dumps({"class_name": class_name, "config": config}))

    def distributions(self):
        def layout(path, *flags):
            return ["layout", self.model_file, "--distribution", path, *flags]
        rules = {"d1/kernel": [None, "model"]}
        yield "no file", layout(self.scratch / "nothing.json")
        yield "cut", layout(self.write("cut.json", '{"class_name": '))
        yield "class", layout(self.distribution("class", class_name="DataParalel"))
        yield "field", layout(self.distribution("field", batch_dim="data"))
        yield "no layout map", layout(self.distribution("bare", layout_map=None))
        yield "mesh larger", layout(self.distribution("larger"), "--devices", "cpu:4")
        yield "sizes and names", layout(self.distribution("names", mesh={"axis_names": ["data"]}))
        yield "empty mesh", layout(self.distribution("empty", mesh={"shape": []}))
        yield "devices listed", layout(self.distribution("listed", mesh={"devices": ["cpu:0"]}))
        names = [f"cpu:{i}" for i in range(1, 9)]
        yield "device unknown", layout(self.distribution("device", mesh={"devices": names}), "--devices", "cpu:8")
        yield "batch axis", layout(self.distribution("batch", batch_dim_name="batch"))
        yield "regex", layout(self.distribution("regex", regex="match"))
        yield "axis", layout(self.distribution("axis", layout_map={"d1/kernel": [None, "modle"]}))
        yield "axis twice", layout(self.distribution("twice", layout_map={"d1/kernel": ["model", "model"]}))
        yield "rank", layout(self.distribution("rank", layout_map={"d1/kernel": [None, "model", None]}))
        yield "rule", layout(self.distribution("rule", layout_map={"d1/kernel": "model"}))
        yield "pattern", layout(self.distribution("pattern", layout_map={"d1/(kernel": ["model"]}))
        yield "backtracking", layout(self.distribution("slow", layout_map={"((((((([a-z/0-9]*)*)*)*)*)*)*)*[!0]": ["model"]}))
        yield "ambiguous", layout(self.distribution("two", layout_map={"d1/k.*": rules["d1/kernel"],
                                                                        "d./kernel": ["model", None]}))
        def placed(name, layers, axis="model", **config):
            return layout(self.distribution(name, placements={"axis": axis, "layers": layers}, **config))
        yield "place of no axis", placed("place-axis", {"d1": 0}, axis="branch")
        yield "places of no layers", placed("place-list", ["d1"])
        yield "place out of range", placed("place-range", {"d1": 4})
        yield "place of no layer", placed("place-layer", {"d9": 0})
        yield "layer in two places", placed("place-two", {"d1.*": 0, "d[12]": 1})
        yield "layout over a place", placed("place-layout", {"d1": 0}, layout_map=rules)
        yield from self.pipelines()

        def strategy(name, **config):
            made = {"device_mesh": {"shape": [2, 4], "axis_names": ["rows", "columns"]}, **config}
            return layout(self.write(f"{name}.json", json.dumps({"class_name": "Distribution", "config": made})))
        yield "own without mesh", strategy("meshless", device_mesh=None)
        yield "own rules", strategy("list", variable_layouts=["rows"])
        yield "own ambiguous", strategy("both", variable_layouts={"d1/k.*": ["rows"], "d./kernel": ["columns"]})
        yield "data of no rank", strategy("rank-word", data_layout={"images": ["rows"]})
        yield "data too deep", strategy("rank-deep", data_layout={"1": ["rows", "columns"]})
        yield "data axis", strategy("data-axis", data_layout=["batch"])

    def pipelines(self):
        def staged(name, stages, **config):
            mesh = {"axis_names": ["stage", "data"]}
            return ["layout", self.model_file, "--distribution",
                    self.distribution(name, mesh=mesh, pipeline={"axis": "stage", "stages": stages, **config})]
        stages = [["flatten", "d1"], ["d2"]]
        yield "pipeline of no axis", staged("pipe-axis", stages, axis="stages")
        yield "more stages than the axis", staged("pipe-more", [*stages, ["d3"]])
        yield "chunks of stages", staged("pipe-twice", [["flatten"], ["d1"], ["d2"], ["d3"]])
        words = staged("pipe-back", [["d1"], ["flatten"], ["d2"], ["dropout"]], microbatches=4, schedule="interleaved")
        yield "layers behind the last chunk", [words[0], self.fixtures / "seed-functional-mlp" / "model.json", *words[2:]]
        yield "no lists of stages", staged("pipe-lists", {"d1": 0})
        yield "stage of no layer", staged("pipe-layer", [["flatten", "d1"], ["d9"]])
        yield "layer in two stages", staged("pipe-two", [["flatten", "d1.*"], ["d[12]"]])
        yield "layer in no stage", staged("pipe-none", [["flatten"], ["d2"]])
        yield "stages in a cycle", staged("pipe-cycle", [["flatten", "d2"], ["d1"]])
        tied = self.fixtures / "gpt-tied" / "model.json"
        for what, name, lists in (("a call behind another stage", "pipe-call", [["table", "embed_drop", "block0.*"], ["block1.*", "ln_f"]]),
                                  ("a list of no call", "pipe-unused", [["table", "embed_drop", "block.*", "ln_f"], ["table"]])):
            words = staged(name, lists)
            yield what, [words[0], tied, *words[2:]]
        deep = self.distribution("pipe-deep", mesh={"shape": [8, 1], "axis_names": ["stage", "data"]}, pipeline={"axis": "stage", "stages": "auto"})
        yield "more stages than layers", ["layout", self.model_file, "--distribution", deep]
        yield "no microbatches", staged("pipe-zero", stages, microbatches=0)
        yield "field of a pipeline", staged("pipe-field", stages, microbatchs=4)
        yield "no schedule", staged("pipe-name", stages, microbatches=4, schedule="1f2b")
        yield "schedule of chunks", staged("pipe-chunks", stages, microbatches=4, schedule="interleaved")

        def scheduled(name, *lists, microbatches=2):
            self.write(f"{name}-order.json", json.dumps({"microbatches": 2, "stages": [each.split() for each in lists]}))
            return staged(name, stages, microbatches=microbatches, schedule=f"{name}-order.json")
        yield "deadlock", scheduled("pipe-dead", "F0 B0 F1 B1", "F0 F1 B0 B1")
        yield "messages in two orders", scheduled("pipe-order", "F0 F1 B1 B0", "F0 F1 B0 B1")
        yield "item missing", scheduled("pipe-missing", "F0 F1 B0", "F0 F1 B0 B1")
        yield "no loop", scheduled("pipe-loop", "F1 F0 B1 B0", "F1 F0 B1 B0")
        yield "other numbers", scheduled("pipe-numbers", "F0 F1 B0 B1", "F0 B0 F1 B1", microbatches=4)
        flags = scheduled("pipe-flag", "F0 F1 B0 B1", "F0 B0 F1 B1")[1:]
        yield "pipeline and microbatches", ["explain", *flags, "--microbatches", "3"]
