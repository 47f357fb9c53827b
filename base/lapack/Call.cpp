#include "weft/base/lapack/Call.h"

#include "weft/base/Saturating.h"

#include <algorithm>
#include <limits>

namespace weft::lapack {

Result<Named> findRoutine(std::string_view name) {
  size_t letter = name.empty() ? std::string_view::npos
                               : kElementLetters.find(name.front());
  if (letter != std::string_view::npos)
    for (const Routine &routine : allRoutines())
      if (routine.nameFor(Element(letter)) == name.substr(1))
        return Named{&routine, Element(letter)};
  std::string all;
  for (const Routine &routine : allRoutines()) {
    all += (all.empty() ? "" : ", ") + std::string(routine.name);
    if (routine.complexName != routine.name)
      all += "/" + std::string(routine.complexName);
  }
  return Error{"no routine of LAPACK is called \"" + std::string(name) +
                   "\"; known, each with s, d, c or z in front: " + all,
               StatusCode::Incompatible};
}

std::vector<ArrayForm> Routine::resultsFor(Element element) const {
  std::vector<ArrayForm> its;
  for (const ArrayForm &result : results)
    if (!result.isRealOnly || !isComplex(element))
      its.push_back(result);
  return its;
}

/// The letters of a routine's sizes, in the order of its arrays.
static std::string lettersOf(const Routine &routine) {
  std::string all;
  for (const auto *arrays : {&routine.operands, &routine.results})
    for (const ArrayForm &array : *arrays)
      for (char letter : array.dims)
        if (all.find(letter) == std::string::npos)
          all += letter;
  return all;
}

static std::string textOf(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Gives the letters of an array the sizes of its shape.
static Status fit(const std::string &what, const ArrayForm &form,
                  std::span<const int64_t> shape, Sizes &sizes) {
  bool fits = shape.size() == form.dims.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim) {
    int64_t &size = sizes[size_t(form.dims[dim] - 'a')];
    fits = size < 0 || size == shape[dim];
    size = shape[dim];
  }
  if (fits)
    return {};
  return Error{what + " has matrices of shape " + textOf(shape) +
                   ", which is no \"" + std::string(form.dims) +
                   "\" of the other arrays' sizes",
               StatusCode::InvalidArgument};
}

Result<Call> Call::make(std::string_view name, std::span<const int64_t> options,
                        int64_t batch,
                        std::span<const std::vector<int64_t>> operands,
                        std::span<const std::vector<int64_t>> results) {
  Result<Named> named = findRoutine(name);
  if (!named)
    return named.error();
  Call call;
  call.named = *named;
  call.count = batch;
  call.lengths.fill(-1);
  call.chosen.assign(options.begin(), options.end());
  call.given = call.routine().resultsFor(call.element());
  const std::vector<ArrayForm> &taken = call.routine().operands;
  if (operands.size() != taken.size() || results.size() != call.given.size())
    return Error{call.name() + " has " + std::to_string(operands.size()) +
                     " operands and " + std::to_string(results.size()) +
                     " results, expected " + std::to_string(taken.size()) +
                     " and " + std::to_string(call.given.size()),
                 StatusCode::InvalidArgument};
  for (size_t i = 0; i < taken.size(); ++i)
    if (Status ok = fit("operand " + std::to_string(i), taken[i], operands[i],
                        call.lengths);
        !ok)
      return ok.error();
  for (size_t i = 0; i < call.given.size(); ++i)
    if (Status ok = fit("result " + std::to_string(i), call.given[i],
                        results[i], call.lengths);
        !ok)
      return ok.error();
  if (Status ok = call.check(); !ok)
    return ok.error();
  return call;
}

Result<Call> Call::read(std::string_view name,
                        std::span<const int64_t> parameters) {
  Result<Named> named = findRoutine(name);
  if (!named)
    return named.error();
  Call call;
  call.named = *named;
  call.lengths.fill(-1);
  call.given = call.routine().resultsFor(call.element());
  std::string letters = lettersOf(call.routine());
  size_t expected = 1 + letters.size() + call.routine().options.size();
  if (parameters.size() != expected)
    return Error{call.name() + " has " + std::to_string(parameters.size()) +
                     " parameters, expected " + std::to_string(expected),
                 StatusCode::InvalidFile};
  call.count = parameters[0];
  for (size_t i = 0; i < letters.size(); ++i)
    call.lengths[size_t(letters[i] - 'a')] = parameters[1 + i];
  call.chosen.assign(parameters.begin() + 1 + int64_t(letters.size()),
                     parameters.end());
  if (Status ok = call.check(); !ok)
    return ok.error();
  return call;
}

std::vector<int64_t> Call::parameters() const {
  std::vector<int64_t> all = {count};
  for (char letter : lettersOf(routine()))
    all.push_back(lengths[size_t(letter - 'a')]);
  all.insert(all.end(), chosen.begin(), chosen.end());
  return all;
}

std::string Call::name() const {
  return kElementLetters[size_t(element())] +
         std::string(routine().nameFor(element()));
}

/// What is wrong with the value of an option; empty if nothing is.
static std::string faultOf(const OptionForm &option, int64_t value) {
  std::string name = "option \"" + std::string(option.name) + "\" is ";
  auto text = [](int64_t number) {
    return number >= 'A' && number <= 'Z' ? std::string(1, char(number))
                                          : std::to_string(number);
  };
  if (option.values.empty())
    return value == int32_t(value)
               ? ""
               : name + std::to_string(value) + ", more than 32 bits hold";
  std::string allowed;
  for (char one : option.values) {
    if (value == one)
      return "";
    allowed += (allowed.empty() ? "" : ", ") + text(one);
  }
  return name + text(value) + ", expected one of " + allowed;
}

Status Call::check() const {
  auto fault = [&](const std::string &what) {
    return Error{name() + ": " + what, StatusCode::InvalidArgument};
  };
  const std::vector<OptionForm> &known = routine().options;
  if (chosen.size() != known.size())
    return fault("has " + std::to_string(chosen.size()) +
                 " options, expected " + std::to_string(known.size()));
  for (size_t i = 0; i < known.size(); ++i)
    if (std::string what = faultOf(known[i], chosen[i]); !what.empty())
      return fault(what);
  int64_t all = count;
  for (char letter : lettersOf(routine())) {
    int64_t size = lengths[size_t(letter - 'a')];
    if (size < 0 || size > std::numeric_limits<int32_t>::max() / 8)
      return fault("a size of " + std::to_string(size) +
                   " is none of LAPACK's");
  }
  for (const auto *arrays : {&routine().operands, &given})
    for (const ArrayForm &array : *arrays)
      all = std::max(all, saturatingMultiply(count, bytes(array)));
  if (count < 0 || all > int64_t(1) << 48)
    return fault("a batch of " + std::to_string(count) +
                 " has more bytes than any memory");
  std::string what = routine().check(lengths, chosen);
  return what.empty() ? Status() : Status(fault(what));
}

int64_t Call::elements(const ArrayForm &array) const {
  int64_t all = 1;
  for (char letter : array.dims)
    all = saturatingMultiply(all, lengths[size_t(letter - 'a')]);
  return all;
}

int64_t Call::bytes(const ArrayForm &array) const {
  bool isDouble = element() == Element::F64 || element() == Element::C128;
  int64_t real = isDouble ? 8 : 4;
  bool isPair = array.part == Part::Complex ||
                (array.part == Part::Same && isComplex(element()));
  int64_t each = array.part == Part::Int32 ? 4 : isPair ? 2 * real : real;
  return saturatingMultiply(each, elements(array));
}

double Call::operations() const {
  auto size = [&](char letter) {
    return double(lengths[size_t(letter - 'a')]);
  };
  double smaller = 0, last = 0;
  const Routine &called = routine();
  for (const ArrayForm &operand : called.operands) {
    if (operand.dims.size() != 2)
      continue;
    if (last == 0)
      smaller = std::min(size(operand.dims[0]), size(operand.dims[1]));
    last = size(operand.dims[0]) * size(operand.dims[1]);
  }
  return routine().cost * smaller * last * double(count) *
         (isComplex(element()) ? 4 : 1);
}

} // namespace weft::lapack
