//===- Message.cpp - a text that names options of the caller --------------===//

#include "weft/base/Message.h"

namespace weft {

std::string Option::text() const {
  return name + (value.empty() ? "" : "=") + value;
}

Message operator+(std::string text, const Option &option) {
  return Message(std::move(text)) += option;
}

Message operator+(const Option &option, const std::string &text) {
  return Message(option) += text;
}

std::string
Message::text(const std::function<std::string(const Option &)> &word) const {
  std::string out;
  size_t end = 0;
  for (const Mention &mention : mentions) {
    out.append(joined, end, mention.begin - end).append(word(mention.option));
    end = mention.begin + mention.bytes;
  }
  return out.append(joined, end);
}

Message &Message::operator+=(const Message &other) {
  for (Mention mention : other.mentions) {
    mention.begin += joined.size();
    mentions.push_back(std::move(mention));
  }
  joined += other.joined;
  return *this;
}

} // namespace weft
