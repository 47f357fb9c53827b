"""Code generators decide nothing: no threshold, no cost, no limit of a target.

    static constexpr int64_t kPackedMultiplyAdds = 4 << 20;      belongs to dialects/nest/WalkChoices.cpp

The stored values of a nest, its walk, tiles and blocks stand in the kernel (dialects/nest);
an emitter reads them. Constants of a machine or of a file format are allowed,
each with its reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("compiler/codegen/cpu", "compiler/codegen/gpu", "compiler/codegen/elements")
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
# Matches a named number, a target's limit, or the cost of an op.
DECIDES = re.compile(r"\bconstexpr\s+(?:\w+::)*(?:u?int(?:32|64)?_t|int|unsigned|size_t|double)\s+(\w+)"
                     r"|\b(targetLimits|allTargetLimits|Costly|workOf|chooseWalk)\b")
ALLOWED = {
    "compiler/codegen/cpu/CompileKernels.cpp": {"kFewKernels": "threads of the compiler"},
    "compiler/codegen/cpu/ConvertKernel.cpp": {"kMostUnrolled": "which loops LLVM may unroll"},
    "compiler/codegen/cpu/CpuTarget.cpp": {"targetLimits": "how wide a register is"},
    "compiler/codegen/cpu/ElementNests.cpp": {"kCutElements": "which loops are worth more code, as which LLVM may unroll"},
    "compiler/codegen/cpu/LinkObjects.cpp": {"kMostInMemory": "files of the linker"},
    "compiler/codegen/cpu/LinkPlainObject.cpp": {"kPage": "the format of ELF", "kSegments": "the format of ELF"},
    "compiler/codegen/cpu/LowerKernel.h": {"kMostText": "contexts that are kept", "kMost": "contexts that are kept"},
    "compiler/codegen/cpu/ReduceNests.cpp": {"kChains": "how LLVM vectorizes a loop"},
    "compiler/codegen/elements/AccurateMath.cpp": {"kPi": "a number of mathematics"},
    "compiler/codegen/elements/DoubleMath.cpp": {"kPi": "a number of mathematics", "kLog2": "a number of mathematics", "kRoot": "a number of mathematics"},
    "compiler/codegen/elements/Number.h": {"kUnitStep": "from where on a float is an integer"},
    "compiler/codegen/gpu/RowSums.cpp": {"kNumberBytes": "of the largest element type, complex<f64>"},
    "compiler/codegen/gpu/KernelWalk.h": {"kBlockThreads": "of a launch of any kernel"},
}


def main():
    wrong, used = [], set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            name = path.relative_to(ROOT).as_posix()
            for match in DECIDES.finditer(TEXT.sub(" ", path.read_text())):
                word = match[1] or match[2]
                used.add((name, word))
                if word not in ALLOWED.get(name, {}):
                    wrong.append(f"{name} holds {word}: decide it in passes/nests or dialects/nest and write it into the "
                                 f"kernel, or name the reason in tools/check/check_emitters.py")
    for name, words in ALLOWED.items():
        wrong += [f"{name} has no {word} any more: remove it from tools/check/check_emitters.py"
                  for word in words if (name, word) not in used]
    print("\n".join(sorted(set(wrong))), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
