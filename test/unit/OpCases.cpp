//===- OpCases.cpp - programs of one op with JAX's figures ----------------===//

#include "weft/test/unit/OpCases.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include "catch2/catch.hpp"

#include <cmath>
#include <cstdlib>

using namespace mlir;

namespace weft {

namespace {

using Numbers = std::vector<std::vector<double>>;

std::vector<double> numbersOf(const llvm::json::Array &list) {
  std::vector<double> values;
  for (const llvm::json::Value &value : list)
    if (auto text = value.getAsString())
      values.push_back(std::strtod(text->str().c_str(), nullptr));
    else
      values.push_back(*value.getAsNumber());
  return values;
}

Numbers listsOf(const llvm::json::Object &object, llvm::StringRef key) {
  Numbers lists;
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &list : *array)
      lists.push_back(numbersOf(*list.getAsArray()));
  return lists;
}

std::vector<std::string> textsOf(const llvm::json::Object &object,
                                 llvm::StringRef key) {
  std::vector<std::string> texts;
  for (const llvm::json::Value &text : *object.getArray(key))
    texts.push_back(text.getAsString()->str());
  return texts;
}

std::vector<int64_t> integersOf(const llvm::json::Object &object,
                                llvm::StringRef key) {
  std::vector<int64_t> values;
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &value : *array)
      values.push_back(*value.getAsInteger());
  return values;
}

OpCase caseOf(const llvm::json::Object &object) {
  OpCase c;
  c.name = object.getString("name")->str();
  c.body = object.getString("body")->str();
  c.args = textsOf(object, "args");
  c.results = textsOf(object, "results");
  c.inputs = listsOf(object, "inputs");
  c.outputs = listsOf(object, "outputs");
  c.cotangents = listsOf(object, "cotangents");
  c.gradients = listsOf(object, "gradients");
  c.wrt = integersOf(object, "wrt");
  c.differentiated = integersOf(object, "differentiated");
  if (auto tolerance = object.getNumber("tolerance"))
    c.tolerance = *tolerance;
  return c;
}

std::string argumentName(size_t i) {
  return std::string("%") + static_cast<char>('a' + i);
}

std::string resultName(const OpCase &c, size_t i) {
  return c.results.size() == 1 ? "%r" : "%r#" + std::to_string(i);
}

std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

int64_t rankOf(const std::string &type) {
  bool isComplex = type.find("complex") != std::string::npos;
  return std::count(type.begin(), type.end(), 'x') - isComplex;
}

} // namespace

const std::vector<OpCase> &opCases() {
  static const std::vector<OpCase> cases = [] {
    auto file = llvm::MemoryBuffer::getFile(WEFT_OP_GOLDENS);
    REQUIRE(file);
    auto json = llvm::json::parse((*file)->getBuffer());
    REQUIRE(bool(json));
    const char *only = std::getenv("WEFT_OP_CASE");
    std::vector<OpCase> list;
    for (const llvm::json::Value &value : *json->getAsArray()) {
      OpCase c = caseOf(*value.getAsObject());
      if (!only || llvm::StringRef(c.name).starts_with(only))
        list.push_back(std::move(c));
    }
    INFO("WEFT_OP_CASE=" << (only ? only : "") << " must begin a case's name");
    REQUIRE(!list.empty());
    return list;
  }();
  return cases;
}

std::string programOf(const OpCase &c, const std::string &name,
                      const std::string &attributes) {
  std::vector<std::string> arguments, names;
  for (size_t i = 0; i < c.args.size(); ++i)
    arguments.push_back(argumentName(i) + ": " + c.args[i]);
  for (size_t i = 0; i < c.results.size(); ++i)
    names.push_back(resultName(c, i));
  return "func.func " + std::string(name == "main" ? "" : "private ") + "@" +
         name + "(" + joined(arguments) + ") -> (" + joined(c.results) + ")" +
         attributes + " {\n" + c.body + "\nreturn " + joined(names) + " : " +
         joined(c.results) + "\n}\n";
}

