"""Every flag of a command is used, or refused by a message that names it and the other flag.

    check_flag_use.py WEFT FLAG_RUNS SCRATCH COMMAND...

FLAG_RUNS is the program of flag-runs.cpp, which judges and runs command lines without a start of weft for each.

The flags are those that `weft COMMAND --help` lists; each needs a value. For each pair of flags, with a third where one of
them needs it, the command line says whether it refuses both together (status 2), in which case the message names both. Sets
of flags that cover each other pair are run as a whole, and

* again without each flag whose value has a visible effect (SEEN): if nothing changes, the set has dropped the flag;
* again with each flag whose value fails where it is read (WRONG): if the run does not fail with the flag or its value in
  the message, the set has dropped the flag.
"""

import array
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import npz_values

# Flags whose use a small run does not show, with the reason, by command or for all.
UNSEEN = {
    "": {"--help": "ends the command", "--matmul-precision": "a permission, of which CPUs make no use",
         "--config": "its keys are flags (fit-config.test)", "--init-only": "ends the command before its data are used",
         "--backup": "is removed at the end (backup.test)", "--save-every": "as --backup",
         "--check-numerics": "is about NaN only", "--data-memory": "keeps the bits (sources.test)",
         "--max-shard-size": "one shard holds this model", "--interpolation": "is for images",
         "--crop-to-aspect-ratio": "is for images", "--class-names": "is for images", "--image-seed": "is for images",
         "--inputs": "is for tables (tables.test)", "--targets": "is for tables", "--missing": "is for tables",
         "--allow-microbatch-statistics": "this model has none (microbatches.test)",
         "--verbose": "a pipe gets the same lines", "--graphs": "is for GPUs (test/cuda/graphs.test)",
         "--collectives": "is for GPUs (test/cuda/nccl.test)",
         "--share": "keeps the bits (shared-memory.test)", "--overlap": "keeps the bits (overlap.test)",
         "--rings": "this model has no rings (rings.test)"},
    "explain": {"--learning-rate": "the rate is a variable", "--fix-seconds": "ends a search that this model does not need",
                "--all": "this model has no rows to leave out (explain-rows.test)"},
    "compile": {"--learning-rate": "the rate is a variable", "--kernel": "is for assembly"},
    "profile": {"--seed": "draws inputs, which are not printed"},
    "evaluate": {"--batch-size": "keeps the printed loss", "--data-parallel": "keeps it, too"},
    "predict": {"--batch-size": "keeps the bits of predictions", "--data-parallel": "keeps them, too"},
    "layout": {"--step": "is for programs; a model refuses it by name"},
    "summary": {"--expand-nested": "this model has none inside"},
    "reshard": {"--no-exchange": "this movement needs none"}}
# Flags whose use shows in a set only beside another one.
SHOWN_BY = {"--data-parallel": "--devices",  # one device has nothing to split
            "--devices": "--stats"}  # losses are the same on any number
NUMBER = re.compile(r"[0-9.]+(e[-+]?\d+)?")
TIMES = re.compile(r"\b[0-9.]+ ?(s|ms|us)\b(/step)?")
MEASURED = re.compile(r'(?<="(?:ts|ms)":)[0-9.]+|(?<="dur":)[0-9.]+|(?<=_ms": )[0-9.e-]+|(?<="ms": )[0-9.e-]+|(?<=_share": )[0-9.e-]+')


def without_times(text):
    """The text of a run without times, so that two runs of one command line are equal."""
    lines = [line.rpartition("\b")[2].rstrip() for line in text.splitlines()]  # a bar is drawn as often as there is time
    text = "\n".join(line for line in lines if line)
    text = MEASURED.sub("", TIMES.sub("", text))
    text = re.sub(r"^ +\d+ +\d\S+ +\d.*?(others.*)?$", r"\1", text, flags=re.M)  # a row of profile's table
    if "Execution time report" in text:
        text = re.sub(r"^.*(Execution time|seconds|\(\s*[0-9.]+%\)|---).*$", "(times)", text, flags=re.M)
        text = re.sub(r"(\(times\)\n+)+", "(times)\n", text)
    return text


def contents(path):
    """The bytes of a file without the times in it."""
    if path.suffix == ".keras":  # metadata.json and the archive's checksums hold the date
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != "metadata.json"}
    data = path.read_bytes()
    if path.name == "s.json":
        return NUMBER.sub("", data.decode())
    return without_times(data.decode()) if path.name == "t.json" else data


