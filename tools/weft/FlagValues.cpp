#include "weft/tools/weft/FlagValues.h"
#include "weft/base/StepKind.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::tool;

/// Checks the range of a number; CLI11 refuses other words.
template <typename Number>
static FlagCheck number(const std::function<bool(Number)> &fits,
                        const std::string &must, const std::string &how) {
  return [=](const std::string &text) -> std::string {
    Number value{};
    if (!CLI::detail::lexical_cast(text, value) || fits(value))
      return "";
    return "must be " + must + ", not " + text + "; " + how;
  };
}

FlagCheck weft::tool::atLeast(int64_t least, const std::string &how) {
  return number<int64_t>([=](int64_t value) { return value >= least; },
                         "at least " + std::to_string(least), how);
}

Result<std::vector<int64_t>>
weft::tool::readBatchSizes(const std::string &text) {
  std::vector<int64_t> sizes;
  FlagCheck isSize = atLeast(1, "give the samples of a step");
  for (const std::string &part : CLI::detail::split(text, ',')) {
    int64_t size = 0;
    if (!CLI::detail::lexical_cast(part, size))
      return Error{"must be a number of samples, or several as 1,8,32, not " +
                   text};
    if (std::string wrong = isSize(part); !wrong.empty())
      return Error{wrong};
    if (std::find(sizes.begin(), sizes.end(), size) != sizes.end())
      return Error{"names the size " + part + " twice in " + text +
                   "; name each size once"};
    sizes.push_back(size);
  }
  return sizes;
}

FlagCheck weft::tool::isVerbosity() {
  return number<int64_t>([](int64_t value) { return value >= 0 && value <= 2; },
                         "0, 1 or 2", "1 draws a bar, 2 prints lines");
}

FlagCheck weft::tool::isStep() {
  return [](const std::string &text) -> std::string {
    if (stepKindNamed(text))
      return "";
    return "must be train, evaluate or predict, not " + text;
  };
}

FlagCheck weft::tool::isStepOrAll() {
  return [](const std::string &text) -> std::string {
    if (text == "all" || isStep()(text).empty())
      return "";
    return "must be train, evaluate, predict or all, not " + text;
  };
}

FlagCheck weft::tool::isSwitch() {
  return [](const std::string &text) -> std::string {
    if (text == "on" || text == "off")
      return "";
    return "must be on or off, not " + text;
  };
}

FlagCheck weft::tool::isAutoOnOrOff() {
  return [](const std::string &text) -> std::string {
    if (text == "auto" || text == "on" || text == "off")
      return "";
    return "must be auto, on or off, not " + text;
  };
}

FlagCheck weft::tool::isCollectiveMode() {
  return [](const std::string &text) -> std::string {
    if (text == "nccl" || text == "peer" || text == "exact")
      return "";
    return "must be nccl, peer or exact, not " + text;
  };
}

FlagCheck weft::tool::isMatmulPrecision() {
  return [](const std::string &text) -> std::string {
    if (text == "f32" || text == "tf32")
      return "";
    return "must be f32 or tf32, not " + text;
  };
}

FlagCheck weft::tool::isDivisor() {
  return number<double>(
      [](double value) { return value != 0 && std::isfinite(value); },
      "a finite number other than 0", "give for example 255");
}

FlagCheck weft::tool::isRate() {
  return number<double>(
      [](double value) { return std::isfinite(float(value)); },
      "a finite number of float32", "give a number such as 0.001");
}

FlagCheck weft::tool::isFraction() {
  return number<double>([](double value) { return value >= 0 && value < 1; },
                        "from 0 to below 1", "0.2 takes the last fifth");
}

FlagCheck weft::tool::isDuration() {
  return number<double>(
      [](double value) { return value >= 0 && std::isfinite(value); },
      "a number of seconds, at least 0", "0.5 is half a second");
}

FlagCheck weft::tool::namesModel() {
  return [](const std::string &text) -> std::string {
    if (text.ends_with(".keras"))
      return "";
    return text +
           ": Keras loads only files whose name ends in .keras; name it so";
  };
}

FlagCheck weft::tool::namesPage() {
  return [](const std::string &text) -> std::string {
    if (text != "-")
      return "";
    return "-: standard output has the text; name a file, as report.html";
  };
}
