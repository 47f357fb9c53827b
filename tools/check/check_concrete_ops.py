"""No pass asks for a concrete op, but for those below, each with its reason.

    if (auto dot = dyn_cast<DotOp>(op))          op->hasTrait<ContractionNest>()

An op declares the facts that passes need: traits of dialects/weft/KernelTraits.h,
op interfaces, sharding rules. Then an embedder's op is treated as Weft's own. A list of
ops in a pass is right where the op is the pass's subject or the set is closed.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OP = re.compile(r"\b(?:[a-z]\w*::)*[A-Z]\w*Op\b")
# Templates that test the kind of an op, and functions of an op that are given to a walk or a switch.
ASKED = re.compile(r"\b(?:isa|isa_and_nonnull|isa_and_present|cast|cast_or_null|dyn_cast|dyn_cast_or_null|dyn_cast_if_present|IsaPred"
                   r"|getDefiningOp|getParentOfType|getOps|hasParent|Case)<([^;()]*?)>"
                   r"|(?:walk|Case)\(\s*\[[^\]]*\]\s*\(([^()]*)\)")
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)

EVERYWHERE = {"ModuleOp", "func::FuncOp", "func::CallOp", "func::ReturnOp"}  # functions, their calls and their ends
LOOPS = "the closed set of loops and branches that LowerControlFlow leaves"
INSTRUCTIONS = "the closed set of a plan's instructions and buffers, which the file format fixes"
SOFTMAX = "an op of the definition of a softmax, which the pass looks for"
GRADIENT = "made by derivatives of loops and of dynamic_slice"
ALLOWED = {
    "passes/kernels/LowerControlFlow.cpp": {"ForOp": "the op that it lowers", "CaseOp": "the op that it lowers",
                                            "OptimizationBarrierOp": "the op that it removes"},
    "passes/kernels/AlignContractions.cpp": {"DotOp": "the op that it aligns", "TransposeOp": "a view whose source it pads"},
    "passes/kernels/ContractConvolutions.cpp": {"ConvolutionOp": "the op that it rewrites"},
    "passes/kernels/ScattersToSelects.cpp": {"ScatterOp": "the op that it replaces"},
    "passes/kernels/SplitReductions.cpp": {"ReduceOp": "the op that it splits"},
    "passes/kernels/SumDepthwise.cpp": {"ConvolutionOp": "the op that it rewrites"},
    "passes/kernels/WidenShortSums.cpp": {"ConvertOp": "an op that it makes and looks through"},
    "passes/nests/NestChooser.cpp": {"nest::LoopsOp": "an op that it makes"},
    "passes/planning/OutlineLoops.cpp": {f"plan::{name}Op": INSTRUCTIONS for name in (
        "Program", "Buffer", "Constant", "Output", "Copy", "Launch", "Label", "Jump", "JumpUnless")},
    "passes/rings/AttentionBody.cpp": {"ReduceOp": SOFTMAX, "BroadcastOp": SOFTMAX, "SubOp": SOFTMAX, "ExpOp": SOFTMAX, "DivOp": SOFTMAX,
                                       "coll::AllGatherOp": "the op that it replaces"},
    "passes/rings/FormRings.cpp": {"coll::AllGatherOp": "the op that it replaces", "coll::ReduceScatterOp": "the op that it replaces"},
    "passes/sharding/PartGroups.cpp": {"ReshardOp": "the op that it divides"},
    "passes/sharding/propagation/OpPlaces.cpp": {"ConstrainOp": "an annotation"},
    "passes/collectives/CombineAllReduces.cpp": {"coll::AllReduceOp": "the op that it combines"},
    "passes/sharding/optimization/AddBlocks.cpp": {"AddOp": "the op that it replaces"},
    "passes/sharding/optimization/CarryReshaped.cpp": {"ReshapeOp": "the op that it moves out of loops"},
    "passes/sharding/optimization/DissolveMoves.cpp": {"MoveOp": "the op that it resolves"},
    "passes/sharding/optimization/HoistReductions.cpp": {"ReshardOp": "the op that it moves"},
    "passes/sharding/optimization/HoistReshards.cpp": {"ReshardOp": "the op that it moves"},
    "passes/sharding/propagation/LayoutAssignment.cpp": {"ReshardOp": "the op whose layouts it reads", "ConstrainOp": "an annotation"},
    "passes/sharding/propagation/Annotations.cpp": {"ConstrainOp": "an annotation"},
    "passes/sharding/propagation/LayoutSearch.cpp": {"ReshardOp": "the movements whose prices it adds up"},
    "passes/sharding/propagation/AnnotationOptions.cpp": {"ConstrainOp": "an annotation"},
    "passes/sharding/optimization/MovingChain.cpp": {"MoveOp": "an op that it makes"},
    "passes/sharding/optimization/MergeReshards.cpp": {"ReshardOp": "the op that it merges"},
    "passes/sharding/Partition.cpp": {"ReshardOp": "the op that it lowers"},
    "passes/sharding/RoundMoves.cpp": {"ReshardOp": "the op that it lowers"},
    "passes/sharding/Provenance.cpp": {"ConstrainOp": "an annotation"},
    "passes/sharding/propagation/LayoutTable.cpp": {"ConstrainOp": "an annotation"},
    "passes/sharding/optimization/SinkReshards.cpp": {"ReshardOp": "the op that it moves"},
    "passes/sharding/optimization/WidenPartialSums.cpp": {"ConvertOp": "an op that it makes"},
    "passes/training/Differentiate.cpp": {"CheckpointOp": "the op that it resolves", "StopGradientOp": "the op that it resolves"},
    "passes/training/PipelineStages.cpp": {"ForOp": "the loop that weft-divide-batch made"},
    "passes/training/Tape.cpp": {"ValueAndGradOp": "the op that it resolves"},
    "passes/training/TrimLoops.cpp": {"ForOp": "the op that it trims", "AddOp": GRADIENT, "DynamicSliceOp": GRADIENT, "DynamicUpdateSliceOp": GRADIENT,
                                      "SubOp": GRADIENT},
}

# Where ops are told what they are: their meaning and, for ops of others, their rules.
DECLARING = ("passes/interpret", "passes/upstream")

FOUND = ["isa<DotOp>(op)", "dyn_cast<coll::PickOp>(user)", "llvm::any_of(ops, llvm::IsaPred<DotOp, ReduceOp>)", "value.getDefiningOp<ReshardOp>()",
         "module.walk([&](coll::AllReduceOp op) {", ".Case([&](PadOp pad) { return padded(pad); })", ".Case<ArgMaxOp, ArgMinOp>([](auto op) {})"]
PASSED = ["isa<RegionBranchOpInterface>(op)", "DotOp::create(builder, loc)", "op->hasTrait<ContractionNest>()", "// isa<DotOp>(op)"]


def ops_asked_for(code):
    """Names of concrete ops in tests of an op's kind."""
    code = TEXT.sub("", code)
    return {name for match in ASKED.finditer(code) for part in match.groups("") for name in OP.findall(part)}


def main():
    for line in FOUND:
        assert ops_asked_for(line), line
    for line in PASSED:
        assert not ops_asked_for(line), line
    wrong = []
    for path in sorted([*ROOT.glob("passes/**/*.cpp"), *ROOT.glob("passes/**/*.h")]):
        name = str(path.relative_to(ROOT))
        if name.startswith(DECLARING):
            continue
        asked = ops_asked_for(path.read_text()) - EVERYWHERE
        allowed = set(ALLOWED.get(name, {}))
        wrong += [f"{name} asks for {op}: declare the fact as a trait or an interface, or name the reason in {__file__}" for op in sorted(asked - allowed)]
        wrong += [f"{name} no longer asks for {op}: remove it from {__file__}" for op in sorted(allowed - asked)]
    wrong += [f"{name} is no file: remove it from {__file__}" for name in ALLOWED if not (ROOT / name).exists()]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
