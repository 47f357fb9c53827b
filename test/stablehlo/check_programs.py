"""Runs StableHLO programs of JAX on some devices and compares their outputs with JAX's.

    check_programs.py WEFT FOLDER cpu:N [PROGRAM...]

Arrays in/000... of PROGRAM.npz are the arguments, out/000... JAX's outputs. Every program of
the folder runs (or those named) but the ones in NOT_YET, which must fail with the reason there.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import npz_values  # noqa: E402
import rounding_noise  # noqa: E402

# Programs that are not supported yet, and the reason that Weft gives.
NOT_YET = {}
# Relative to the size of the value, or to this size where it is smaller; more where the program magnifies rounding.
TOLERANCE, SMALL = 1e-3, 1e-2


def difference(expected, found, tolerance, noise=None):
    """The reason why two flat lists differ, or nothing; `noise` has the distance that rounding alone moves each element."""
    for i, (a, b) in enumerate(zip(expected, found)):
        if isinstance(a, float):
            if math.isnan(a) and math.isnan(b) or a == b:
                continue
            allowed = max(tolerance * max(abs(a), SMALL), noise[i] if noise else 0)
            if not abs(a - b) <= allowed:
                return f"element {i} is {b}, JAX has {a}, which allows {allowed:g}"
        elif a != b:
            return f"element {i} is {b}, JAX has {a}"
    return ""


def compare(expected, found, noise):
    """The difference in the outputs of a program, or nothing."""
    for name, (shape, values) in expected.items():
        if name not in found or found[name][0] != shape or found[name][1].typecode != values.typecode:
            return f"{name} is missing or has another shape or type"
        why = difference(values, found[name][1], TOLERANCE, noise.get(name))
        if why:
            return f"{name}: {why}"
    return ""


def run(weft, program, devices, outputs):
    """The error of a program, or nothing."""
    arrays = program.with_suffix(".npz")

    def results(inputs):
        done = subprocess.run([weft, "run", program, "--inputs", inputs, "--outputs", outputs, "--devices", devices],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return npz_values.read(outputs)

    def results_of(inputs):
        npz_values.write(outputs.with_suffix(".in.npz"), inputs)
        return results(outputs.with_suffix(".in.npz"))

    given = npz_values.read(arrays)
    expected = {name: given.pop(name) for name in list(given) if name.startswith("out/")}
    try:
        found = results(arrays)
        why = compare(expected, found, {})
        # The noise takes five runs more, and few programs need it.
        return why and compare(expected, found, rounding_noise.measure(results_of, given))
    except RuntimeError as refused:
        return str(refused)


def main():
    weft, folder, devices, *names = sys.argv[1:]
    programs = sorted(pathlib.Path(folder).glob("*.mlir"))
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for program in programs:
            if names and program.stem not in names:
                continue
            why = run(weft, program, devices, pathlib.Path(scratch) / "out.npz")
            reason = NOT_YET.get(program.stem)
            if reason and reason in why:
                print(f"{program.stem}: not yet: {reason}")
            elif reason or why:
                print(f"{program.stem} on {devices}: {why or 'runs now; take it out of NOT_YET'}")
                failed += 1
    print(f"{len(programs)} programs, {failed} failed")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
