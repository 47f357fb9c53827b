#include "weft/training/TrainingData.h"

#include "weft/base/ClosestName.cpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

namespace weft {

const TrainingData::Column *TrainingData::column(std::string_view port) const {
  for (const Column &column : columns)
    if (column.port.name == port)
      return &column;
  return nullptr;
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void divide(float *values, int64_t count, float by) {
  for (int64_t i = 0; i < count; ++i)
    values[i] /= by;
}

/// Converts a row, divided in float32.
static void divideRow(ElementType from, const uint8_t *row, ElementType type,
                      uint8_t *to, int64_t count, float by,
                      std::vector<float> &scratch) {
  bool inPlace = type == ElementType::Float32;
  scratch.resize(inPlace ? 0 : count);
  float *wide = inPlace ? reinterpret_cast<float *>(to) : scratch.data();
  convertElements(from, row, ElementType::Float32, wide, count);
  divide(wide, count, by);
  if (!inPlace)
    convertElements(ElementType::Float32, wide, type, to, count);
}

/// Pads a row that is too short.
static void padRow(double padding, ElementType type, uint8_t *to,
                   int64_t count) {
  for (size_t width = byteWidth(type); count-- > 0; to += width)
    convertElements(ElementType::Float64, &padding, type, to, 1);
}

static int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

Status TrainingData::gather(const Column &column,
                            std::span<const int64_t> indices, ElementType type,
                            std::vector<uint8_t> &out) {
  const RowSource &rows = *column.rows;
  int64_t given = rows.rowCount(), wanted = product(column.sample);
  size_t bytes = size_t(wanted) * byteWidth(type);
  out.resize(indices.size() * bytes);
  std::vector<int64_t> places(indices.begin(), indices.end());
  for (int64_t &place : places)
    place += column.begin;
  if (type == rows.type() && given == wanted && column.divideBy == 1)
    return rows.read(places, out.data());
  const uint8_t *memory = rows.inMemory();
  std::vector<uint8_t> read;
  if (!memory) {
    read.resize(places.size() * rows.rowBytes());
    if (Status ok = rows.read(places, read.data()); !ok)
      return ok;
    std::iota(places.begin(), places.end(), 0);
    memory = read.data();
  }
  std::vector<float> scratch;
  for (size_t i = 0; i < indices.size(); ++i) {
    const uint8_t *from = memory + size_t(places[i]) * rows.rowBytes();
    uint8_t *to = out.data() + i * bytes;
    if (column.divideBy == 1)
      convertElements(rows.type(), from, type, to, given);
    else
      divideRow(rows.type(), from, type, to, given, float(column.divideBy),
                scratch);
    if (given < wanted)
      padRow(column.padding.value_or(0), type,
             to + size_t(given) * byteWidth(type), wanted - given);
  }
  return {};
}

Message TrainingData::description() const {
  Message out;
  for (const Column &column : columns) {
    const DataScan &seen = column.seen;
    char range[80];
    std::snprintf(range, sizeof range, "%g..%g", seen.low, seen.high);
    bool hasRange = seen.low <= seen.high;
    Shape shape = column.sample;
    shape.insert(shape.begin(), samples);
    out += column.port.name + ": " + column.source + " " + text(shape) + " " +
           std::string(name(column.rows->type()));
    if (hasRange)
      out += std::string(" ") + range;
    if (seen.missing)
      out += (hasRange ? ", " : " ") + std::to_string(seen.missing) + " NaN";
    if (column.divideBy != 1) {
      std::snprintf(range, sizeof range, ", divided by %g", column.divideBy);
      out += range;
    }
    out += column.rows->remark() + "\n";
  }
  for (const Message &line : remarks())
    out += line + "\n";
  return out;
}

std::vector<Message> TrainingData::remarks() const {
  struct Alike {
    Message reason;
    std::vector<std::string> names;
  };
  std::map<std::pair<std::string, std::string>, Alike> keys;
  for (const UnreadArray &array : unread) {
    if (array.isUnknown)
      continue;
    Alike &alike = keys[{array.path, array.reason.text()}];
    alike.reason = array.reason;
    alike.names.push_back(array.key);
  }
  std::vector<Message> lines;
  for (const auto &[which, alike] : keys)
    lines.push_back(which.first + ": " + someOf(alike.names) + ": not read" +
                    alike.reason);
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

std::string TrainingData::unknownArrays() const {
  std::vector<std::string> names;
  for (const UnreadArray &array : unread)
    if (array.isUnknown)
      names.push_back(array.key);
  return names.empty() ? ""
                       : unread.front().path + ": " + someOf(names) +
                             ": not read, as no input and no output has that "
                             "name; rename it, or leave it out of the file";
}

void TrainingData::dropUnread(const TrainingData &other) {
  std::erase_if(unread, [&](const UnreadArray &array) {
    return std::ranges::any_of(other.columns, [&](const Column &column) {
      Result<ArraySource> source = parseArraySource(column.source);
      return column.source == array.path + ":" + array.key ||
             (source && source->path == array.path && source->key == array.key);
    });
  });
}

nlohmann::json TrainingData::settings() const {
  nlohmann::json out = {{"samples", samples}};
  for (const Column &column : columns) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(column.seen.hash));
    out[column.port.name] = {{"values", hash},
                             {"type", name(column.rows->type())},
                             {"shape of a sample", text(column.sample)},
                             {"first sample", column.begin},
                             {"padding", column.padding
                                             ? nlohmann::json(*column.padding)
                                             : nlohmann::json()},
                             {"divided by", column.divideBy}};
  }
  return out;
}

uint64_t TrainingData::hash() const {
  uint64_t hash = 0;
  for (const Column &column : columns)
    hash = hash * 31 + column.seen.hash;
  return hash;
}

Result<std::pair<TrainingData, TrainingData>>
TrainingData::split(double fraction) const {
  int64_t last = 0;
  for (const Column &column : columns)
    if (column.port.role == Role::Input)
      last = column.rows->validationRows(fraction);
  int64_t at = samples - last;
  if (!(fraction > 0 && fraction < 1) || at <= 0 || at >= samples)
    return Error{Option{"validation_split", std::to_string(fraction)} +
                 ": splits " + std::to_string(samples) + " samples into " +
                 std::to_string(at) + " and " + std::to_string(samples - at) +
                 ", and neither may be empty; choose a number between 0 and 1"};
  std::pair<TrainingData, TrainingData> parts{*this, *this};
  parts.first.samples = at;
  parts.second.samples = samples - at;
  for (Column &column : parts.second.columns)
    column.begin += at;
  return parts;
}

/// The class that a label names: its number, or the index of the largest of
/// several; INT64_MIN for NaN and numbers out of range.
static int64_t classOf(const double *label, int64_t width) {
  if (width > 1)
    return std::max_element(label, label + width) - label;
  bool isNumber = std::fabs(*label) < 1e18; // false for NaN
  return isNumber ? int64_t(std::nearbyint(*label)) : INT64_MIN;
}

TrainingData::Column onesFor(const Port &port, int64_t samples) {
  Shape shape = port.shape;
  shape[0] = samples;
  Array ones = Array::zeros(ElementType::Float32, shape);
  std::fill_n(ones.data<float>(), ones.count(), 1.0f);
  return {port, "(each sample once)",
          std::make_shared<MemoryRows>(std::move(ones)),
          Shape(shape.begin() + 1, shape.end())};
}

Status TrainingData::weighClasses(const std::map<int64_t, double> &weights) {
  Column *weighed = nullptr;
  const Column *labels = nullptr;
  int64_t outputs = 0;
  for (Column &column : columns) {
    if (column.port.role == Role::SampleWeight)
      weighed = &column;
    if (column.port.role == Role::Label && ++outputs)
      labels = &column;
  }
  if (outputs != 1)
    return Error{Option{"class_weight"} + ": the model has " +
                 std::to_string(outputs) +
                 " outputs with labels, and classes are those of one; give " +
                 Option{"sample_weight", "NAME=FILE.npz:KEY"} + " for each"};
  if (!weighed || labels->sample.size() > 1)
    return Error{
        Option{"class_weight"} + ": " + labels->source +
        " has labels of shape " + text(labels->rows->shape()) +
        ", and a sample's label is a class or a row of classes; give " +
        Option{"sample_weight", "FILE.npz:KEY"}};
  *weighed = onesFor(weighed->port, samples);
  weighed->source = "(weights of classes)";
  Shape shape = weighed->sample;
  shape.insert(shape.begin(), samples);
  Array array = Array::zeros(ElementType::Float32, shape);
  int64_t row = array.count() / samples, width = product(labels->sample);
  std::vector<uint8_t> label;
  for (int64_t i = 0; i < samples; ++i) {
    if (Status ok = gather(*labels, {&i, 1}, ElementType::Float64, label); !ok)
      return ok;
    auto found = weights.find(
        classOf(reinterpret_cast<const double *>(label.data()), width));
    std::fill_n(array.data<float>() + i * row, row,
                found == weights.end() ? 1 : float(found->second));
  }
  weighed->rows = std::make_shared<MemoryRows>(std::move(array));
  return {};
}

} // namespace weft
