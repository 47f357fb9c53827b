"""Checks that the code of a random generator written out, as JAX does, grows in proportion to its rounds.

    python3 check_mixed_bits.py WEFT

LLVM's strength reduction would try the sums of all chains of additions that begin at a loop's counter: jax.random.beta took
5 s to compile, and 60 rounds became three times the code of 20.
"""

import subprocess
import sys
import tempfile

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
WORDS = "tensor<50xui32>"


def generator(rounds):
    """Rounds of threefry on a counter, as a program of weft."""
    lines = [f"%key = weft.broadcast %word dims [] : tensor<ui32> -> {WORDS}", f"%count = weft.iota dim 0 : {WORDS}",
             f"%x0_0 = weft.add %count, %key : {WORDS}", f"%x1_0 = weft.add %count, %x0_0 : {WORDS}"]
    for i in range(rounds):
        turn = ROTATIONS[i % len(ROTATIONS)]
        lines += [f"%sum_{i} = weft.add %x0_{i}, %x1_{i} : {WORDS}", f"%x0_{i + 1} = weft.add %sum_{i}, %key : {WORDS}",
                  f"%left_{i} = weft.constant dense<{turn}> : {WORDS}", f"%right_{i} = weft.constant dense<{32 - turn}> : {WORDS}",
                  f"%up_{i} = weft.shift_left %x1_{i}, %left_{i} : {WORDS}",
                  f"%down_{i} = weft.shift_right_logical %x1_{i}, %right_{i} : {WORDS}",
                  f"%turned_{i} = weft.or %up_{i}, %down_{i} : {WORDS}",
                  f"%x1_{i + 1} = weft.xor %x0_{i + 1}, %turned_{i} : {WORDS}"]
    body = "\n".join(lines)
    return f"func.func @main(%word: tensor<ui32>) -> {WORDS} {{\n{body}\nreturn %x0_{rounds} : {WORDS}\n}}\n"


def instructions(weft, rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        source.write(generator(rounds))
        source.flush()
        done = subprocess.run([weft, "compile", source.name, "--emit=assembly", "--target=cpu:avx2"],
                              capture_output=True, text=True, check=True)
    return sum(line.startswith("\t") and not line.startswith("\t.") for line in done.stdout.splitlines())


def main():
    few, many = (instructions(sys.argv[1], rounds) for rounds in (20, 60))
    print(f"{few} instructions for 20 rounds, {many} for 60")
    # A round has six operations; AVX2 has no rotation.
    assert (many - few) / 40 < 12, (few, many)


if __name__ == "__main__":
    main()