class Runs:
    """The process that judges and runs command lines."""

    def __init__(self, program, scratch):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=scratch)

    def ask(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else sys.exit(f"{line}: no answer")

    def end(self):
        self.process.communicate()


class Command:
    """One command with its flags and the words of a run."""

    def __init__(self, weft, runs, name, scratch):
        self.weft, self.runs, self.name, self.scratch = weft, runs, name, scratch
        model, data, out = scratch / "model.json", scratch / "data.npz", scratch / "out"
        self.out = out
        none = scratch / "none.npz"
        wrong = {"--distribution": scratch / "none.json", "--devices": "cuda:64", "--shape": "x=5", "--target": "cpu:avx1024",
                 "--optimizer": "adamm", "--loss": "mean_sq", "--metrics": "beauty", "--memory": "16", "--expect": "bytes<=-1",
                 "--microbatches": "4096",
                 "--from": "nothing", "--inputs": none, "--data": none, "--x": f"x={none}:x", "--y": f"{none}:y", "--sample-weight": f"{none}:w", "--weights": none,
                 "--validation-x": f"{none}:x", "--validation-y": f"{none}:y", "--only": "nothing",
                 "--validation-sample-weight": f"{none}:w", "--add-channel": None, "--why": "nothing", "--dtype": "b16",
                 "--callback": "Nothing()", "--step": "predict", "--no-exchange": None}
        seen = {"--data-parallel": None, "--timing": None, "--learning-rate": "0.3", "--seed": "7", "--batch-size": "3",
                "--divide-by": "3", "--validation-split": "0.1", "--validation-batch-size": "1", "--validation-steps": "1",
                "--validation-freq": "2", "--epochs": "4", "--initial-epoch": "1", "--steps-per-epoch": "2", "--max-steps": "5",
                "--shuffle": "batch", "--no-shuffle": None, "--class-weight": "0:1,1:3", "--drop-remainder": None,
                "--save": out / "m.keras", "--save-weights": out / "w.npz", "--history": out / "h.json",
                "--history-steps": None, "--stats": out / "s.json", "--verify": None, "--json": None, "--bar": None,
                "--html": out / "page.html", "--kernels": None, "--expand-nested": None, "--show-trainable": None,
                "--line-length": "50", "--validation-data": scratch / "other.npz", "--emit": "plan", "--list": None,
                "--outputs": out / "r.npz", "--repeat": "3", "--top": "1", "--trace": out / "t.json", "--peak-bandwidth": "7.5",
                "--peak-operations": "7.5"}
        if name in ("explain", "layout", "compile", "fit"):
            wrong.pop("--devices")
            seen["--devices"] = "cpu:2"
        if name in ("explain", "layout", "compile"):
            wrong.pop("--step")
            seen["--step"] = "train" if name == "layout" else "predict"
        if name == "reshard":
            seen.update({"--mesh": "x=8", "--shape": "16x32", "--from": "[x,-]", "--to": "[-,x]", "--no-exchange": None,
                         "--dtype": "bf16"})
            wrong = {}
        self.seen_flags, self.wrong_flags = seen, wrong
        self.values = {**wrong, **seen}
        self.needed = {"fit": [model, "--x", f"x={data}:x", "--y", f"{data}:y", "--epochs", "2", "--seed", "1",
                               "--batch-size", "4"],
                       "evaluate": [model, "--x", f"x={data}:x", "--y", f"{data}:y", "--seed", "1"],
                       "predict": [model, "--x", f"x={data}:x", "--seed", "1", "--out", out / "p.npy"],
                       "reshard": ["--mesh", "x=4", "--shape", "16x16", "--from", "[-,x]", "--to", "[x,-]"],
                       "compile": [model, "--seed", "1", "--out", out / "step.weft"],
                       "run": [scratch / "prog.mlir", "--inputs", scratch / "in.npz", "--outputs", out / "o.npz"],
                       "profile": [scratch / "prog.mlir"], "devices": []}.get(name, [model])
        self.flags = self.listed()

    def listed(self):
        """The flags of the table, without those of UNSEEN; each must have a value."""
        text = subprocess.run([self.weft, self.name, "--help"], capture_output=True, text=True, check=True).stdout
        unseen = {**UNSEEN[""], **UNSEEN.get(self.name, {})}
        flags = sorted(set(re.findall(r"^  (?:-\w,\s*)?(--[a-z-]+)", text, re.M)) - unseen.keys() - {"--out"})
        lacking = [flag for flag in flags if flag not in self.values]
        if lacking or not flags:
            sys.exit(f"{self.name}: no value for {lacking}; add one that shows whether the flag is used")
        return flags

    def words(self, flags):
        out = [word for word in self.needed]
        for flag in flags:
            if flag in out:  # a needed flag: the value of VALUES instead
                at = out.index(flag)
                del out[at:at + 2]
            out += [flag] if self.values[flag] is None else [flag, self.values[flag]]
        return [str(word) for word in out]

    def run(self, words):
        """(status, standard output, standard error) of a run."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        where = self.scratch / "run"
        status = self.runs.ask(words=[self.name, *words], out=str(where))["status"]
        return (status, *(where.with_suffix(end).read_text(errors="replace") for end in (".out", ".err")))

    def judged(self, flags):
        """What the command line says against flags, or nothing."""
        judged = self.runs.ask(words=[self.name, *self.words(flags)])
        return judged["message"] if judged["status"] else ""

    def completed(self, flags):
        """(flags, "") with those that one of them needs, or (None, what the command line says against them)."""
        said = self.judged(flags)
        needs = re.search("(--[a-z-]+): has no effect without (?:one of )?([^;]+);", said)
        for one in re.findall("--[a-z-]+", needs[2]) if needs else []:
            if one in self.values and one not in flags:
                found, said = self.completed([*flags, one])
                if found:
                    return found, ""
        return (None, said) if said else (list(flags), "")

    def without(self, flags, flag):
        """The flags without one, and without those that need it."""
        left = [one for one in flags if one != flag]
        while needs := re.search("(--[a-z-]+): has no effect without", self.judged(left)):
            left.remove(needs[1])
        return left

    def seen(self, flags):
        """All that a run shows; times are left out."""
        status, printed, errors = self.run(self.words(flags))
        files = {}
        for path in sorted(self.out.rglob("*")):
            files[path.name] = contents(path)
        return status, without_times(printed), without_times(errors), files


def cover(command, open_pairs):
    """Sets of flags that have each pair, without flags that add none."""
    open_pairs, sets = set(open_pairs), []
    while open_pairs:
        chosen, _ = command.completed(min(open_pairs))
        tried = set(chosen)
        while True:  # the flag next that has most of the open pairs with those chosen
            gains = {flag: sum(tuple(sorted((flag, one))) in open_pairs for one in chosen) for flag in command.flags}
            flag = max(set(command.flags) - tried, key=lambda flag: (gains[flag], flag), default=None)
            if not flag or not gains[flag]:
                break
            tried.add(flag)
            chosen = command.completed([*chosen, flag])[0] or chosen
        for flag in SHOWN_BY:
            if flag in chosen and flag in command.seen_flags and (shows := SHOWN_BY[flag]) in command.seen_flags:
                chosen = command.completed([*dict.fromkeys([*chosen, shows])])[0] or chosen
        sets.append(chosen)
        open_pairs -= set(itertools.combinations(sorted(chosen), 2))
    return sets or [list(command.flags)]


def check(command):
    wrong, accepted, refused = [], [], 0
    for pair in itertools.combinations(command.flags, 2):
        found, said = command.completed(pair)
        if found:
            accepted.append(pair)
            continue
        refused += 1
        wrong += [f"{pair}: the message does not name {flag}: {said}" for flag in pair if flag not in said]
    sets = cover(command, accepted)
    for chosen in sets:
        seen = [flag for flag in chosen if flag in command.seen_flags]
        whole = command.seen(seen)
        if command.seen(seen) != whole:
            wrong.append(f"{seen}: two runs differ, so that no flag can be judged")
        if whole[0] != 0:
            wrong.append(f"{seen}: status {whole[0]}: {whole[2]}")
        for flag in seen:
            if command.seen(command.without(seen, flag)) == whole:
                wrong.append(f"{flag} has no effect beside {' '.join(seen)}")
        for flag in chosen:
            if flag in command.wrong_flags:
                status, _, errors, _ = command.seen([*seen, flag])
                value = str(command.wrong_flags[flag]).rpartition("=")[2].partition(":")[0]
                if status == 0 or (flag not in errors and value not in errors):
                    wrong.append(f"{flag} {command.wrong_flags[flag]} is not read beside {' '.join(seen)}: {status}, {errors}")
    print(f"{command.name}: {len(command.flags)} flags, {refused} refused pairs, {len(sets)} sets")
    return wrong


def prepare(scratch):
    scratch.mkdir(parents=True)
    layers = [{"class_name": "Dense", "config": {"name": name, "units": units}} for name, units in (("a", 8), ("b", 1))]
    inner = {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [None, 4]}}
    (scratch / "model.json").write_text(json.dumps({
        "class_name": "Sequential", "config": {"name": "m", "layers": [inner, *layers]},
        "compile_config": {"optimizer": "adam", "loss": "mse"}}))
    mesh = {"shape": [1, 2], "axis_names": ["batch", "model"], "devices": ["cpu:0", "cpu:1"]}
    (scratch / "layouts.json").write_text(json.dumps({"class_name": "ModelParallel", "config": {
        "device_mesh": mesh, "layout_map": {"a/kernel": [None, "model"]}, "batch_dim_name": "batch"}}))
    (scratch / "prog.mlir").write_text("""func.func @main(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {
  %y = stablehlo.add %x, %x : tensor<8xf32>
  %z = stablehlo.cosine %y : tensor<8xf32>
  %s = "stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
""")
    npz_values.write(scratch / "in.npz", {"in/000": ((8,), array.array("f", range(8)))})
    for name, samples in (("data", 16), ("other", 8)):
        npz_values.write(scratch / f"{name}.npz", {
            "x": ((samples, 4), array.array("f", [(i * 7 % 11) / 5 - 1 for i in range(4 * samples)])),
            "y": ((samples, 1), array.array("f", [i % 2 for i in range(samples)])),
            "w": ((samples,), array.array("f", [1 + i % 3 for i in range(samples)]))})


def main():
    weft, scratch = sys.argv[1], pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    prepare(scratch)
    subprocess.run([weft, "fit", scratch / "model.json", "--init-only", "--seed", "1", "--save-weights", scratch / "w.npz"],
                   check=True)
    runs = Runs(sys.argv[2], scratch)
    wrong = [line for name in sys.argv[4:] for line in check(Command(weft, runs, name, scratch))]
    runs.end()
    print("\n".join(wrong) or "each flag is used, or refused")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
