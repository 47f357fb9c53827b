#include "weft/training/DataKeys.h"

#include "weft/base/ClosestName.h"

#include <algorithm>

namespace weft {

ArrayKind kindOf(Role role, DataPurpose purpose) {
  bool validates = purpose == DataPurpose::Validation;
  if (role == Role::Label)
    return {"y", validates ? Option{"validation_y"} : Option{"y"},
            &DataOptions::y};
  if (role == Role::SampleWeight)
    return {"sample_weight",
            validates ? Option{"validation_sample_weight"}
                      : Option{"sample_weight"},
            &DataOptions::sampleWeight};
  return {"x", validates ? Option{"validation_x"} : Option{"x"},
          &DataOptions::x};
}

std::vector<std::string> suffixesOf(DataPurpose purpose) {
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
static std::string layerName(const Port &port, const char *key) {
  std::string prefix = std::string(key) + "/";
  return port.name.starts_with(prefix) ? port.name.substr(prefix.size())
                                       : port.name;
}

NamedSource namedSource(const std::string &argument) {
  size_t equal = argument.find('=');
  bool named =
      equal != std::string::npos && argument.find_first_of("/.:[") > equal;
  if (!named)
    return {std::nullopt, argument};
  return {argument.substr(0, equal), argument.substr(equal + 1)};
}

/// The name of the port's layer, where the step says it; else the port's own.
static std::string nameOf(const Port &port, const char *key) {
  const std::string &layer = port.facts.layer;
  return layer.empty() ? layerName(port, key) : layer;
}

/// The source of NAME=SOURCE if NAME is the port's name without x/ or the like
/// or, if the step has only one such port, the name of its layer.
static std::optional<std::string> sourceFor(const std::string &argument,
                                            const Port &port, const char *key) {
  if (NamedSource given = namedSource(argument);
      given.name == layerName(port, key))
    return given.source;
  const std::string &layer = port.facts.layer;
  if (!layer.empty() && argument.starts_with(layer + "="))
    return argument.substr(layer.size() + 1);
  return std::nullopt;
}

/// The source that the last option of this kind, such as x, names for this
/// port; empty when none does. `single`: the step has one port of this role.
static Result<std::string> overridden(const DataOptions &options,
                                      const ArrayKind &kind, const Port &port,
                                      bool single) {
  std::string found;
  for (const std::string &argument : options.*kind.overrides) {
    if (auto source = sourceFor(argument, port, kind.key))
      found = *source;
    else if (namedSource(argument).name)
      continue;
    else if (single)
      found = argument;
    else
      return Error{kind.option.as(argument) +
                   ": the model has several such arrays; write " +
                   kind.option.as(layerName(port, kind.key) + "=" + argument)};
  }
  return found;
}

static std::vector<Port> portsOf(Role role, std::span<const Port> ports) {
  std::vector<Port> own;
  std::ranges::copy_if(ports, std::back_inserter(own),
                       [&](const Port &port) { return port.role == role; });
  return own;
}

static std::set<std::string> namesOf(const std::vector<Port> &ports,
                                     const ArrayKind &kind) {
  std::set<std::string> known;
  for (const Port &port : ports)
    known.insert(nameOf(port, kind.key));
  return known;
}

/// Fails if an option names an array for a port of this role that the model does
/// not have, unless it has no port of this role at all.
static Status checkNames(const DataOptions &options, const ArrayKind &kind,
                         Role role, std::span<const Port> ports) {
  std::vector<Port> own = portsOf(role, ports);
  std::set<std::string> known = namesOf(own, kind);
  for (const std::string &argument : options.*kind.overrides) {
    std::optional<std::string> name = namedSource(argument).name;
    bool isKnown = std::ranges::any_of(own, [&](const Port &port) {
      return sourceFor(argument, port, kind.key).has_value();
    });
    if (name && !own.empty() && !isKnown)
      return Error{kind.option.as(argument) + ": the model has no " + *name +
                   "; " + suggestion(*name, known, "use " + listOf(known))};
  }
  return {};
}

/// The keys that a port's array may have, in the order in which they are tried.
static std::vector<std::string> keysOf(const ArrayKind &kind, const Port &port,
                                       DataPurpose purpose, bool single) {
  std::vector<std::string> keys;
  std::string name = nameOf(port, kind.key);
  for (const std::string &suffix : suffixesOf(purpose)) {
    if (single)
      keys.push_back(kind.key + suffix);
    keys.push_back(kind.key + suffix + "/" + name);
  }
  if (port.role != Role::SampleWeight)
    keys.push_back(name);
  return keys;
}

/// The file's key for this port, or nothing.
static std::optional<std::string> findKey(const ArrayFile &file,
                                          const ArrayKind &kind,
                                          const Port &port, DataPurpose purpose,
                                          bool single) {
  for (const std::string &key : keysOf(kind, port, purpose, single))
    if (file.contains(key))
      return key;
  return std::nullopt;
}

/// As above, with an error that lists the keys that were tried.
static Result<std::string> promisedKey(const ArrayFile &file,
                                       const ArrayKind &kind, const Port &port,
                                       DataPurpose purpose, bool single) {
  if (auto key = findKey(file, kind, port, purpose, single))
    return *key;
  std::string tried, name = nameOf(port, kind.key);
  for (const std::string &suffix : suffixesOf(purpose))
    tried += (tried.empty() ? "" : " nor ") + (kind.key + suffix) +
             (single ? "" : "/" + name);
  if (Message hint = file.hint(); !hint.empty())
    return Error{file.path() + ": has no " + tried + "; " + hint};
  if (port.role != Role::SampleWeight && name != kind.key)
    tried += " nor " + name;
  return Error{
      file.path() + ": has neither " + tried + ", but " + listOf(file.keys()) +
      "; name one with " +
      kind.option.as((single ? "" : name + "=") + file.path() + ":KEY")};
}

/// A key's parts: sample_weight, _train and price of
/// sample_weight_train/price.
namespace {
struct KeyParts {
  std::string suffix;
  std::optional<std::string> name;
};
} // namespace

/// The parts of a key of this kind; nothing for other keys.
static std::optional<KeyParts> componentsOf(const std::string &key,
                                            const ArrayKind &kind) {
  std::string start = key.substr(0, key.find('/'));
  for (const char *suffix : {"", "_train", "_val", "_test"})
    if (start == kind.key + std::string(suffix))
      return KeyParts{
          suffix, key == start ? std::nullopt
                               : std::optional(key.substr(start.size() + 1))};
  return std::nullopt;
}

/// The error of an array that is for a port which the step does not have.
static Status checkKey(const ArrayFile &file, const std::string &key,
                       const KeyParts &parts, const ArrayKind &kind,
                       const std::vector<Port> &ports) {
  std::set<std::string> known = namesOf(ports, kind);
  bool isKnown = parts.name ? known.contains(*parts.name) : known.size() == 1;
  if (ports.empty() || isKnown)
    return {};
  std::string start = key.substr(0, key.find('/'));
  if (!parts.name)
    return Error{file.path() + ": " + key +
                 " is one array, and the model has several such: " +
                 listOf(known) + "; name it " + start + "/" + *known.begin()};
  return Error{file.path() + ": " + key + ": the model has no " + *parts.name +
               "; " + suggestion(*parts.name, known, "use " + listOf(known))};
}

/// Why a port does not take the array that its own purpose or another one has
/// for it: "; for weft evaluate" of x_test under fit.
static Message reasonOf(const ArrayFile &file, const std::string &key,
                        Role role, DataPurpose purpose,
                        std::span<const Port> ports) {
  std::vector<Port> own = portsOf(role, ports);
  auto isFor = [&](DataPurpose other) {
    return std::ranges::any_of(own, [&](const Port &port) {
      return findKey(file, kindOf(role, other), port, other, own.size() == 1) ==
             key;
    });
  };
  if (isFor(purpose))
    return "; " + kindOf(role, purpose).option + " names another";
  for (auto [other, reader] :
       {std::pair{DataPurpose::Fit, Message("weft fit")},
        std::pair{DataPurpose::Evaluate, Message("weft evaluate")},
        std::pair{DataPurpose::Validation, Message(Option{"validation_data"})}})
    if (isFor(other))
      return "; for " + reader;
  return "";
}

/// The arrays of a file that no port of the step takes. Fails if an array's
/// name says that it is for a port which the step does not have: y/prices.
static Result<std::vector<UnreadArray>>
unreadArrays(const ArrayFile &file, const std::set<std::string> &read,
             DataPurpose purpose, std::span<const Port> ports) {
  std::vector<UnreadArray> out;
  std::vector<std::string> suffixes = suffixesOf(purpose);
  for (const std::string &key : file.keys()) {
    if (read.contains(key))
      continue;
    UnreadArray array{file.path(), key};
    for (Role role : {Role::Input, Role::Label, Role::SampleWeight}) {
      ArrayKind kind = kindOf(role, purpose);
      std::optional<KeyParts> parts = componentsOf(key, kind);
      if (!parts)
        continue;
      array.isUnknown = false;
      array.reason = reasonOf(file, key, role, purpose, ports);
      bool isOfPurpose =
          std::ranges::find(suffixes, parts->suffix) != suffixes.end() &&
          (role == Role::Input || purpose != DataPurpose::Predict);
      if (!isOfPurpose)
        continue;
      if (Status ok = checkKey(file, key, *parts, kind, portsOf(role, ports));
          !ok)
        return ok.error();
    }
    out.push_back(std::move(array));
  }
  return out;
}

/// The array of a port. Weights of samples may lack theirs.
static Result<ChosenArray> chooseArray(const DataOptions &options,
                                       DataPurpose purpose, const Port &port,
                                       bool single, const ArrayFile *file) {
  ArrayKind kind = kindOf(port.role, purpose);
  Result<std::string> source = overridden(options, kind, port, single);
  if (!source)
    return source.error();
  if (!source->empty())
    return ChosenArray{port, *source, ""};
  if (port.role == Role::SampleWeight && options.weightsMayLack &&
      !(file && findKey(*file, kind, port, purpose, single)))
    return ChosenArray{port, "", ""};
  if (!file) {
    Option data = purpose == DataPurpose::Validation ? Option{"validation_data"}
                                                     : Option{"data"};
    return Error{"no array is given for " + port.name + "; add " +
                 data.as("FILE.npz") + " or " + kind.option.as("FILE.npz:KEY")};
  }
  Result<std::string> key = promisedKey(*file, kind, port, purpose, single);
  if (!key)
    return key.error();
  return ChosenArray{port, file->path() + ":" + *key, *key};
}

Result<ChosenArrays> chooseArrays(const DataOptions &options,
                                  DataPurpose purpose,
                                  std::span<const Port> ports,
                                  const ArrayFile *file) {
  auto reads = [&](Role role) {
    return purpose != DataPurpose::Predict || role == Role::Input;
  };
  for (Role role : {Role::Input, Role::Label, Role::SampleWeight})
    if (reads(role))
      if (Status known =
              checkNames(options, kindOf(role, purpose), role, ports);
          !known)
        return known.error();
  ChosenArrays chosen;
  std::set<std::string> read;
  for (const Port &port : ports) {
    if (!port.isData() || !reads(port.role))
      continue;
    bool single = portsOf(port.role, ports).size() == 1;
    Result<ChosenArray> array =
        chooseArray(options, purpose, port, single, file);
    if (!array)
      return array.error();
    if (!array->key.empty())
      read.insert(array->key);
    chosen.arrays.push_back(std::move(*array));
  }
  if (!file)
    return chosen;
  Result<std::vector<UnreadArray>> unread =
      unreadArrays(*file, read, purpose, ports);
  if (!unread)
    return unread.error();
  if (read.empty())
    return Error{file->path() + ": no array of it is read, as other flags name "
                                "all arrays; leave it out"};
  chosen.unread = std::move(*unread);
  return chosen;
}

} // namespace weft
