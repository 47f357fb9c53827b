#include "weft/base/ClosestName.h"
#include "weft/training/DataKeys.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

/// The number that pads the labels of samples that have fewer than the port
/// takes.
std::optional<double> paddingOf(const Port &port) { return port.facts.padding; }

/// Pads labels to the port's shape with the number that means no label.
Status padLabels(TrainingData::Column &column, double padding) {
  int64_t have = column.sample[0], wanted = column.port.shape[1];
  if (have > wanted)
    return Error{column.source + ": has " + std::to_string(have) +
                 " labels a sample, the predictions " + std::to_string(wanted) +
                 " times, and a time says one label at most; leave out "
                 "columns of padding"};
  column.padding = padding;
  column.sample = {wanted};
  return {};
}

/// Changes the sample's shape to that of the port, or fails with advice, such
/// as the option that would do so.
Status fitShape(TrainingData::Column &column, const DataOptions &options,
                DataPurpose purpose) {
  const Port &port = column.port;
  Shape wanted(port.shape.begin() + !port.shape.empty(), port.shape.end());
  Shape &have = column.sample;
  Shape longer = have;
  longer.push_back(1);
  bool isInput = port.role == Role::Input;
  if (isInput && options.addChannel)
    have = longer;
  if (have == wanted)
    return {};
  // Labels (n,) and (n, 1) are equivalent for Keras' losses.
  bool isSame = have.size() == wanted.size() + 1 && have.back() == 1;
  if (!isInput && (isSame || longer == wanted)) {
    have = wanted;
    return {};
  }
  if (std::optional<double> padding = paddingOf(port);
      padding && have.size() == 1 && wanted.size() == 1)
    return padLabels(column, *padding);
  std::string message = column.source + ": has samples of shape " + text(have) +
                        ", " + port.name + " needs " + text(wanted);
  if (isInput && !options.addChannel && longer == wanted)
    return Error{message + "; add " + Option{"add_channel", "true"}};
  if (isInput && options.addChannel &&
      Shape(have.begin(), have.end() - 1) == wanted)
    return Error{message + "; leave out " + Option{"add_channel"}};
  return Error{message + "; reshape the array or choose another one with " +
               kindOf(port.role, purpose).option};
}

/// The number of classes that labels of a port may name; 0 if they name none.
int64_t classesOf(const Port &port) {
  return port.role == Role::Label ? port.facts.classes.value_or(0) : 0;
}

/// The column of a port, whose array the file has under a key, or an option
/// names.
Result<TrainingData::Column> column(const DataOptions &options,
                                    DataPurpose purpose,
                                    const ChosenArray &chosen,
                                    ArrayFile *file) {
  const auto &[port, source, key] = chosen;
  Shape sample(port.shape.begin() + !port.shape.empty(), port.shape.end());
  Result<Rows> opened =
      key.empty() ? openRows(source, options.source) : file->rows(key, sample);
  if (!opened)
    return opened.error();
  Rows rows = *opened;
  ElementType type = rows->type();
  if (componentType(type) != type && componentType(port.type) == port.type)
    return Error{source + ": is " + std::string(name(type)) + ", " + port.name +
                 " takes " + std::string(name(port.type)) +
                 ", which has no imaginary part; convert it, in "
                 "NumPy with .real or numpy.abs"};
  TrainingData::Column made{
      port, source, rows,
      Shape(rows->shape().begin() + 1, rows->shape().end())};
  if (Status ok = fitShape(made, options, purpose); !ok)
    return ok.error();
  if (port.role == Role::Input && options.divideBy != 1) {
    if (!isFloat(port.type))
      return Error{source + ": " + Option{"divide_by"} +
                   " needs an input of floats, " + port.name + " takes " +
                   std::string(name(port.type)) + "; leave out " +
                   Option{"divide_by"}};
    made.divideBy = options.divideBy;
  }
  Result<DataScan> seen = scan(*rows, classesOf(port));
  if (!seen)
    return seen.error();
  made.seen = *seen;
  return made;
}

} // namespace

/// The shape of a sample; nothing if the rows cannot be read.
static std::optional<Shape> sampleShape(const Result<Rows> &rows) {
  if (!rows || (*rows)->shape().empty())
    return std::nullopt;
  return Shape((*rows)->shape().begin() + 1, (*rows)->shape().end());
}

std::string sourcePath(const std::string &argument) {
  std::string source = namedSource(argument).source;
  Result<ArraySource> parsed = parseArraySource(source);
  return parsed ? parsed->path : source;
}

