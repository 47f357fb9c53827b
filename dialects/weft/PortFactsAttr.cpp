//===- PortFactsAttr.cpp - facts of ports as attributes -------------------===//

#include "weft/dialects/weft/PortFactsAttr.h"

#include "weft/base/ClosestName.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weft {

static Attribute attributeOf(Builder &builder, const facts::Text &fact) {
  return builder.getStringAttr(fact);
}
static Attribute attributeOf(Builder &builder, const facts::Json &fact) {
  return builder.getStringAttr(fact.text);
}
static Attribute attributeOf(Builder &builder, facts::Flag) {
  return builder.getUnitAttr();
}
static Attribute attributeOf(Builder &builder, facts::Integer fact) {
  return builder.getI64IntegerAttr(*fact);
}
static Attribute attributeOf(Builder &builder, const facts::Integers &fact) {
  return builder.getDenseI64ArrayAttr(fact);
}
static Attribute attributeOf(Builder &builder, const facts::Numbers &fact) {
  return builder.getDenseF64ArrayAttr(fact);
}

DictionaryAttr factsAttr(MLIRContext *context, const PortFacts &facts) {
  Builder builder(context);
  NamedAttrList list;
  visitFacts(facts, [&](std::string_view name, const auto &fact) {
    if (isGiven(fact))
      list.append(name, attributeOf(builder, fact));
  });
  return list.empty() ? nullptr : list.getDictionary(context);
}

/// Each function reads an attribute. If it has another type, the function
/// returns the way to write it; else null.
static const char *read(Attribute attribute, facts::Text &fact) {
  auto text = dyn_cast<StringAttr>(attribute);
  fact = text ? text.str() : "";
  return text ? nullptr : "a text in quotes";
}
static const char *read(Attribute attribute, facts::Json &fact) {
  return read(attribute, fact.text);
}
static const char *read(Attribute attribute, facts::Flag &fact) {
  fact = isa<UnitAttr>(attribute);
  return fact ? nullptr : "its name alone";
}
static const char *read(Attribute attribute, facts::Integer &fact) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  if (!number || !number.getType().isSignlessInteger(64))
    return "a number, as 7 : i64";
  fact = number.getInt();
  return nullptr;
}
static const char *read(Attribute attribute, facts::Integers &fact) {
  auto list = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!list)
    return "a list, as array<i64: 1, 2>";
  fact = list.asArrayRef().vec();
  return nullptr;
}
static const char *read(Attribute attribute, facts::Numbers &fact) {
  auto list = dyn_cast<DenseF64ArrayAttr>(attribute);
  if (!list)
    return "a list, as array<f64: 0.5>";
  fact = list.asArrayRef().vec();
  return nullptr;
}

FailureOr<PortFacts> factsOf(Attribute attribute,
                             function_ref<InFlightDiagnostic()> emitError) {
  PortFacts out;
  if (!attribute)
    return out;
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return emitError() << "the facts are " << attribute
                       << "; write them as {saved = \"layers/dense/vars/0\"}";
  for (NamedAttribute entry : dictionary) {
    std::string_view given = entry.getName().strref();
    if (!isFactName(given))
      return emitError() << "\"" << given << "\" is no fact of a port; "
                         << suggestion(
                                std::string(given),
                                {std::begin(kFactNames), std::end(kFactNames)},
                                "leave it out");
    const char *wanted = nullptr;
    visitFacts(out, [&](std::string_view name, auto &fact) {
      if (name == given)
        wanted = read(entry.getValue(), fact);
    });
    if (wanted)
      return emitError() << given << " is " << entry.getValue() << "; write "
                         << wanted;
  }
  return out;
}

PortFacts verifiedFactsOf(Attribute attribute) {
  PortFacts out;
  if (auto dictionary = dyn_cast_if_present<DictionaryAttr>(attribute))
    visitFacts(out, [&](std::string_view name, auto &fact) {
      if (Attribute entry = dictionary.get(name))
        read(entry, fact);
    });
  return out;
}

} // namespace weft
