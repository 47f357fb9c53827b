//===- CompileOptions.cpp - compile options of a program ------------------===//

#include "weft/tools/pjrt/programs/CompileOptions.h"

#include "weft/tools/pjrt/programs/MessageWriter.h"

using namespace weft::pjrt;

namespace {

/// Walks the fields of one message of protocol buffers.
class MessageReader {
public:
  explicit MessageReader(std::string_view bytes) : rest(bytes) {}

  struct Field {
    uint64_t number = 0, value = 0;
    std::string_view bytes; ///< content of a field with a length
  };
  /// Reads the next field; false at the end and for malformed bytes, which sets
  /// isDamaged.
  bool next(Field &field);
  uint64_t varint();
  bool isDamaged() const { return damaged; }
  bool atEnd() const { return rest.empty(); }

private:
  bool fail() {
    damaged = true;
    rest = {};
    return false;
  }
  bool skip(uint64_t count) {
    if (count > rest.size())
      return fail();
    rest.remove_prefix(count);
    return true;
  }
  std::string_view rest;
  bool damaged = false;
};

uint64_t MessageReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest.empty())
      return fail(), 0;
    auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  return fail(), 0;
}

bool MessageReader::next(Field &field) {
  if (rest.empty())
    return false;
  uint64_t tag = varint();
  field = {tag >> 3, 0, {}};
  switch (tag & 7) {
  case 0:
    field.value = varint();
    return !damaged;
  case 1:
    field.bytes = rest.substr(0, 8);
    return skip(8);
  case 5:
    return skip(4);
  case 2: {
    uint64_t length = varint();
    field.bytes = rest.substr(0, length);
    return !damaged && skip(length);
  }
  default:
    return fail();
  }
}

/// Reads a DeviceAssignmentProto: field 3 has a device list for each
/// computation.
bool readAssignment(std::string_view bytes, std::vector<int64_t> &devices) {
  MessageReader assignment(bytes);
  for (MessageReader::Field field; assignment.next(field);) {
    if (field.number != 3)
      continue;
    MessageReader computation(field.bytes);
    for (MessageReader::Field ids; computation.next(ids);) {
      if (ids.number != 1)
        continue;
      if (ids.bytes.empty()) {
        devices.push_back(static_cast<int64_t>(ids.value));
        continue;
      }
      for (MessageReader packed(ids.bytes); !packed.atEnd();)
        devices.push_back(static_cast<int64_t>(packed.varint()));
    }
    if (computation.isDamaged())
      return false;
  }
  return !assignment.isDamaged();
}

/// ExecutableBuildOptionsProto.
bool readBuildOptions(std::string_view bytes, CompileOptions &out) {
  MessageReader build(bytes);
  for (MessageReader::Field field; build.next(field);) {
    if (field.number == 4)
      out.replicas = static_cast<int64_t>(field.value);
    if (field.number == 5)
      out.partitions = static_cast<int64_t>(field.value);
    if (field.number == 9) {
      out.assignment = field.bytes;
      if (!readAssignment(field.bytes, out.devices))
        return false;
    }
  }
  return !build.isDamaged();
}

/// OptionOverrideProto: a text, a truth value, an integer or a double.
bool readValue(std::string_view bytes, ScriptOption &out) {
  MessageReader value(bytes);
  for (MessageReader::Field field; value.next(field);) {
    out.isText = field.number == 1;
    if (out.isText)
      out.text = field.bytes;
    else if (field.number == 2)
      out.text = field.value ? "True" : "False";
    else if (field.number == 3)
      out.text = std::to_string(static_cast<int64_t>(field.value));
    else
      out.text = "a number";
  }
  return !value.isDamaged();
}

/// An entry of the map of options: a name and a value.
bool readOption(std::string_view bytes, std::vector<ScriptOption> &out) {
  ScriptOption &option = out.emplace_back();
  option.text = "False"; // fields that are zero are left out
  MessageReader entry(bytes);
  for (MessageReader::Field field; entry.next(field);) {
    if (field.number == 1)
      option.name = field.bytes;
    else if (field.number == 2 && !readValue(field.bytes, option))
      return false;
  }
  return !entry.isDamaged();
}

} // namespace

bool weft::pjrt::readCompileOptions(std::string_view bytes,
                                    CompileOptions &out) {
  MessageReader options(bytes);
  for (MessageReader::Field field; options.next(field);)
    if ((field.number == 3 && !readBuildOptions(field.bytes, out)) ||
        (field.number == 7 && !readOption(field.bytes, out.ofScript)))
      return false;
  return !options.isDamaged();
}

PJRT_Error *weft::pjrt::readProgramOptions(const CompileOptions &options,
                                           ProgramOptions &out) {
  for (const ScriptOption &option : options.ofScript) {
    std::string ProgramOptions::*text =
        option.name == "weft_target"   ? &ProgramOptions::target
        : option.name == "weft_expect" ? &ProgramOptions::expect
                                       : nullptr;
    if (!text)
      return error(kInvalidArgument,
                   "compiler_options: No such compile option: '" + option.name +
                       "'; known are weft_target, such as \"cpu:avx2\", and "
                       "weft_expect, such as \"all_reduce=0\"");
    if (!option.isText)
      return error(kInvalidArgument, "compiler_options: " + option.name +
                                         " is " + option.text +
                                         "; give it a text");
    out.*text = option.text;
  }
  return nullptr;
}

std::string weft::pjrt::writeAssignment(const std::vector<int64_t> &devices) {
  MessageWriter out;
  out.number(1, 1); // one replica of N computations
  out.number(2, static_cast<int64_t>(devices.size()));
  for (int64_t device : devices) {
    MessageWriter computation;
    computation.numbers(1, {device});
    out.message(3, computation);
  }
  return std::move(out.bytes);
}