static void addWeightShape(std::map<std::string, Shape> &out,
                           const std::string &name, const Result<Rows> &rows) {
  if (std::optional<Shape> sample = sampleShape(rows))
    out[name] = *sample == Shape{1} ? Shape{} : *sample;
}

std::map<std::string, Shape> weightShapes(const DataOptions &options,
                                          DataPurpose purpose) {
  std::map<std::string, Shape> out;
  for (const std::string &argument : options.sampleWeight) {
    NamedSource given = namedSource(argument);
    addWeightShape(out, given.name.value_or(""), openRows(given.source, {}));
  }
  if (options.data.empty())
    return out;
  Result<SourceKind> found = sourceKind(options.data, options.source);
  if (!found || *found != SourceKind::Arrays)
    return out;
  Result<std::unique_ptr<ArrayFile>> file =
      ArrayFile::open(options.data, options.source);
  if (!file)
    return out;
  std::string kind = kindOf(Role::SampleWeight, purpose).key;
  for (const std::string &suffix : suffixesOf(purpose))
    for (const std::string &key : (*file)->keys()) {
      std::string start = key.substr(0, key.find('/'));
      std::string name = key == start ? "" : key.substr(start.size() + 1);
      if (start == kind + suffix && !out.contains(name))
        addWeightShape(out, name, (*file)->rows(key, {}));
    }
  return out;
}

std::map<std::string, Shape> inputShapes(const DataOptions &options) {
  std::map<std::string, Shape> out;
  auto add = [&](const std::string &name, const Result<Rows> &rows) {
    std::optional<Shape> sample = sampleShape(rows);
    if (!sample)
      return;
    if (options.addChannel)
      sample->push_back(1);
    out.emplace(name, std::move(*sample));
  };
  for (const std::string &argument : options.x) {
    NamedSource given = namedSource(argument);
    add(given.name.value_or(""), openRows(given.source, options.source));
  }
  if (options.data.empty())
    return out;
  Result<std::unique_ptr<ArrayFile>> file =
      ArrayFile::open(options.data, options.source);
  if (!file)
    return out;
  for (const char *prefix : {"x", "x_train", "x_test"})
    for (const std::string &key : (*file)->keys())
      if (key == prefix)
        add("", (*file)->rows(key, {}));
      else if (key.starts_with(std::string(prefix) + "/"))
        add(key.substr(key.find('/') + 1), (*file)->rows(key, {}));
  if (out.empty()) // arrays may have the names of inputs
    for (const std::string &key : (*file)->keys())
      add(key, (*file)->rows(key, {}));
  return out;
}

/// Adds the columns of the chosen arrays, those of weights of 1 at the end.
static Status addColumns(TrainingData &data, const DataOptions &options,
                         DataPurpose purpose,
                         std::span<const ChosenArray> arrays, ArrayFile *file) {
  for (const ChosenArray &chosen : arrays) {
    if (chosen.source.empty())
      continue;
    Result<TrainingData::Column> made = column(options, purpose, chosen, file);
    if (!made)
      return made.error();
    int64_t rows = made->rows->rows();
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
    return Error{"there is no sample to work on; give data with " +
                 Option{"data"}};
  for (const ChosenArray &chosen : arrays)
    if (chosen.source.empty())
      data.columns.push_back(onesFor(chosen.port, data.samples));
  return {};
}

Result<TrainingData> selectData(const DataOptions &options, DataPurpose purpose,
                                std::span<const Port> ports) {
  if (options.divideBy == 0 || !std::isfinite(options.divideBy))
    return Error{
        Option{"divide_by", std::to_string(options.divideBy)} +
        ": must be a finite number other than 0; give for example 255"};
  std::unique_ptr<ArrayFile> file; // null without the option
  if (!options.data.empty()) {
    Result<std::unique_ptr<ArrayFile>> opened =
        ArrayFile::open(options.data, options.source);
    if (!opened)
      return opened.error();
    file = std::move(*opened);
  }
  Result<ChosenArrays> chosen =
      chooseArrays(options, purpose, ports, file.get());
  if (!chosen)
    return chosen.error();
  TrainingData data;
  if (Status ok =
          addColumns(data, options, purpose, chosen->arrays, file.get());
      !ok)
    return ok.error();
  if (file) {
    data.unread = std::move(chosen->unread);
    data.dropUnread(data); // the option x may name it
    data.notes = file->notes();
  }
  return data;
}

} // namespace weft
