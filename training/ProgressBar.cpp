// Output equals that of keras.utils.Progbar of Keras 3.15 byte for byte.
#include "weft/training/ProgressBar.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace weft {

namespace {
constexpr int barWidth = 20;
constexpr double interval = 0.05;

std::string format(const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  int length = std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return std::string(text, std::min<size_t>(length, sizeof text - 1));
}

std::string number(double value, bool small) {
  if (std::isnan(value))
    return "nan"; // never "-nan"
  return format(small ? "%.4e" : "%.4f", value);
}

std::string perStepText(double seconds) {
  if (seconds >= 1 || seconds == 0)
    return format(" %.0fs/step", seconds);
  if (seconds >= 1e-3)
    return format(" %.0fms/step", seconds * 1e3);
  return format(" %.0fus/step", seconds * 1e6);
}

std::string etaText(double seconds) {
  int64_t whole = int64_t(seconds);
  if (seconds > 3600)
    return format("%d:%02d:%02d", int(whole / 3600), int(whole % 3600 / 60),
                  int(whole % 60));
  if (seconds > 60)
    return format("%d:%02d", int(whole / 60), int(whole % 60));
  return format("%ds", int(whole));
}

std::string repeat(const char *text, int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i)
    out += text;
  return out;
}

int digits(int64_t value) { return int(std::to_string(value).size()); }

/// Columns on the screen: control sequences take none, UTF-8 characters one.
size_t width(const std::string &text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      while (i < text.size() && text[i] != 'm')
        ++i;
    else if ((text[i] & 0xC0) != 0x80)
      ++columns;
  }
  return columns;
}
} // namespace

ProgressBar::ProgressBar(Options options)
    : options(std::move(options)), start(now()) {}

double ProgressBar::now() const {
  if (options.clock)
    return options.clock();
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void ProgressBar::print(std::string_view text) const {
  if (options.print)
    options.print(text);
}

double ProgressBar::secondsPerStep(int64_t current, double now) {
  if (!current)
    return 0;
  // The mean time of a step, without the first if there are others, as that
  // compiles in Keras.
  double seconds = firstStepDone && current > 1
                       ? (now - afterFirstStep) / double(current - 1)
                       : (now - start) / double(current);
  if (current == 1) {
    firstStepDone = true;
    afterFirstStep = now;
  }
  return seconds;
}

void ProgressBar::setValues(const Logs &values) {
  for (const auto &value : values) {
    auto it = std::find_if(shown.begin(), shown.end(), [&](const auto &known) {
      return known.first == value.first;
    });
    if (it == shown.end())
      shown.push_back(value);
    else
      it->second = value.second;
  }
}

void ProgressBar::update(int64_t current, const Logs &values, bool finalize) {
  setValues(values);
  double time = now(), perStep = secondsPerStep(current, time);
  if (options.verbose == 1 && options.terminal) {
    if (time - lastUpdate < interval && !finalize)
      return;
    drawBar(current, finalize, time, perStep);
  } else if (options.verbose > 0 && finalize) {
    printLine(current, time, perStep);
  }
  lastUpdate = time;
}

void ProgressBar::drawBar(int64_t current, bool finalize, double time,
                          double perStep) {
  std::string line;
  if (options.target > 0) {
    line = format("\x1b[1m%*lld/%lld\x1b[0m ", digits(options.target),
                  (long long)current, (long long)options.target);
    int filled = int(barWidth * (double(current) / double(options.target)));
    if (filled > 0)
      line += "\x1b[32m" + repeat("━", filled) + "\x1b[0m";
    line += "\x1b[37m" + repeat("━", barWidth - filled) + "\x1b[0m";
  } else {
    line = format("%7lld/Unknown", (long long)current);
  }
  std::string when = options.target > 0 && !finalize
                         ? etaText(perStep * double(options.target - current))
                         : format("%.0fs", time - start);
  line += " \x1b[1m" + when + "\x1b[0m" + perStepText(perStep);
  for (const auto &[name, value] : shown)
    line += " - " + name + ": " +
            number(value.shown(), std::fabs(value.shown()) <= 1e-3);
  size_t columns = width(line);
  std::string message(previousWidth, '\b');
  message += "\r" + line;
  if (columns < previousWidth)
    message.append(previousWidth - columns, ' ');
  print(message + (finalize ? "\n" : ""));
  previousWidth = columns;
}

void ProgressBar::printLine(int64_t current, double time, double perStep) {
  std::string line = options.target > 0
                         ? format("%*lld/%lld", digits(options.target),
                                  (long long)current, (long long)options.target)
                         : std::to_string(current);
  line += format(" - %.0fs -", time - start) + perStepText(perStep);
  // The comparison is without abs(), as in Keras, so negative values get
  // exponents.
  for (const auto &[name, value] : shown)
    line += " - " + name + ": " + number(value.shown(), value.shown() <= 1e-3);
  print(line + "\n");
}

} // namespace weft
