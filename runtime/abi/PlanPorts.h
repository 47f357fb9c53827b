//===- PlanPorts.h - a plan's ports and layouts as values -------*- C++ -*-===//
//
//   weft::Port port = weft::readPort(*program->inputs()->Get(0));
//   flatbuffers::FlatBufferBuilder builder;
//   auto facts = weft::writeFacts(builder, port.facts); // null: none is given
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_PLANPORTS_H
#define WEFT_RUNTIME_ABI_PLANPORTS_H

#include "weft/layout/Port.h"
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

inline SubAxes
readAxes(const flatbuffers::Vector<const plan::SubAxis *> *axes) {
  SubAxes out;
  if (axes)
    for (const plan::SubAxis *sub : *axes)
      out.push_back({sub->axis(), sub->skip(), sub->size()});
  return out;
}

/// Reads a layout; null stands for a replicated one.
inline Layout readLayout(const plan::Layout *layout, size_t rank) {
  Layout out;
  if (!layout || !layout->dims()) {
    out.dims.resize(rank);
  } else {
    for (const plan::DimLayout *dim : *layout->dims())
      out.dims.push_back(dim ? readAxes(dim->axes()) : SubAxes());
  }
  if (layout)
    out.partial = readAxes(layout->partial());
  return out;
}

/// The part of the mesh in a table; the whole mesh without one. Digits that are
/// no full axis, or of which one has no value, give a part that is invalid.
inline MeshPart readPart(const plan::MeshPart *part) {
  MeshPart out;
  size_t count = part && part->digits() ? part->digits()->size() : 0;
  for (size_t n = 0; n < count; ++n)
    out.push_back({part->digits()->Get(uint32_t(n))->axis(),
                   part->values() && n < part->values()->size()
                       ? part->values()->Get(uint32_t(n))
                       : -1});
  return out;
}

/// The port of a plan whose numbers are within their enums, without what is
/// derived from the plan; another role is Other.
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
  out.layout = readLayout(port.layout(), out.shape.size());
  out.layout.part = readPart(port.part());
  out.buffer = port.buffer();
  out.donatedTo = port.donated_to();
  out.facts = readFacts(port.facts());
  return out;
}

} // namespace weft

#endif // WEFT_RUNTIME_ABI_PLANPORTS_H
