//===- TokenReader.cpp - operands and declarations ------------------------===//

#include "weft/test/cuda/machine/BodyParser.h"

#include <cstdlib>

namespace weft::ptx {

Token TokenReader::take() {
  Token token = look();
  if (token.kind != Token::End)
    ++at;
  return token;
}

bool TokenReader::takeIf(std::string_view text) {
  if (look().text != text)
    return false;
  take();
  return true;
}

void TokenReader::expect(std::string_view text) {
  if (!takeIf(text))
    fail("'" + std::string(look().text) + "' stands where '" +
         std::string(text) + "' is expected");
}

void TokenReader::fail(const std::string &what) {
  if (error.empty())
    error = "line " + std::to_string(look().line) + ": " + what;
}

/// Parses a number; `0f` and `0d` are followed by the bits of a float.
Argument TokenReader::parseNumber() {
  Argument number;
  number.kind = Argument::Number;
  std::string text(take().text);
  char *end = nullptr;
  bool isBits =
      text.size() > 2 && text[0] == '0' &&
      (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D');
  bool isBinary =
      text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
  if (isBits || isBinary)
    number.bits = std::strtoull(text.c_str() + 2, &end, isBits ? 16 : 2);
  else
    number.bits = std::strtoull(text.c_str(), &end, 0);
  if (*end && std::string_view(end) != "U")
    fail("'" + text + "' is no number");
  return number;
}

Argument TokenReader::parseArgument() {
  Argument result;
  if (takeIf("{")) {
    result.kind = Argument::Vector;
    while (error.empty() && !takeIf("}")) {
      result.parts.push_back(parseArgument());
      takeIf(",");
    }
    return result;
  }
  bool isAddress = takeIf("[");
  if (takeIf("!"))
    result.isNegated = true;
  if (bool isMinus = takeIf("-"); look().kind == Token::Number) {
    bool isNegated = result.isNegated;
    result = parseNumber();
    result.isNegated = isNegated;
    if (isMinus)
      result.bits = -result.bits;
  } else if (look().kind == Token::Word && !isMinus) {
    result.name = take().text;
    if (takeIf("|"))
      result.second = take().text;
  } else {
    fail("'" + std::string(look().text) + "' is no operand");
  }
  if (bool isPlus = look().text == "+"; isPlus || look().text == "-") {
    take();
    bool isMinus = !isPlus != takeIf("-");
    result.offset = int64_t(parseNumber().bits) * (isMinus ? -1 : 1);
  }
  if (isAddress)
    expect("]");
  result.isAddress = isAddress;
  return result;
}

Declaration TokenReader::parseDeclaration() {
  Declaration result;
  while (error.empty() && look().text[0] == '.') {
    std::string word(take().text);
    if (word == ".align")
      result.alignment = std::max(result.alignment, parseNumber().bits);
    else if (Type type = typeNamed(word.substr(1)); type != Type::None)
      result.type = type;
    else if (word != ".ptr" && word != ".global" && word != ".const" &&
             word != ".shared" && word != ".local")
      fail("'" + word + "' of a variable is not known");
  }
  result.name = take().text;
  if (result.type == Type::None)
    fail("'" + result.name + "' has no type");
  result.alignment = std::max<uint64_t>(result.alignment, bytesOf(result.type));
  while (takeIf("[")) {
    if (takeIf("]")) {
      result.isOpen = true;
    } else {
      result.count *= parseNumber().bits;
      expect("]");
    }
  }
  return result;
}

} // namespace weft::ptx
