#include "weft/training/Ports.h"

#include "weft/runtime/abi/PlanPorts.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

static std::vector<Port>
portsOf(const flatbuffers::Vector<flatbuffers::Offset<plan::Port>> *list) {
  std::vector<Port> out;
  for (size_t i = 0; list && i < list->size(); ++i)
    out.push_back(readPort(*list->Get(i)));
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
  std::string text = weft_error_message(error);
  const weft_option *options = nullptr;
  size_t count = weft_error_options(error, &options), end = 0;
  Error out{"", StatusCode(weft_error_status(error))};
  for (size_t i = 0; i < count; ++i) {
    const weft_option &one = options[i];
    out.message +=
        text.substr(end, one.begin - end) + Option{one.name, one.value};
    end = one.begin + one.bytes;
  }
  out.message += text.substr(end);
  weft_error_free(error);
  return out;
}

} // namespace weft
