#include "weft/training/ModelState.h"

#include "weft/base/MersenneTwister.h"
#include "weft/data/initializers/Initializers.h"

#include <algorithm>

namespace weft {

/// The numbers that the facts list, or one number for all elements.
static Result<StoredArray> listedValue(const Port &port) {
  const std::vector<double> &numbers = port.facts.value;
  int64_t count = elementCount(port.shape).value_or(0);
  if (int64_t(numbers.size()) != 1 && int64_t(numbers.size()) != count)
    return Error{"variable " + port.name + ": the program gives " +
                 std::to_string(numbers.size()) +
                 " initial values for the shape " + text(port.shape)};
  return StoredArray{
      port.name, ElementType::Float64, port.shape,
      [numbers](const ArrayBlock &block) {
        Array values = Array::zeros(ElementType::Float64, block.sizes);
        for (int64_t i = 0; i < block.count; ++i)
          values.data<double>()[i] =
              numbers[numbers.size() == 1 ? 0 : size_t(block.first) + i];
        return Result<Array>(std::move(values));
      }};
}

Result<StoredArray> initialValue(const Port &port) {
  const PortFacts &facts = port.facts;
  std::string place = "variable " + port.name;
  if (!facts.value.empty())
    return listedValue(port);
  if (facts.initializer.text.empty())
    return Error{
        place +
        ": the program says no initial value; load the weights from a file (" +
        Option{"weights"} + ")"};
  std::optional<uint32_t> seed;
  if (facts.seed)
    seed = uint32_t(*facts.seed);
  Result<StoredArray> drawn =
      initialArray(facts.initializer.text, seed, port.shape, port.type);
  return drawn ? drawn : drawn.error().in(place);
}

Status ModelState::addPorts(const weft_program *program) {
  std::vector<Port> ports = inputPorts(program);
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].holdsState())
      continue;
    if (const Variable *known = find(ports[i].name)) {
      if (known->port.shape != ports[i].shape ||
          known->port.type != ports[i].type)
        return Error{"variable " + ports[i].name + ": one program has it as " +
                     std::string(name(known->port.type)) +
                     text(known->port.shape) + ", another as " +
                     std::string(name(ports[i].type)) + text(ports[i].shape) +
                     "; compile both from the same model"};
      continue;
    }
    weft_buffer *buffer = nullptr;
    if (Status made =
            takeError(weft_input_create(runtime, program, i, &buffer));
        !made)
      return made;
    owned.emplace_back(buffer);
    list.push_back({std::move(ports[i]), buffer});
  }
  return {};
}

ModelState::Variable *ModelState::find(std::string_view name) {
  auto it = std::find_if(list.begin(), list.end(), [&](const Variable &v) {
    return v.port.name == name;
  });
  return it == list.end() ? nullptr : &*it;
}

weft_buffer *ModelState::buffer(std::string_view name) const {
  const Variable *variable = const_cast<ModelState *>(this)->find(name);
  return variable ? variable->buffer : nullptr;
}

static Status checkShape(const Port &port, const Shape &shape) {
  if (shape == port.shape)
    return {};
  return Error{"variable " + port.name + ": the value has shape " +
               text(shape) + ", the model needs " + text(port.shape) +
               "; the file belongs to another model"};
}

Status ModelState::set(Variable &variable, const Array &value) {
  if (Status ok = checkShape(variable.port, value.shape); !ok)
    return ok;
  Array converted = convert(value, variable.port.type);
  variable.hasValue = true;
  variable.isDrawn = false;
  return takeError(weft_buffer_write(variable.buffer, converted.bytes.data(),
                                     converted.bytes.size()));
}

Status writeStored(weft_buffer *buffer, const Port &port,
                   const StoredArray &value) {
  if (Status ok = checkShape(port, value.shape); !ok)
    return ok;
  return value.visitBlocks([&](const ArrayBlock &block, const Array &values) {
    Array converted = convert(values, port.type);
    return takeError(weft_buffer_write_block(
        buffer, block.starts.data(), block.sizes.data(), converted.bytes.data(),
        converted.bytes.size()));
  });
}

Status ModelState::set(Variable &variable, const StoredArray &value) {
  Status written = writeStored(variable.buffer, variable.port, value);
  variable.hasValue |= bool(written);
  variable.isDrawn &= !written;
  return written;
}

