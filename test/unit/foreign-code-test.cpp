//===- foreign-code-test.cpp - element code of another project ------------===//
//
// mine.mirror %x of an n x n matrix is x[i, j] + 2 x[j, i]. Its code changes a
// copy of the position. The other ops of this dialect have wrong code.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/codegen-kernels.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/dialects/weft/KernelTraits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using weft::elements::ElementEmitter;
using weft::elements::ElementIndex;
using weft::test::Buffer;
using weft::test::Kernels;

namespace {
template <typename Mine>
struct MineOp : Op<Mine, OpTrait::OneOperand, OpTrait::OneResult,
                   MemoryEffectOpInterface::Trait, weft::KeepsPositions> {
  using Op<Mine, OpTrait::OneOperand, OpTrait::OneResult,
           MemoryEffectOpInterface::Trait, weft::KeepsPositions>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};
struct MirrorOp : MineOp<MirrorOp> {
  using MineOp::MineOp;
  static StringRef getOperationName() { return "mine.mirror"; }
};
struct EarlyOp : MineOp<EarlyOp> {
  using MineOp::MineOp;
  static StringRef getOperationName() { return "mine.early"; }
};
struct WideOp : MineOp<WideOp> {
  using MineOp::MineOp;
  static StringRef getOperationName() { return "mine.wide"; }
};
struct NothingOp : MineOp<NothingOp> {
  using MineOp::MineOp;
  static StringRef getOperationName() { return "mine.nothing"; }
};

struct MineDialect : Dialect {
  static StringRef getDialectNamespace() { return "mine"; }
  explicit MineDialect(MLIRContext *context)
      : Dialect("mine", context, TypeID::get<MineDialect>()) {
    addOperations<MirrorOp, EarlyOp, WideOp, NothingOp>();
  }
};

template <typename Mine>
struct Rule : weft::ShardingRuleOpInterface::ExternalModel<Rule<Mine>, Mine> {
  weft::ShardingRule getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    return weft::elementwiseRule(type.getShape(), {type.getRank()}, 1);
  }
};
template <typename Mine>
struct Reads : weft::KernelOpInterface::ExternalModel<Reads<Mine>, Mine> {
  int64_t getElementsReadElsewhere(Operation *, unsigned) const { return 1; }
};

template <typename Code, typename Mine>
using ElementCode =
    weft::elements::ElementCodeOpInterface::ExternalModel<Code, Mine>;

struct MirrorCode : ElementCode<MirrorCode, MirrorOp> {
  FailureOr<Value> emitElement(Operation *op, ElementEmitter &e,
                               const ElementIndex &at) const {
    ElementIndex mirrored = at;
    std::swap(mirrored.dims[0], mirrored.dims[1]);
    FailureOr<Value> here = e.element(op->getOperand(0), at);
    FailureOr<Value> there = e.element(op->getOperand(0), mirrored);
    if (failed(here) || failed(there))
      return failure();
    e.enterDepth(at.depth);
    Value twice = arith::AddFOp::create(e.builder, e.loc, *there, *there);
    return arith::AddFOp::create(e.builder, e.loc, *here, twice).getResult();
  }
};
/// Computes the element before the loops that count its position.
struct EarlyCode : ElementCode<EarlyCode, EarlyOp> {
  FailureOr<Value> emitElement(Operation *op, ElementEmitter &e,
                               const ElementIndex &at) const {
    ElementIndex early = at;
    early.depth = 0;
    return e.element(op->getOperand(0), early);
  }
};
struct WideCode : ElementCode<WideCode, WideOp> {
  FailureOr<Value> emitElement(Operation *op, ElementEmitter &e,
                               const ElementIndex &at) const {
    FailureOr<Value> x = e.element(op->getOperand(0), at);
    if (failed(x))
      return failure();
    e.enterDepth(at.depth);
    return arith::ExtFOp::create(e.builder, e.loc, e.builder.getF64Type(), *x)
        .getResult();
  }
};
struct NothingCode : ElementCode<NothingCode, NothingOp> {
  FailureOr<Value> emitElement(Operation *, ElementEmitter &,
                               const ElementIndex &) const {
    return Value();
  }
};

template <typename Mine, typename Code> void attach(MLIRContext *context) {
  Mine::template attachInterface<Rule<Mine>, Reads<Mine>, Code>(*context);
}

Kernels compile(const std::string &op) {
  DialectRegistry registry;
  registry.insert<MineDialect, arith::ArithDialect>();
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    attach<MirrorOp, MirrorCode>(context);
    attach<EarlyOp, EarlyCode>(context);
    attach<WideOp, WideCode>(context);
    attach<NothingOp, NothingCode>(context);
  });
  return Kernels(weft::test::function(
                     "elementwise", "(%x: tensor<3x3xf32>) -> tensor<3x3xf32>",
                     "%0 = \"mine." + op +
                         "\"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>\n"
                         "%1 = weft.neg %0 : tensor<3x3xf32>\n"
                         "return %1 : tensor<3x3xf32>\n"),
                 weft::test::testTarget(), {}, std::move(registry));
}
} // namespace

TEST_CASE("a copied position with other dimensions is another position") {
  Kernels kernels = compile("mirror");
  INFO(kernels.error);
  Buffer<float> x{1, 2, 3, 4, 5, 6, 7, 8, 9}, y(9);
  kernels.run("k", {x.data, y.data});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      CHECK(y[3 * i + j] == -(x[3 * i + j] + 2 * x[3 * j + i]));
}

TEST_CASE("wrong element code is an error that names the op") {
  struct Case {
    const char *op, *error;
  };
  for (const Case &it :
       {Case{"early",
             "the element code of mine.early makes invalid code; an "
             "element is computed in the loop that knows its position"},
        Case{"wide", "the element code of 'mine.wide' gives a value of 'f64' "
                     "instead of 'f32'"},
        Case{"nothing", "the element code of 'mine.nothing' gives no value; "
                        "return one of 'f32'"}}) {
    Kernels kernels = compile(it.op);
    INFO(kernels.error);
    CHECK(kernels.error.find(it.error) != std::string::npos);
  }
}