std::string gradientOf(const OpCase &c) {
  std::vector<std::string> arguments, names, types = c.args, gradientTypes;
  for (size_t i = 0; i < c.args.size(); ++i) {
    arguments.push_back(argumentName(i) + ": " + c.args[i]);
    names.push_back(argumentName(i));
  }
  std::string sums, total;
  for (size_t k = 0; k < c.differentiated.size(); ++k) {
    size_t i = c.differentiated[k];
    const std::string &type = c.results[i];
    std::string n = std::to_string(k), dims;
    for (int64_t dim = 0; dim < rankOf(type); ++dim)
      dims += (dim ? ", " : "") + std::to_string(dim);
    arguments.push_back("%ct" + n + ": " + type);
    names.push_back("%ct" + n);
    types.push_back(type);
    // Complex results are summed by the real part of result times cotangent,
    // whose gradient is the cotangent.
    bool isComplex = type.find("complex") != std::string::npos;
    std::string reals = type;
    if (isComplex)
      reals.replace(type.find("complex"),
                    type.rfind('>') - type.find("complex"), "f32");
    sums += (isComplex ? "%q" : "%p") + n + " = weft.mul " + resultName(c, i) +
            ", %ct" + n + " : " + type + "\n";
    if (isComplex)
      sums += "%p" + n + " = weft.real %q" + n + " : (" + type + ") -> " +
              reals + "\n";
    sums += "%s" + n + " = weft.reduce sum %p" + n + " dims [" + dims +
            "] : " + reals + " -> tensor<f32>\n";
    if (k)
      sums +=
          "%t" + n + " = weft.add " + total + ", %s" + n + " : tensor<f32>\n";
    total = (k ? "%t" : "%s") + n;
  }
  std::vector<std::string> wrt, results;
  for (size_t k = 0; k < c.wrt.size(); ++k) {
    wrt.push_back(std::to_string(c.wrt[k]));
    gradientTypes.push_back(c.args[c.wrt[k]]);
    results.push_back("%g#" + std::to_string(k));
  }
  std::string outer = "(" + joined(arguments) + ")";
  if (results.size() == 1)
    results[0] = "%g";
  return "func.func private @loss" + outer + " -> tensor<f32> {\n" + c.body +
         "\n" + sums + "return " + total +
         " : tensor<f32>\n}\nfunc.func @main" + outer + " -> (" +
         joined(gradientTypes) + ") {\n%l, %g" +
         (results.size() == 1 ? "" : ":" + std::to_string(results.size())) +
         " = weft.value_and_grad @loss(" + joined(names) + ") wrt [" +
         joined(wrt) + "] : (" + joined(types) + ") -> (tensor<f32>, " +
         joined(gradientTypes) + ")\nreturn " + joined(results) + " : " +
         joined(gradientTypes) + "\n}\n";
}

Tensors tensorsOf(MLIRContext &context, const std::vector<std::string> &types,
                  const Numbers &values) {
  Tensors tensors;
  for (size_t i = 0; i < types.size(); ++i) {
    auto type = cast<RankedTensorType>(parseType(types[i], &context));
    Tensor tensor = Tensor(type).asReals(); // complex numbers are pairs
    REQUIRE(tensor.size() == static_cast<int64_t>(values[i].size()));
    for (int64_t j = 0; j < tensor.size(); ++j)
      if (tensor.isFloat())
        tensor.setReal(j, values[i][j]);
      else
        tensor.setInteger(j, static_cast<int64_t>(values[i][j]));
    tensors.push_back(Tensor::ofPairs(type, tensor));
  }
  return tensors;
}

Tensors gradientInputs(MLIRContext &context, const OpCase &c) {
  std::vector<std::string> types = c.args;
  auto values = c.inputs;
  for (size_t k = 0; k < c.differentiated.size(); ++k) {
    types.push_back(c.results[c.differentiated[k]]);
    values.push_back(c.cotangents[k]);
  }
  return tensorsOf(context, types, values);
}

Tensors gradientResults(MLIRContext &context, const OpCase &c) {
  std::vector<std::string> types;
  for (int64_t i : c.wrt)
    types.push_back(c.args[i]);
  return tensorsOf(context, types, c.gradients);
}

std::string difference(const Tensor &found, const Tensor &expected,
                       double tolerance) {
  if (found.getType() != expected.getType())
    return "the types differ";
  if (expected.isComplex())
    return difference(found.asReals(), expected.asReals(), tolerance);
  double largest = 1;
  for (int64_t i = 0; expected.isFloat() && i < expected.size(); ++i)
    if (std::isfinite(expected.real(i)))
      largest = std::max(largest, std::fabs(expected.real(i)));
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (found.equals(i, expected, i))
      continue;
    if (expected.isFloat() &&
        std::fabs(found.real(i) - expected.real(i)) <= tolerance * largest)
      continue;
    return "at " + indexText(i, expected.getShape()) + " is " + found.text(i) +
           ", should be " + expected.text(i);
  }
  return {};
}

} // namespace weft
