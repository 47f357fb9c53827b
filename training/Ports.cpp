#include "weft/training/Ports.h"

#include "weft/runtime/abi/plan_generated.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace weft {

static std::vector<Port>
portsOf(const flatbuffers::Vector<flatbuffers::Offset<plan::Port>> *list) {
  // The values of ElementType and Role are those of the plan's enums.
  static_assert(int(plan::DType::MAX) + 1 == elementTypeCount);
  static_assert(size_t(plan::PortRole::MAX) + 1 == std::size(kRoles));
  std::vector<Port> out;
  for (size_t i = 0; list && i < list->size(); ++i) {
    const plan::Port *port = list->Get(i);
    Port made;
    made.name = port->name() ? port->name()->str() : "";
    made.role = Role(port->role());
    made.type = ElementType(port->dtype());
    if (port->shape())
      made.shape.assign(port->shape()->begin(), port->shape()->end());
    made.donatedTo = port->donated_to();
    made.metadata = port->metadata() ? port->metadata()->str() : "";
    out.push_back(std::move(made));
  }
  return out;
}

std::vector<Port> inputPorts(const weft_program *program) {
  return portsOf(plan::GetProgram(weft_program_plan(program))->inputs());
}

std::vector<Port> outputPorts(const weft_program *program) {
  return portsOf(plan::GetProgram(weft_program_plan(program))->outputs());
}

std::string metricName(const Port &port) {
  std::string name =
      port.name.starts_with("metrics/") ? port.name.substr(8) : port.name;
  // The name is printed in bars and lines, where ESC would begin a command.
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return name;
}

nlohmann::json metadataEntry(const Port &port, const char *key) {
  auto said = nlohmann::json::parse(port.metadata, nullptr,
                                    /*allow_exceptions=*/false);
  return said.is_object() && said.contains(key) ? said[key] : nlohmann::json();
}

bool Port::isWeight() const {
  return role == Role::Weight ||
         (role == Role::State && metadataEntry(*this, "statistic") == true);
}

std::string metadataText(const Port &port, const char *key) {
  nlohmann::json entry = metadataEntry(port, key);
  return entry.is_string() ? entry.get<std::string>() : "";
}

Status shareBytes(weft_processes *processes, std::vector<uint8_t> &bytes) {
  void *data = bytes.data();
  size_t count = bytes.size();
  if (Status shared = takeError(weft_processes_share(processes, &data, &count));
      !shared)
    return shared;
  if (data == bytes.data())
    return {};
  bytes.assign(static_cast<uint8_t *>(data),
               static_cast<uint8_t *>(data) + count);
  std::free(data);
  return {};
}

Status takeError(weft_error *error) {
  if (!error)
    return {};
  Error out{weft_error_message(error)};
  weft_error_free(error);
  return out;
}

} // namespace weft
