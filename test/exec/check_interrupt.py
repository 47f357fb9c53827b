"""Checks that `weft fit`, after Ctrl-C or SIGTERM, ends after the step under way with the state saved, and with status 70 after a fault.

    check_interrupt.py WEFT FIXTURES
"""

import array
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

import npz_values
import patience


def start(weft, model, data, *flags):
    """Starts a training without end, and waits for its first epochs."""
    process = subprocess.Popen(
        [weft, "fit", model, "--data", data, "--seed", "1", "--batch-size", "4", "--epochs", "1000000", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("Epoch 5/"):
            return process
    sys.exit(f"no fifth epoch: {process.communicate()[1]}")


def interrupt(process, by=signal.SIGINT):
    """(exit status, stderr) after one Ctrl-C."""
    process.send_signal(by)
    _, errors = process.communicate(timeout=patience.HANG)
    return process.returncode, errors


def expect(condition, what):
    if not condition:
        sys.exit(what)


def main():
    weft, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    model = fixtures / "seed-sequential-mnist" / "model.json"
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch)
        npz_values.write(out / "data.npz", {"x": ((8, 28, 28), array.array("B", range(256)) * 24 + array.array(
            "B", bytes(8 * 784 - 24 * 256))), "y": ((8,), array.array("B", range(8)))})
        saved, weights, history = out / "m.keras", out / "w.npz", out / "h.json"
        status, errors = interrupt(start(weft, model, out / "data.npz", "--save", saved, "--save-weights", weights,
                                         "--history", history, "--history-steps"))
        expect(status == 130, f"exit status {status}, not 130: {errors}")
        steps = len(json.loads(history.read_text())["steps"]["loss"])
        expect(steps >= 8, f"{steps} steps in the history, 8 or more were done")
        expect(f"interrupted after {steps} steps; saved {saved}" in errors, f"stderr does not say so: {errors}")
        iteration = npz_values.read(weights)["adam/iteration"][1][0]
        expect(iteration == steps, f"{iteration} steps are saved, {steps} were done")
        # The saved model is whole: training goes on from it.
        again = out / "again.npz"
        result = subprocess.run([weft, "fit", saved, "--data", out / "data.npz", "--seed", "1", "--batch-size", "4",
                                 "--max-steps", "1", "--save-weights", again], capture_output=True, text=True)
        expect(result.returncode == 0, result.stderr)
        iteration = npz_values.read(again)["adam/iteration"][1][0]
        expect(iteration == steps + 1, f"{iteration} steps after one more, not {steps + 1}")
        status, errors = interrupt(start(weft, model, out / "data.npz"))
        expect(status == 130 and "interrupted after" in errors, f"without --save: status {status}, {errors}")
        # SIGTERM, which ends a service or a batch job, saves as well.
        model_again, weights_again = out / "t.keras", out / "t.npz"
        status, errors = interrupt(start(weft, model, out / "data.npz", "--save", model_again, "--save-weights", weights_again),
                                   signal.SIGTERM)
        expect(status == 143 and f"steps; saved {model_again}, {weights_again}" in errors,
               f"after SIGTERM: status {status}, {errors}")
        iteration = npz_values.read(weights_again)["adam/iteration"][1][0]
        expect(f"interrupted after {iteration} steps" in errors, f"{iteration} steps are saved: {errors}")
        # A fault of Weft's own ends with a line and status 70.
        process = start(weft, model, out / "data.npz")
        process.send_signal(signal.SIGSEGV)
        _, errors = process.communicate(timeout=patience.HANG)
        expect(process.returncode == 70 and "weft: internal failure: Segmentation fault; please report" in errors,
               f"after a fault: status {process.returncode}, {errors}")
        expect(not list(out.glob("*.tmp*")), "a temporary file is left")
    print(f"interrupted after {steps} steps, saved, and trained on")


if __name__ == "__main__":
    main()
