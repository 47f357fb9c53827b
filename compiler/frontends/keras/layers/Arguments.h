//===- Arguments.h - what a call is written with -----------------*- C++ -*-===//
//
// The arguments of a call as a file has them: tensors in lists and objects,
// among numbers, texts and nulls. A tensor is its place among all tensors of the
// call, those of positional arguments first. For
//
//   lstm(x, initial_state=[h, c], training=False)
//
//   tensors      x, h, c
//   positional   tensor 0
//   keywords     initial_state: list(tensor 1, tensor 2); training: false
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ARGUMENTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ARGUMENTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::keras {

struct Argument {
  enum class Kind { Null, Flag, Integer, Number, Text, Tensor, List, Object };
  Kind kind = Kind::Null;
  bool flag = false;
  int64_t integer = 0; ///< or the place of a tensor
  double number = 0;   ///< an integer has it too
  std::string text = {};
  std::vector<Argument> parts = {};   ///< of a list or an object
  std::vector<std::string> keys = {}; ///< of an object's parts

  bool isNull() const { return kind == Kind::Null; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isList() const { return kind == Kind::List; }
  /// A part of an object, or null.
  const Argument *part(const std::string &key) const {
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key)
        return &parts[i];
    return nullptr;
  }
  /// The places of its tensors, in order.
  void collect(std::vector<size_t> &places) const {
    if (isTensor())
      places.push_back(size_t(integer));
    for (const Argument &part : parts)
      part.collect(places);
  }
};

struct CallArguments {
  std::vector<Argument> positional;
  std::map<std::string, Argument> keywords;

  /// The keyword argument, or null.
  const Argument *keyword(const std::string &name) const {
    auto found = keywords.find(name);
    return found == keywords.end() ? nullptr : &found->second;
  }
  /// How many tensors the positional arguments have.
  size_t positionalTensors() const {
    std::vector<size_t> places;
    for (const Argument &argument : positional)
      argument.collect(places);
    return places.size();
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_ARGUMENTS_H
