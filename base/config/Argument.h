//===- Argument.h - arguments of a Python call ------------------*- C++ -*-===//
//
// Arguments of calls, and of constructors of keras.ops, as plain values. A
// tensor is given as its position among all tensors of the call; those of
// positional arguments come first:
//
//   lstm(x, initial_state=[h, c])
//     positional   Tensor 0
//     keywords     initial_state: List of Tensor 1, Tensor 2
//   x[:, 1:, None]    GetItem(x, [slice(None), slice(1), None])
//     positional   Tensor 0, List of Slice, Slice and Nothing
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_ARGUMENT_H
#define WEFT_BASE_CONFIG_ARGUMENT_H

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
    List,     ///< `items`; also a tuple
    Object,   ///< `items`, whose names are `keys`
    Slice,    ///< `items`: start, stop, step
    Ellipsis, ///< Python's `...`
    Tensor,   ///< `integer`: position among the call's tensors
    Array     ///< `numbers` in `shape`; `text` is the type
  };
  Kind kind = Kind::Nothing;
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::vector<Argument> items = {};
  std::vector<std::string> keys = {};
  std::vector<int64_t> shape = {};
  std::vector<double> numbers = {};
  std::string written = {}; ///< short text of the value, for messages

  bool isGiven() const { return kind != Kind::Nothing; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isList() const { return kind == Kind::List; }
  bool isTrue() const { return kind == Kind::Flag && integer; }
  /// The item of an object with this key, or null.
  const Argument *item(const std::string &key) const {
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key)
        return &items[i];
    return nullptr;
  }
  /// Appends the positions of the tensors in the argument, in order.
  void collect(std::vector<size_t> &positions) const {
    if (isTensor())
      positions.push_back(size_t(integer));
    for (const Argument &item : items)
      item.collect(positions);
  }
};

/// The arguments of one call.
struct CallArguments {
  std::vector<Argument> positional;
  std::map<std::string, Argument> keywords;

  /// The keyword argument of a name, or null.
  const Argument *keyword(const std::string &name) const {
    auto found = keywords.find(name);
    return found == keywords.end() ? nullptr : &found->second;
  }
  /// The number of tensors among the positional arguments.
  size_t positionalTensors() const {
    std::vector<size_t> positions;
    for (const Argument &argument : positional)
      argument.collect(positions);
    return positions.size();
  }
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_ARGUMENT_H
