//===- RowNest.h - loops over the rows along one dimension ------*- C++ -*-===//
//
//   RowNest row(e, input, 1);     for i in 4     (all dimensions but 1)
//   row.fold(input, first, body)    for j in 8: body(j, input[i, j], carried)
//
// openSharedLoop opens the loops, so that workers share one of them, and
// threads of a GPU share all.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ROWNEST_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ROWNEST_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace weft::elements {

/// Loops over all dimensions except one.
struct RowNest {
  ElementEmitter &e;
  mlir::Location loc;
  mlir::Type elementType;
  int64_t dim, size;
  llvm::SmallVector<mlir::Value> dims; ///< null for the remaining dimension

  RowNest(ElementEmitter &e [[clang::lifetimebound]], mlir::Value input,
          int64_t dim)
      : e(e), loc(e.loc), elementType(typeOf(input).getElementType()), dim(dim),
        size(typeOf(input).getDimSize(dim)) {
    e.beginNest();
    for (auto [i, n] : llvm::enumerate(typeOf(input).getShape()))
      dims.push_back(static_cast<int64_t>(i) == dim ? mlir::Value()
                                                    : e.openSharedLoop(i, n));
  }
  ElementIndex at(mlir::Value position) const {
    llvm::SmallVector<mlir::Value> all(dims);
    all[dim] = position;
    return e.makeIndex(all, e.depth());
  }
  /// Stores an element of a result in this row.
  void put(mlir::Value value, mlir::Value result, mlir::Value position) const {
    mlir::RankedTensorType type = typeOf(result);
    llvm::SmallVector<mlir::Value> all(dims);
    if (position)
      all[dim] = position;
    else
      all.erase(all.begin() + dim);
    e.store(value, e.memoryOf(result), type.getElementType(),
            e.linearIndex(type.getShape(), e.makeIndex(all, e.depth())));
  }
  /// Builds a loop over the row's elements of a tensor that carries values.
  LoopNest::Carried
  fold(mlir::Value input, mlir::ValueRange first,
       llvm::function_ref<LoopNest::Values(mlir::Value i, mlir::Value element,
                                           mlir::ValueRange carried)>
           body) const {
    return e.loop(
        size, first,
        [&](mlir::Value i, mlir::ValueRange carried) -> LoopNest::Carried {
          mlir::FailureOr<mlir::Value> value = e.element(input, at(i));
          if (failed(value))
            return mlir::failure();
          e.enterDepth(e.depth());
          return body(i, *value, carried);
        });
  }

  mlir::Value select(mlir::Value condition, mlir::Value x,
                     mlir::Value y) const {
    return mlir::arith::SelectOp::create(e.builder, loc, condition, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AndIOp::create(e.builder, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) const {
    return mlir::arith::OrIOp::create(e.builder, loc, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) const {
    return mlir::arith::CmpIOp::create(e.builder, loc, predicate, x, y);
  }
  mlir::Value isNan(mlir::Value x) const {
    return mlir::arith::CmpFOp::create(e.builder, loc,
                                       mlir::arith::CmpFPredicate::UNO, x, x);
  }
  mlir::Value isNumber(mlir::Value x) const {
    return mlir::arith::CmpFOp::create(e.builder, loc,
                                       mlir::arith::CmpFPredicate::ORD, x, x);
  }
  /// Compares x < y, with NaN larger than all numbers.
  mlir::Value less(mlir::Type type, mlir::Value x, mlir::Value y) const {
    if (llvm::isa<mlir::FloatType>(type)) {
      mlir::Value is = mlir::arith::CmpFOp::create(
          e.builder, loc, mlir::arith::CmpFPredicate::OLT, x, y);
      return either(is, both(isNumber(x), isNan(y)));
    }
    return compare(isUnsigned(type) ? mlir::arith::CmpIPredicate::ult
                                    : mlir::arith::CmpIPredicate::slt,
                   x, y);
  }
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ROWNEST_H