void ModelState::reseed(uint64_t seed) {
  MersenneTwister random = MersenneTwister::python(seed);
  std::vector<uint32_t> drawn;
  constexpr int64_t most = 1 << 20; // a file with more has no draw
  for (Variable &variable : list) {
    PortFacts &facts = variable.port.facts;
    if (!facts.draw || *facts.draw < 0 || *facts.draw >= most)
      continue;
    while (int64_t(drawn.size()) <= *facts.draw)
      drawn.push_back(random.kerasSeed());
    uint32_t own = drawn[size_t(*facts.draw)];
    if (facts.value.empty())
      facts.seed = own;
    else
      facts.value = {double(own), 0};
  }
}

Status ModelState::initialise() {
  for (Variable &variable : list) {
    if (variable.hasValue)
      continue;
    Result<StoredArray> value = initialValue(variable.port);
    if (!value)
      return value.error();
    if (Status ok = set(variable, *value); !ok)
      return ok;
    variable.isDrawn = variable.port.facts.seed.has_value();
  }
  return {};
}

Status ModelState::takeAverages() {
  for (Variable &variable : list) {
    const std::string &path = variable.port.facts.average;
    if (path.empty())
      continue;
    Result<Array> average = read(path);
    if (!average)
      return average.error();
    if (Status ok = set(variable, *average); !ok)
      return ok;
  }
  return {};
}

Status ModelState::resetMetrics() {
  for (Variable &variable : list)
    variable.hasValue &= variable.port.role != Role::MetricState;
  return initialise();
}

std::vector<StoredArray> ModelState::storedWeights() const {
  std::vector<StoredArray> out;
  for (const Variable &variable : list)
    if (variable.port.isWeight())
      out.push_back(storedIn(variable.buffer, variable.port));
  return out;
}

bool ModelState::hasDrawn() const {
  return std::any_of(list.begin(), list.end(),
                     [](const Variable &variable) { return variable.isDrawn; });
}

Status ModelState::load(const std::vector<NamedArray> &arrays, bool strict) {
  std::vector<std::string> given;
  for (const NamedArray &named : arrays) {
    Variable *variable = find(named.name);
    if (!variable && strict)
      return Error{"array '" + named.name +
                   "' belongs to no variable of the model; "
                   "the file belongs to another model"};
    if (!variable)
      continue;
    if (Status ok = set(*variable, named.array); !ok)
      return ok;
    given.push_back(named.name);
  }
  for (const Variable &variable : list)
    if (strict && std::find(given.begin(), given.end(), variable.port.name) ==
                      given.end())
      return Error{
          "variable " + variable.port.name +
          ": the file has no value for it; the file belongs to another model"};
  return {};
}

Status ModelState::load(const StoredArray &array) {
  Variable *variable = find(array.name);
  return variable ? set(*variable, array) : Status();
}

Status ModelState::load(const std::vector<StoredArray> &arrays) {
  for (const StoredArray &array : arrays)
    if (Status ok = load(array); !ok)
      return ok;
  return {};
}

Status ModelState::write(std::string_view name, const Array &value) {
  if (Variable *variable = find(name))
    return set(*variable, value);
  return Error{"the model has no variable " + std::string(name)};
}

Result<Array> ModelState::read(std::string_view name) const {
  const Variable *variable = const_cast<ModelState *>(this)->find(name);
  if (!variable)
    return Error{"the model has no variable " + std::string(name)};
  Array array = Array::zeros(variable->port.type, variable->port.shape);
  if (Status ok = takeError(weft_buffer_read(
          variable->buffer, array.bytes.data(), array.bytes.size()));
      !ok)
    return ok.error();
  return array;
}

Result<std::vector<NamedArray>> ModelState::save() const {
  std::vector<NamedArray> out;
  for (const StoredArray &value : stored()) {
    Result<Array> array = value.read();
    if (!array)
      return array.error();
    out.push_back({value.name, std::move(*array)});
  }
  return out;
}

StoredArray storedIn(weft_buffer *buffer, const Port &port) {
  return {port.name, port.type, port.shape,
          [buffer, type = port.type](const ArrayBlock &block) -> Result<Array> {
            Array values = Array::zeros(type, block.sizes);
            Status read = takeError(weft_buffer_read_block(
                buffer, block.starts.data(), block.sizes.data(),
                values.bytes.data(), values.bytes.size()));
            if (!read)
              return read.error();
            return values;
          }};
}

std::vector<StoredArray> ModelState::storedValues(bool metrics) const {
  std::vector<StoredArray> out;
  for (const Variable &variable : list)
    if (metrics || variable.port.role != Role::MetricState)
      out.push_back(storedIn(variable.buffer, variable.port));
  return out;
}

} // namespace weft
