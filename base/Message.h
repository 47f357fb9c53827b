//===- Message.h - a text that names options of the caller ------*- C++ -*-===//
//
//   Message m = "no array is given for x; add " + Option{"data", "FILE.npz"};
//   m.text();               // no array is given for x; add data=FILE.npz
//   m.text(flagOf);         // no array is given for x; add --data FILE.npz
//
// A library has options, and each of its callers has words for them: --data for
// the command line, data= for Python. So a message keeps the options that it
// names, and the caller chooses the words (tools/weft/Commands.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_MESSAGE_H
#define WEFT_BASE_MESSAGE_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class Message;

/// An option, with the value that it has or should have.
struct Option {
  std::string name;       ///< words joined by _: add_channel
  std::string value = {}; ///< "true" turns on an option that is on or off

  /// Returns the option with this value.
  Option as(std::string given) const { return {name, std::move(given)}; }
  std::string text() const;
  friend Message operator+(std::string text, const Option &option);
  friend Message operator+(const Option &option, const std::string &text);
};

class Message {
public:
  Message() = default;
  Message(std::string text) : joined(std::move(text)) {}
  Message(const char *text) : joined(text) {}
  Message(const Option &option)
      : joined(option.text()), mentions{{0, joined.size(), option}} {}

  bool empty() const { return joined.empty(); }
  /// The text with each option as name=value.
  const std::string &text() const { return joined; }
  /// The text with each option in the caller's words.
  std::string
  text(const std::function<std::string(const Option &)> &word) const;

  /// An option and its place in text().
  struct Mention {
    size_t begin, bytes;
    Option option;
  };
  /// The options, in the order of the text.
  const std::vector<Mention> &options() const { return mentions; }

  Message &operator+=(const Message &other);
  friend Message operator+(Message left, const Message &right) {
    return std::move(left += right);
  }

private:
  std::string joined;
  std::vector<Mention> mentions;
};

} // namespace weft

#endif // WEFT_BASE_MESSAGE_H
