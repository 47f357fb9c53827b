//===- Argument.h - what a call of Python is given ---------------*- C++ -*-===//
//
// Arguments of calls and of constructors of keras.ops, as plain values:
//
//   x[:, 1:, None]    GetItem(x, [slice(None), slice(1), None]):
//     Tensor 0, List of Slice, Slice and Nothing
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_ARGUMENT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_ARGUMENT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::keras {

struct Argument {
  enum class Kind {
    Nothing,  ///< None
    Flag,     ///< `integer` is 0 or 1
    Integer,  ///< `integer`
    Real,     ///< `real`
    Text,     ///< `text`
    List,     ///< `parts`; tuples too
    Slice,    ///< `parts`: start, stop, step
    Ellipsis, ///< ...
    Tensor,   ///< `integer` is its position among the tensors of the call
    Array     ///< `numbers` of a type `text`, in `shape`
  };
  Kind kind = Kind::Nothing;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Argument> parts;
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  std::string written; ///< short, for messages

  bool isGiven() const { return kind != Kind::Nothing; }
};

/// Those of one call.
struct Arguments {
  std::vector<Argument> positional;
  std::map<std::string, Argument> keywords;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_ARGUMENT_H
