#include "weft/runtime/training/TrainingData.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

namespace weft {

namespace {

/// x, y or sample_weight, and the flag that names another array.
struct Kind {
  const char *key, *flag;
  const std::vector<std::string> DataOptions::*overrides;
};
Kind kindOf(Role role, DataPurpose purpose) {
  bool validates = purpose == DataPurpose::Validation;
  if (role == Role::Label)
    return {"y", validates ? "--validation-y" : "--y", &DataOptions::y};
  if (role == Role::SampleWeight)
    return {"sample_weight",
            validates ? "--validation-sample-weight" : "--sample-weight",
            &DataOptions::sampleWeight};
  return {"x", validates ? "--validation-x" : "--x", &DataOptions::x};
}

std::vector<std::string> suffixes(DataPurpose purpose) {
  switch (purpose) {
  case DataPurpose::Fit:
    return {"", "_train"};
  case DataPurpose::Validation:
    return {"_val", "_test", ""};
  default:
    return {"", "_test"};
  }
}

/// `images` of the ports `images`, `x/images` and `y/images`.
std::string layerName(const Port &port, const char *key) {
  std::string prefix = std::string(key) + "/";
  return port.name.starts_with(prefix) ? port.name.substr(prefix.size())
                                       : port.name;
}

/// NAME and the source of [NAME=]FILE.npz:KEY.
struct NamedSource {
  std::optional<std::string> name;
  std::string source;
};
NamedSource namedSource(const std::string &argument) {
  size_t equal = argument.find('=');
  bool named =
      equal != std::string::npos && argument.find_first_of("/.:[") > equal;
  if (!named)
    return {std::nullopt, argument};
  return {argument.substr(0, equal), argument.substr(equal + 1)};
}

/// The source that --x or --y names for this port; empty when none does.
Result<std::string> overridden(const DataOptions &options, const Kind &kind,
                               const Port &port, bool single) {
  std::string found;
  for (const std::string &argument : options.*kind.overrides) {
    NamedSource given = namedSource(argument);
    if (given.name == layerName(port, kind.key))
      found = given.source;
    else if (!given.name && single)
      found = argument;
    else if (!given.name)
      return Error{std::string(kind.flag) + " " + argument +
                   ": the model has several such arrays; write " + kind.flag +
                   " " + layerName(port, kind.key) + "=" + argument};
  }
  return found;
}

std::string keyOf(const Kind &kind, const std::string &suffix, const Port &port,
                  bool single) {
  std::string key = kind.key + suffix;
  return single ? key : key + "/" + layerName(port, kind.key);
}

/// Is there a key that promisedKey() finds?
bool hasKey(const NpzFile &file, const Kind &kind, const Port &port,
            DataPurpose purpose, bool single) {
  auto known = suffixes(purpose);
  return std::any_of(known.begin(), known.end(), [&](const auto &suffix) {
    return file.contains(keyOf(kind, suffix, port, single));
  });
}

/// The key of a file that the command line promises to take for this port.
Result<std::string> promisedKey(const NpzFile &file, const Kind &kind,
                                const Port &port, DataPurpose purpose,
                                bool single) {
  std::string tried;
  for (const std::string &suffix : suffixes(purpose)) {
    std::string key = keyOf(kind, suffix, port, single);
    if (file.contains(key))
      return key;
    tried += (tried.empty() ? "" : " nor ") + key;
  }
  std::string has;
  for (const std::string &key : file.keys())
    has += (has.empty() ? "" : ", ") + key;
  return Error{file.path() + ": has neither " + tried + ", but " + has +
               "; name one with " + kind.flag + " " +
               (single ? "" : layerName(port, kind.key) + "=") + file.path() +
               ":KEY"};
}

/// The number behind the labels of samples that have fewer of them than the port.
std::optional<double> paddingOf(const Port &port) {
  auto number = metadataEntry(port, "padding");
  return number.is_number() ? std::optional(number.get<double>())
                            : std::nullopt;
}

/// Rows (n,) made (count,) by the number behind them.
Array padded(const Array &array, int64_t count, double number) {
  int64_t samples = array.shape[0], given = array.shape[1];
  Array fill = convert(Array::scalar(ElementType::Float64, number), array.type);
  Array out = Array::zeros(array.type, {samples, count});
  size_t width = byteWidth(array.type);
  for (int64_t row = 0; row < samples; ++row) {
    uint8_t *to = out.bytes.data() + row * count * width;
    std::memcpy(to, array.bytes.data() + row * given * width, given * width);
    for (int64_t i = given; i < count; ++i)
      std::memcpy(to + i * width, fill.bytes.data(), width);
  }
  return out;
}

/// Makes the array's shape that of the port, or says which flag would.
Status fitShape(Array &array, const Port &port, const std::string &source,
                const DataOptions &options, DataPurpose purpose) {
  Shape wanted(port.shape.begin() + !port.shape.empty(), port.shape.end());
  if (array.shape.empty())
    return Error{source +
                 ": is a scalar; it needs a first dimension of samples"};
  Shape have(array.shape.begin() + 1, array.shape.end());
  Shape longer = have;
  longer.push_back(1);
  bool isInput = port.role == Role::Input;
  if (isInput && options.addChannel) {
    array.shape.push_back(1);
    have = longer;
  }
  if (have == wanted)
    return {};
  // Labels (n,) and (n, 1) mean the same to Keras' losses.
  if (!isInput && have.size() == wanted.size() + 1 && have.back() == 1) {
    array.shape.pop_back();
    return {};
  }
  if (!isInput && longer == wanted) {
    array.shape.push_back(1);
    return {};
  }
  if (std::optional<double> padding = paddingOf(port);
      padding && have.size() == 1 && wanted.size() == 1) {
    if (have[0] > wanted[0])
      return Error{source + ": has " + std::to_string(have[0]) +
                   " labels a sample, the predictions " +
                   std::to_string(wanted[0]) +
                   " times, and a time says one label at most; leave out "
                   "columns of padding"};
    array = padded(array, wanted[0], *padding);
    return {};
  }
  std::string message = source + ": has samples of shape " + text(have) + ", " +
                        port.name + " needs " + text(wanted);
  if (isInput && !options.addChannel && longer == wanted)
    return Error{message + "; add --add-channel"};
  if (isInput && options.addChannel &&
      Shape(have.begin(), have.end() - 1) == wanted)
    return Error{message + "; leave out --add-channel"};
  return Error{message + "; reshape the array or choose another one with " +
               kindOf(port.role, purpose).flag};
}

/// Is a port of weights left to weigh each sample once?
Result<bool> isUnweighted(const DataOptions &options, DataPurpose purpose,
                          const Port &port, bool single,
                          const std::optional<NpzFile> &file) {
  if (port.role != Role::SampleWeight || !options.weightsMayLack)
    return false;
  Kind kind = kindOf(port.role, purpose);
  Result<std::string> named = overridden(options, kind, port, single);
  if (!named)
    return named.error();
  return named->empty() &&
         !(file && hasKey(*file, kind, port, purpose, single));
}

TrainingData::Column onesFor(const Port &port, int64_t samples) {
  Shape shape = port.shape;
  shape[0] = samples;
  Array ones = Array::zeros(ElementType::Float32, shape);
  std::fill_n(ones.data<float>(), ones.count(), 1.0f);
  return {port, "(each sample once)",
          std::make_shared<const Array>(std::move(ones))};
}

Result<TrainingData::Column> column(const DataOptions &options,
                                    DataPurpose purpose, const Port &port,
                                    bool single, std::optional<NpzFile> &file) {
  Kind kind = kindOf(port.role, purpose);
  Result<std::string> source = overridden(options, kind, port, single);
  if (!source)
    return source.error();
  Result<Array> array = Error{};
  if (!source->empty()) {
    array = loadArray(*source);
  } else if (!file) {
    return Error{std::string("no array is given for ") + port.name +
                 (purpose == DataPurpose::Validation
                      ? "; add --validation-data FILE.npz or "
                      : "; add --data FILE.npz or ") +
                 kind.flag + " FILE.npz:KEY"};
  } else {
    Result<std::string> key = promisedKey(*file, kind, port, purpose, single);
    if (!key)
      return key.error();
    source = file->path() + ":" + *key;
    array = file->read(*key);
  }
  if (!array)
    return array.error();
  if (partType(array->type) != array->type && partType(port.type) == port.type)
    return Error{*source + ": is " + std::string(name(array->type)) + ", " +
                 port.name + " takes " + std::string(name(port.type)) +
                 ", which has no imaginary part; take what is meant of it, in "
                 "NumPy with .real or numpy.abs"};
  if (Status ok = fitShape(*array, port, *source, options, purpose); !ok)
    return ok.error();
  TrainingData::Column made{port, *source, nullptr};
  if (port.role == Role::Input && options.divideBy != 1) {
    if (!isFloat(port.type))
      return Error{*source + ": --divide-by needs an input of floats, " +
                   port.name + " takes " + std::string(name(port.type)) +
                   "; leave out --divide-by"};
    made.divideBy = options.divideBy;
  }
  made.array = std::make_shared<const Array>(std::move(*array));
  return made;
}

} // namespace

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

/// A row of `from` into one of `to`, divided in float32 on the way.
static void divideRow(const Array &array, const uint8_t *from, ElementType type,
                      uint8_t *to, int64_t count, float by,
                      std::vector<float> &scratch) {
  bool inPlace = type == ElementType::Float32;
  scratch.resize(inPlace ? 0 : count);
  float *wide = inPlace ? reinterpret_cast<float *>(to) : scratch.data();
  convertElements(array.type, from, ElementType::Float32, wide, count);
  divide(wide, count, by);
  if (!inPlace)
    convertElements(ElementType::Float32, wide, type, to, count);
}

void TrainingData::gather(const Column &column,
                          std::span<const int64_t> indices, ElementType type,
                          std::vector<uint8_t> &out) {
  const Array &array = *column.array;
  int64_t row = int64_t(array.rowBytes() / byteWidth(array.type));
  size_t rowBytes = row * byteWidth(type);
  out.resize(indices.size() * rowBytes);
  std::vector<float> scratch;
  for (size_t i = 0; i < indices.size(); ++i) {
    const uint8_t *from =
        array.bytes.data() + (column.begin + indices[i]) * array.rowBytes();
    uint8_t *to = out.data() + i * rowBytes;
    if (column.divideBy == 1)
      convertElements(array.type, from, type, to, row);
    else
      divideRow(array, from, type, to, row, float(column.divideBy), scratch);
  }
}

int64_t TrainingData::countNaN(const Column &column) const {
  const Array &array = *column.array;
  int64_t row = int64_t(array.rowBytes() / byteWidth(array.type));
  return weft::countNaN(array.type,
                        array.bytes.data() + column.begin * array.rowBytes(),
                        samples * row);
}

std::string TrainingData::description() const {
  std::string out;
  for (const Column &column : columns) {
    double low = INFINITY, high = -INFINITY;
    const Array &array = *column.array;
    int64_t row = array.shape[0] ? array.count() / array.shape[0] : 0;
    for (int64_t i = column.begin * row; i < (column.begin + samples) * row;
         ++i) {
      double value = array.at(i);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    char range[80];
    std::snprintf(range, sizeof range, "%g..%g", low, high);
    int64_t missing = countNaN(column);
    Shape shape = array.shape;
    shape[0] = samples;
    out += column.port.name + ": " + column.source + " " + text(shape) + " " +
           std::string(name(array.type));
    if (low <= high)
      out += std::string(" ") + range;
    if (missing)
      out += (low <= high ? ", " : " ") + std::to_string(missing) + " NaN";
    if (column.divideBy != 1) {
      std::snprintf(range, sizeof range, ", divided by %g", column.divideBy);
      out += range;
    }
    out += "\n";
  }
  return out;
}

Result<std::pair<TrainingData, TrainingData>>
TrainingData::split(double fraction) const {
  int64_t at = int64_t(std::floor(double(samples) * (1 - fraction)));
  if (!(fraction > 0 && fraction < 1) || at <= 0 || at >= samples)
    return Error{"--validation-split " + std::to_string(fraction) +
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

/// The class that a label names: a number, or the largest of several.
static int64_t classOf(const Array &labels, int64_t row) {
  int64_t width = labels.count() / labels.shape[0], best = row * width;
  for (int64_t i = best; i < (row + 1) * width; ++i)
    if (labels.at(i) > labels.at(best))
      best = i;
  return width > 1 ? best - row * width
                   : int64_t(std::nearbyint(labels.at(best)));
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
    return Error{"--class-weight: the model has " + std::to_string(outputs) +
                 " outputs with labels, and classes are those of one; give "
                 "--sample-weight NAME=FILE.npz:KEY for each"};
  if (!weighed || labels->array->shape.size() > 2)
    return Error{"--class-weight: " + labels->source + " has labels of shape " +
                 text(labels->array->shape) +
                 ", and a sample's label is a class or a row of classes; give "
                 "--sample-weight FILE.npz:KEY"};
  *weighed = onesFor(weighed->port, samples);
  weighed->source = "(weights of classes)";
  Array array = *weighed->array;
  int64_t row = array.count() / samples;
  for (int64_t i = 0; i < samples; ++i)
    if (auto found = weights.find(classOf(*labels->array, labels->begin + i));
        found != weights.end())
      std::fill_n(array.data<float>() + i * row, row, float(found->second));
  weighed->array = std::make_shared<const Array>(std::move(array));
  return {};
}

std::map<std::string, Shape>
sampleShapes(const std::vector<std::string> &arguments) {
  std::map<std::string, Shape> out;
  for (const std::string &argument : arguments) {
    NamedSource given = namedSource(argument);
    Result<Array> array = loadArray(given.source);
    if (!array || array->shape.empty())
      continue;
    Shape sample(array->shape.begin() + 1, array->shape.end());
    out[given.name.value_or("")] = sample == Shape{1} ? Shape{} : sample;
  }
  return out;
}

Result<TrainingData> selectData(const DataOptions &options, DataPurpose purpose,
                                std::span<const Port> ports) {
  if (options.divideBy == 0 || !std::isfinite(options.divideBy))
    return Error{
        "--divide-by " + std::to_string(options.divideBy) +
        ": must be a finite number other than 0; give for example 255"};
  std::optional<NpzFile> file;
  if (!options.data.empty()) {
    Result<NpzFile> opened = NpzFile::open(options.data);
    if (!opened)
      return opened.error();
    file = std::move(*opened);
  }
  TrainingData data;
  std::vector<Port> unweighted;
  for (const Port &port : ports) {
    if (!port.isData() ||
        (purpose == DataPurpose::Predict && port.role != Role::Input))
      continue;
    bool single =
        1 == std::count_if(ports.begin(), ports.end(), [&](const Port &other) {
          return other.role == port.role;
        });
    Result<bool> once = isUnweighted(options, purpose, port, single, file);
    if (!once)
      return once.error();
    if (*once) {
      unweighted.push_back(port);
      continue;
    }
    Result<TrainingData::Column> made =
        column(options, purpose, port, single, file);
    if (!made)
      return made.error();
    int64_t rows = made->array->shape[0];
    if (data.columns.empty())
      data.samples = rows;
    if (rows != data.samples)
      return Error{made->source + ": has " + std::to_string(rows) +
                   " samples, " + data.columns[0].source + " has " +
                   std::to_string(data.samples) +
                   "; take as many of both, for example with a slice [0:N]"};
    data.columns.push_back(std::move(*made));
  }
  if (data.columns.empty() || data.samples == 0)
    return Error{"there is no sample to work on; give data with --data"};
  for (const Port &port : unweighted)
    data.columns.push_back(onesFor(port, data.samples));
  return data;
}

} // namespace weft
