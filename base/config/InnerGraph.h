//===- InnerGraph.h - a model that is an option of a layer ------*- C++ -*-===//
//
// TimeDistributed(Sequential([Dense(4, name="a"), Dense(2, name="b")])) has a
// layer with
//
//   members  a, b
//   calls    {a, of the input}, {b, of [a, 0, 0]}
//   outputs  [b, 0, 0]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_INNERGRAPH_H
#define WEFT_BASE_CONFIG_INNERGRAPH_H

#include "weft/base/config/Argument.h"
#include "weft/base/config/Table.h"

namespace weft::keras {

struct InnerGraph {
  /// A result of a call of a member.
  struct Tensor {
    std::string member;
    int64_t call = 0, result = 0;
    auto operator<=>(const Tensor &) const = default;
  };
  struct Call {
    size_t member;                ///< a position in `members`
    Tensor name;                  ///< result 0 of that call
    std::vector<Tensor> tensors;  ///< the tensors that the arguments index
    CallArguments arguments = {}; ///< as written in the file
  };
  std::vector<std::shared_ptr<const Configured>> members;
  std::vector<std::string> names; ///< names of the members
  std::vector<Call> calls;
  std::vector<Tensor> inputs, outputs;
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_INNERGRAPH_H
