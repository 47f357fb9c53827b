//===- Failure.cpp - how a command says that it failed --------------------===//

#include "weft/tools/weft/Commands.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

std::string weft::tool::printable(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    auto code = static_cast<unsigned char>(text[i]);
    bool isWide = code == 0xc2 && i + 1 < text.size() &&
                  static_cast<unsigned char>(text[i + 1]) < 0xa0; // U+009B
    bool isControl =
        (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f || isWide;
    if (!isControl) {
      out += text[i];
      continue;
    }
    char escaped[8];
    code = isWide ? static_cast<unsigned char>(text[++i]) : code;
    std::snprintf(escaped, sizeof escaped, "\\x%02x", code);
    out += escaped;
  }
  return out;
}

std::string weft::tool::flagOf(const Option &option) {
  // CommandLine.cpp, ModelFlags.cpp and TrainingFlags.cpp declare the flags,
  // and check_options.py finds one there for each option of a library.
  std::string flag = "--" + option.name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  bool isAlone = option.value.empty() || option.value == "true";
  return isAlone ? flag : flag + " " + option.value;
}

std::string weft::tool::inFlags(const Message &message) {
  return printable(message.text(flagOf));
}

void weft::tool::printText(const Message &text) {
  std::fputs(inFlags(text).c_str(), stdout);
}

void weft::tool::printNow(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int weft::tool::flushed(int status) {
  errno = 0;
  bool isFlushed = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (isFlushed)
    return status;
  fail(std::string("standard output cannot be written") +
       (errno ? std::string(": ") + std::strerror(errno) : "") +
       "; print to another place");
  return status ? status : 1;
}

/// Prints a line for people on stderr.
static void say(const char *kind, const weft::Message &message) {
  std::fprintf(stderr, "weft: %s: %s\n", kind,
               weft::tool::inFlags(message).c_str());
}

int weft::tool::fail(const Error &error) { return fail(error.message); }

int weft::tool::fail(const Message &message) {
  if (!message.empty())
    say("error", message);
  return 1;
}

int weft::tool::failUsage(const Message &message) {
  fail(message);
  return 2;
}

void weft::tool::note(const Message &message) { say("note", message); }

void weft::tool::warn(const Message &message) { say("warning", message); }
