//===- ConvertLinearAlgebra.cpp - factorisation and solving ---------------===//

#include "weft/compiler/frontends/stablehlo/Converter.h"
#include "weft/dialects/weft/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult cholesky(Converter &c, ForeignOp op) {
  return c.give(op,
                c.make<CholeskyOp>(op, c.input(op, 0), !op.flag("lower")));
}

LogicalResult triangularSolve(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands()
                       << " operands, not 2";
  // An adjoint of real numbers is a transpose.
  bool transposed = op.word("transpose_a") == "TRANSPOSE" ||
                    op.word("transpose_a") == "ADJOINT";
  return c.give(op, c.make<TriangularSolveOp>(
                        op, c.input(op, 0), c.input(op, 1),
                        !op.flag("left_side"), op.flag("lower"),
                        op.flag("unit_diagonal"), transposed));
}

constexpr ConversionEntry kEntries[] = {
    {"cholesky", cholesky},
    {"triangular_solve", triangularSolve},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::linearAlgebraConversions() {
  return kEntries;
}
