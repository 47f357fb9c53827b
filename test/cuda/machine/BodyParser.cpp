//===- BodyParser.cpp - declarations and statements of a kernel -----------===//

#include "weft/test/cuda/machine/BodyParser.h"

namespace weft::ptx {

static uint32_t roundUp(uint64_t value, uint64_t multiple) {
  return uint32_t((value + multiple - 1) / multiple * multiple);
}

/// Adds a parameter. The .align of a pointer is that of its target.
void BodyParser::addParameter(const Declaration &parameter) {
  uint64_t alignment =
      parameter.count > 1 ? parameter.alignment : bytesOf(parameter.type);
  uint32_t offset = roundUp(kernel.parameterBytes, alignment);
  kernel.parameters.push_back(
      {parameter.name, offset, uint32_t(parameter.bytes())});
  decoder.variables[parameter.name] = {Space::Parameter, offset, 0, 1, false};
  kernel.parameterBytes = offset + uint32_t(parameter.bytes());
}

void BodyParser::run() {
  reader.expect("{");
  depth = 1;
  while (reader.error.empty() && decoder.error.empty() && depth)
    parseItem();
  if (!reader.error.empty() || !decoder.error.empty())
    return;
  decoder.resolve(labels);
  Instruction end;
  end.flow = Flow::Exit;
  end.line = kernel.code.empty() ? 0 : kernel.code.back().line;
  kernel.code.push_back(end);
}

void BodyParser::parseItem() {
  if (reader.look().kind == Token::End)
    return reader.fail("kernel '" + kernel.name + "' has no end");
  if (reader.takeIf("{")) {
    ++depth;
    return;
  }
  if (reader.takeIf("}")) {
    --depth;
    return;
  }
  if (reader.takeIf(";"))
    return;
  std::string word(reader.look().text);
  if (reader.look(1).text == ":") {
    reader.take(), reader.take();
    if (reader.look().text == ".branchtargets")
      return parseBranchTargets(word);
    labels[word] = uint32_t(kernel.code.size());
  } else if (word[0] == '.') {
    reader.take();
    parseDirective(word);
  } else {
    parseStatement();
  }
}

void BodyParser::parseDirective(const std::string &word) {
  if (word == ".reg")
    return parseRegisters();
  if (word == ".pragma") {
    reader.take();
    return reader.expect(";");
  }
  if (word == ".loc") {
    for (unsigned line = reader.look().line; reader.look().line == line;)
      reader.take();
    return;
  }
  if (word == ".param")
    return reader.fail("'.param' in a kernel: calls of functions are not known "
                       "to this machine; have them inlined");
  if (word != ".local" && word != ".shared")
    return reader.fail("'" + word + "' is not known in a kernel");
  Declaration declared = reader.parseDeclaration();
  reader.expect(";");
  if (word == ".shared")
    return decoder.declareShared(declared.name,
                                 {Space::Shared, 0, declared.bytes(),
                                  declared.alignment, declared.isOpen});
  uint32_t offset = roundUp(kernel.localBytes, declared.alignment);
  decoder.variables[declared.name] = {Space::Local, offset, 0, 1, false};
  kernel.localBytes = offset + uint32_t(declared.bytes());
}

/// Parses registers: `.reg .b32 %r<17>, %x;` declares %r0 to %r16 and %x.
void BodyParser::parseRegisters() {
  std::string word(reader.take().text);
  Type type = typeNamed(std::string_view(word).substr(1));
  if (type == Type::None)
    return reader.fail("'" + word + "' is no type of a register");
  do {
    std::string name(reader.take().text);
    if (!reader.takeIf("<")) {
      decoder.declareRegister(name, type);
      continue;
    }
    uint64_t count = reader.parseNumber().bits;
    reader.expect(">");
    for (uint64_t i = 0; i < count; ++i)
      decoder.declareRegister(name + std::to_string(i), type);
  } while (reader.takeIf(","));
  reader.expect(";");
}

void BodyParser::parseBranchTargets(const std::string &name) {
  reader.take();
  std::vector<std::string> &targets = decoder.branchTargets[name];
  do
    targets.emplace_back(reader.take().text);
  while (reader.takeIf(","));
  reader.expect(";");
}

void BodyParser::parseStatement() {
  Statement statement;
  if (reader.takeIf("@")) {
    statement.isGuardNegated = reader.takeIf("!");
    statement.guard = reader.take().text;
  }
  Token name = reader.take();
  statement.line = name.line;
  for (size_t start = 0; start <= name.text.size();) {
    size_t end = std::min(name.text.find('.', start), name.text.size());
    statement.words.emplace_back(name.text.substr(start, end - start));
    start = end + 1;
  }
  if (statement.words[0] == "call")
    return reader.fail("'call': calls of functions are not known to this "
                       "machine; have them inlined");
  while (reader.error.empty() && reader.look().text != ";") {
    statement.arguments.push_back(reader.parseArgument());
    if (!reader.takeIf(",") && reader.look().text != ";")
      reader.fail("'" + std::string(reader.look().text) +
                  "' stands where ',' or ';' is expected");
  }
  reader.expect(";");
  if (reader.error.empty())
    decoder.decode(statement);
}

} // namespace weft::ptx
