//===- PlanPorts.h - a plan's ports as base/ has them -----------*- C++ -*-===//
//
//   weft::Port port = weft::readPort(*program->inputs()->Get(0));
//   flatbuffers::FlatBufferBuilder builder;
//   auto facts = weft::writeFacts(builder, port.facts); // null: none is given
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_PLANPORTS_H
#define WEFT_RUNTIME_ABI_PLANPORTS_H

#include "weft/base/Port.h"
#include "weft/runtime/abi/plan_generated.h"

namespace weft {

namespace plan_ports {
inline void take(const flatbuffers::String *from, facts::Text &to) {
  to = from ? from->str() : "";
}
inline void take(const flatbuffers::String *from, facts::Json &to) {
  take(from, to.text);
}
inline void take(bool from, facts::Flag &to) { to = from; }
inline void take(flatbuffers::Optional<int64_t> from, facts::Integer &to) {
  to = from ? facts::Integer(*from) : std::nullopt;
}
template <typename T>
void take(const flatbuffers::Vector<T> *from, std::vector<T> &to) {
  if (from)
    to.assign(from->begin(), from->end());
}

using Builder = flatbuffers::FlatBufferBuilder;
inline auto put(Builder &builder, const facts::Text &fact) {
  return isGiven(fact) ? builder.CreateString(fact)
                       : flatbuffers::Offset<flatbuffers::String>();
}
inline auto put(Builder &builder, const facts::Json &fact) {
  return put(builder, fact.text);
}
inline bool put(Builder &, facts::Flag fact) { return fact; }
inline facts::Integer put(Builder &, facts::Integer fact) { return fact; }
template <typename T> auto put(Builder &builder, const std::vector<T> &fact) {
  return isGiven(fact) ? builder.CreateVector(fact)
                       : flatbuffers::Offset<flatbuffers::Vector<T>>();
}
template <typename T>
void add(plan::PortFactsBuilder &table,
         void (plan::PortFactsBuilder::*entry)(flatbuffers::Offset<T>),
         flatbuffers::Offset<T> fact) {
  (table.*entry)(fact); // writes nothing for null
}
inline void add(plan::PortFactsBuilder &table,
                void (plan::PortFactsBuilder::*entry)(bool), bool fact) {
  (table.*entry)(fact);
}
inline void add(plan::PortFactsBuilder &table,
                void (plan::PortFactsBuilder::*entry)(int64_t),
                facts::Integer fact) {
  if (fact)
    (table.*entry)(*fact);
}
} // namespace plan_ports

/// The facts of a table, which may be null.
inline PortFacts readFacts(const plan::PortFacts *table) {
  PortFacts out;
  if (!table)
    return out;
#define WEFT_FACT(Kind, name, member)                                          \
  plan_ports::take(table->name(), out.member);
#include "weft/base/PortFacts.def"
  return out;
}

/// Appends the table of the facts; returns null if none is given.
inline flatbuffers::Offset<plan::PortFacts>
writeFacts(flatbuffers::FlatBufferBuilder &builder, const PortFacts &facts) {
  if (facts == PortFacts())
    return 0;
  // Texts and lists come before the table that names them.
#define WEFT_FACT(Kind, name, member)                                          \
  auto name = plan_ports::put(builder, facts.member);
#include "weft/base/PortFacts.def"
  plan::PortFactsBuilder table(builder);
#define WEFT_FACT(Kind, name, member)                                          \
  plan_ports::add(table, &plan::PortFactsBuilder::add_##name, name);
#include "weft/base/PortFacts.def"
  return table.Finish();
}

/// The port of a plan whose numbers are within their enums; another role is
/// Other.
inline Port readPort(const plan::Port &port) {
  // The values of ElementType and Role are those of the plan's enums.
  static_assert(int(plan::DType::MAX) + 1 == elementTypeCount);
  static_assert(size_t(plan::PortRole::MAX) + 1 == std::size(kRoles));
  Port out;
  plan_ports::take(port.name(), out.name);
  if (port.role() <= plan::PortRole::MAX)
    out.role = Role(port.role());
  out.type = ElementType(port.dtype());
  plan_ports::take(port.shape(), out.shape);
  out.donatedTo = port.donated_to();
  out.facts = readFacts(port.facts());
  return out;
}

} // namespace weft

#endif // WEFT_RUNTIME_ABI_PLANPORTS_H
