#include "weft/runtime/abi/ClosestName.h"
#include "weft/runtime/training/TrainingData.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft {

namespace {

/// A kind of array, x, y or sample_weight, and the flag that names another
/// array.
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

/// The layer's name `images` for the ports `images`, `x/images` and `y/images`.
std::string layerName(const Port &port, const char *key) {
  std::string prefix = std::string(key) + "/";
  return port.name.starts_with(prefix) ? port.name.substr(prefix.size())
                                       : port.name;
}

/// The NAME and the source of [NAME=]FILE.npz:KEY.
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

/// The source of NAME=SOURCE if NAME is the port's name without x/ or the like
/// or, if the step has only one such port, the name of its layer.
std::optional<std::string> sourceFor(const std::string &argument,
                                     const Port &port, const char *key) {
  if (NamedSource given = namedSource(argument);
      given.name == layerName(port, key))
    return given.source;
  std::string layer = metadataText(port, "layer");
  if (!layer.empty() && argument.starts_with(layer + "="))
    return argument.substr(layer.size() + 1);
  return std::nullopt;
}

/// The source that the last flag of this kind, such as --x, names for this
/// port; empty when none does.
Result<std::string> overridden(const DataOptions &options, const Kind &kind,
                               const Port &port, bool single) {
  std::string found;
  for (const std::string &argument : options.*kind.overrides) {
    if (auto source = sourceFor(argument, port, kind.key))
      found = *source;
    else if (namedSource(argument).name)
      continue;
    else if (single)
      found = argument;
    else
      return Error{std::string(kind.flag) + " " + argument +
                   ": the model has several such arrays; write " + kind.flag +
                   " " + layerName(port, kind.key) + "=" + argument};
  }
  return found;
}

/// Fails if a flag names an array for a port of this role that the model does
/// not have, unless it has no port of this role at all.
Status checkNames(const DataOptions &options, const Kind &kind, Role role,
                  std::span<const Port> ports) {
  std::vector<Port> own;
  std::ranges::copy_if(ports, std::back_inserter(own),
                       [&](const Port &port) { return port.role == role; });
  std::set<std::string> known;
  for (const Port &port : own) {
    std::string layer = metadataText(port, "layer");
    known.insert(layer.empty() ? layerName(port, kind.key) : layer);
  }
  for (const std::string &argument : options.*kind.overrides) {
    std::optional<std::string> name = namedSource(argument).name;
    bool isKnown = std::ranges::any_of(own, [&](const Port &port) {
      return sourceFor(argument, port, kind.key).has_value();
    });
    if (name && !own.empty() && !isKnown)
      return Error{std::string(kind.flag) + " " + argument +
                   ": the model has no " + *name + "; " +
                   suggestion(*name, known, "use " + listOf(known))};
  }
  return {};
}

std::string keyOf(const Kind &kind, const std::string &suffix, const Port &port,
                  bool single) {
  std::string key = kind.key + suffix;
  return single ? key : key + "/" + layerName(port, kind.key);
}

/// Whether promisedKey() finds a key.
bool hasKey(const ArrayFile &file, const Kind &kind, const Port &port,
            DataPurpose purpose, bool single) {
  auto known = suffixes(purpose);
  return std::any_of(known.begin(), known.end(), [&](const auto &suffix) {
    return file.contains(keyOf(kind, suffix, port, single));
  });
}

/// The key that is used for this port by the command line's documentation.
Result<std::string> promisedKey(const ArrayFile &file, const Kind &kind,
                                const Port &port, DataPurpose purpose,
                                bool single) {
  std::string tried;
  for (const std::string &suffix : suffixes(purpose)) {
    std::string key = keyOf(kind, suffix, port, single);
    if (file.contains(key))
      return key;
    tried += (tried.empty() ? "" : " nor ") + key;
  }
  if (std::string hint = file.hint(); !hint.empty())
    return Error{file.path() + ": has no " + tried + "; " + hint};
  return Error{file.path() + ": has neither " + tried + ", but " +
               listOf(file.keys()) + "; name one with " + kind.flag + " " +
               (single ? "" : layerName(port, kind.key) + "=") + file.path() +
               ":KEY"};
}

/// The number that pads the labels of samples that have fewer than the port
/// takes.
std::optional<double> paddingOf(const Port &port) {
  auto number = metadataEntry(port, "padding");
  return number.is_number() ? std::optional(number.get<double>())
                            : std::nullopt;
}

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
/// as the flag that would do so.
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
    return Error{message + "; add --add-channel"};
  if (isInput && options.addChannel &&
      Shape(have.begin(), have.end() - 1) == wanted)
    return Error{message + "; leave out --add-channel"};
  return Error{message + "; reshape the array or choose another one with " +
               kindOf(port.role, purpose).flag};
}

