"""Checks that every kernel of a model's step either becomes PTX or is refused by name.

    python3 check_fixture_kernels.py WEFT MODEL DISTRIBUTION STEP OUT.ptx

Contractions and reductions become PTX; at least one kernel without and, for
predict, one with a reduction does. OUT.ptx has all that are accepted.
"""

import re
import subprocess
import sys

TARGET = ["--target", "cuda:sm_90a", "--batch-size", "64", "--seed", "3"]


def main():
    weft, model, distribution, step, out = sys.argv[1:]

    def compiled(*flags):
        return subprocess.run([weft, "compile", model, "--distribution", distribution, "--step", step, *TARGET, *flags],
                              capture_output=True, text=True, check=False)

    module = compiled("--emit=kernels").stdout
    kernels = dict(re.findall(r"func private @(\w+)\(.*?weft\.kernel.*?\{\n(.*?)\n  \}", module, re.S))
    accepted = []
    for name, body in kernels.items():
        result = compiled("--emit=assembly", "--kernel", name)
        if result.returncode == 0:
            assert f".visible .entry {name}(" in result.stdout, name
            accepted.append(name)
        else:
            assert f"kernel '{name}' has no code for cuda:sm_90a: " in result.stderr, result.stderr
            assert not re.search("weft.(dot|reduce) ", body), result.stderr
    reductions = [name for name in accepted if "weft.reduce" in kernels[name]]
    assert len(accepted) > len(reductions) or step == "predict", accepted
    assert reductions or step != "predict", accepted
    flags = [flag for name in accepted for flag in ("--kernel", name)]
    result = compiled("--emit=assembly", *flags, "-o", out)
    assert result.returncode == 0, result.stderr
    print(f"{step}: {len(kernels)} kernels, {len(accepted)} become PTX, {len(reductions)} reduce")


if __name__ == "__main__":
    main()
