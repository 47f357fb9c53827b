"""weft fit --config fit.json has the effect of the same flags, and flags of the command line win.

    check_fit_config.py WEFT FIXTURES SCRATCH
"""

import json
import pathlib
import subprocess
import sys

import patience


def fit(weft, folder, *words):
    done = subprocess.run([str(word) for word in (weft, "fit", *words)], capture_output=True, text=True, cwd=folder,
                          timeout=patience.HANG)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, not {wanted!r}")


def main():
    weft, fixtures = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    scratch = pathlib.Path(sys.argv[3])
    scratch.mkdir(parents=True, exist_ok=True)
    model, data = str(fixtures / "callbacks" / "model.json"), str(fixtures / "callbacks" / "data.npz")
    stop = {"class_name": "EarlyStopping", "config": {"patience": 1, "monitor": "val_loss"}}
    config = {"model": model, "x": f"{data}:x", "y": [f"{data}:y"], "batch_size": 16, "epochs": 6, "validation_split": 0.25,
              "shuffle": "batch", "class_weight": {"0": 1, "1": 2.5}, "validation_freq": [1, 2, 3, 4, 5], "seed": 3,
              "learning_rate": 0.05, "initial_epoch": None, "json": True, "drop_remainder": False,
              "metrics": ["accuracy", {"class_name": "SparseTopKCategoricalAccuracy", "config": {"k": 2}}],
              "callbacks": [stop, "CSVLogger('log.csv')"]}
    (scratch / "fit.json").write_text(json.dumps(config))
    flags = [model, "--x", f"{data}:x", "--y", f"{data}:y", "--batch-size", "16", "--epochs", "6", "--validation-split", "0.25",
             "--shuffle", "batch", "--class-weight", "0:1,1:2.5", "--validation-freq", "1,2,3,4,5", "--seed", "3",
             "--learning-rate", "0.05", "--metrics",
             'accuracy,{"class_name": "SparseTopKCategoricalAccuracy", "config": {"k": 2}}', "--json"]
    callbacks = ["--callback", "EarlyStopping('val_loss', patience=1)", "--callback", "CSVLogger('flags.csv')"]
    wanted = fit(weft, scratch, *flags, *callbacks)
    expect(fit(weft, scratch, "--config", "fit.json"), wanted, "history")
    expect((scratch / "log.csv").read_text(), (scratch / "flags.csv").read_text(), "table")
    epochs = len(json.loads(wanted)["epoch"])
    if not 1 < epochs < 6:
        sys.exit(f"{epochs} epochs: the callback of the file did nothing")
    again = fit(weft, scratch, model, "--config=fit.json", "--epochs", "1", "--callback", "TerminateOnNaN", "--seed=4")
    first = fit(weft, scratch, *flags, "--epochs", "1", "--seed", "4")
    expect(again, first, "flags that win")
    print(f"{epochs} epochs: as the flags")
    return 0


if __name__ == "__main__":
    sys.exit(main())