/// Whether a port of sample weights has no array, so that each sample counts
/// once.
Result<bool> isUnweighted(const DataOptions &options, DataPurpose purpose,
                          const Port &port, bool single,
                          const ArrayFile *file) {
  if (port.role != Role::SampleWeight || !options.weightsMayLack)
    return false;
  Kind kind = kindOf(port.role, purpose);
  Result<std::string> named = overridden(options, kind, port, single);
  if (!named)
    return named.error();
  return named->empty() &&
         !(file && hasKey(*file, kind, port, purpose, single));
}

/// The number of classes that labels of a port may name; 0 if they name none.
int64_t classesOf(const Port &port) {
  auto number = metadataEntry(port, "classes");
  return port.role == Role::Label && number.is_number_integer()
             ? number.get<int64_t>()
             : 0;
}

/// The rows for a port, from flags or the file, and their name.
Result<std::pair<Rows, std::string>> rowsFor(const DataOptions &options,
                                             DataPurpose purpose,
                                             const Port &port, bool single,
                                             ArrayFile *file) {
  Kind kind = kindOf(port.role, purpose);
  Result<std::string> source = overridden(options, kind, port, single);
  if (!source)
    return source.error();
  Result<Rows> rows = Error{};
  if (!source->empty()) {
    rows = openRows(*source, options.source);
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
    rows = file->rows(*key, Shape(port.shape.begin() + !port.shape.empty(),
                                  port.shape.end()));
  }
  return rows ? Result<std::pair<Rows, std::string>>({*rows, *source})
              : Result<std::pair<Rows, std::string>>(rows.error());
}

Result<TrainingData::Column> column(const DataOptions &options,
                                    DataPurpose purpose, const Port &port,
                                    bool single, ArrayFile *file) {
  auto found = rowsFor(options, purpose, port, single, file);
  if (!found)
    return found.error();
  auto &[rows, source] = *found;
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
      return Error{source + ": --divide-by needs an input of floats, " +
                   port.name + " takes " + std::string(name(port.type)) +
                   "; leave out --divide-by"};
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

std::map<std::string, Shape>
sampleShapes(const std::vector<std::string> &arguments) {
  std::map<std::string, Shape> out;
  for (const std::string &argument : arguments) {
    NamedSource given = namedSource(argument);
    if (std::optional<Shape> sample = sampleShape(openRows(given.source, {})))
      out[given.name.value_or("")] = *sample == Shape{1} ? Shape{} : *sample;
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
  return out;
}

Result<TrainingData> selectData(const DataOptions &options, DataPurpose purpose,
                                std::span<const Port> ports) {
  if (options.divideBy == 0 || !std::isfinite(options.divideBy))
    return Error{
        "--divide-by " + std::to_string(options.divideBy) +
        ": must be a finite number other than 0; give for example 255"};
  std::unique_ptr<ArrayFile> file;
  if (!options.data.empty()) {
    Result<std::unique_ptr<ArrayFile>> opened =
        ArrayFile::open(options.data, options.source);
    if (!opened)
      return opened.error();
    file = std::move(*opened);
  }
  for (Role role : {Role::Input, Role::Label, Role::SampleWeight})
    if (purpose != DataPurpose::Predict || role == Role::Input)
      if (Status known =
              checkNames(options, kindOf(role, purpose), role, ports);
          !known)
        return known.error();
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
    Result<bool> once =
        isUnweighted(options, purpose, port, single, file.get());
    if (!once)
      return once.error();
    if (*once) {
      unweighted.push_back(port);
      continue;
    }
    Result<TrainingData::Column> made =
        column(options, purpose, port, single, file.get());
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
    return Error{"there is no sample to work on; give data with --data"};
  for (const Port &port : unweighted)
    data.columns.push_back(onesFor(port, data.samples));
  return data;
}

} // namespace weft
