#include "weft/runtime/collectives/ReduceLoops.h"

weft::runtime::ReduceFunction
weft::runtime::reduceFunctionGeneric(DType dtype, ReduceKind kind) {
  return choose(dtype, kind);
}
