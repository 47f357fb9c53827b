#include "weft/runtime/collectives/ReduceLoops.h"

weft::runtime::ReduceFunction
weft::runtime::reduceFunctionAvx512(DType dtype, ReduceKind kind) {
  return choose(dtype, kind);
}
