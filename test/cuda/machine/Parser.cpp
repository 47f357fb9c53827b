//===- Parser.cpp - modules, kernels and statements of PTX ----------------===//

#include "weft/test/cuda/machine/BodyParser.h"

#include <algorithm>
#include <sstream>

namespace weft::ptx {

const Kernel *Module::find(const std::string &name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

/// The bytes of a variable with its alignment. LLVM widens the last load of a
/// variable to the bytes that the alignment makes safe, up to a vector of 16,
/// which GPUs allow.
static uint64_t placedBytes(const Declaration &declared) {
  uint64_t piece = std::clamp<uint64_t>(declared.alignment, 1, 16);
  return (declared.bytes() + piece - 1) / piece * piece;
}

namespace {
class ModuleParser : TokenReader {
public:
  ModuleParser(const std::vector<Token> &tokens, Module &module)
      : TokenReader(tokens), module(module) {}

  std::string run() {
    while (error.empty() && look().kind != Token::End)
      parseItem();
    return error;
  }

private:
  void parseItem() {
    Token token = take();
    std::string_view word = token.text;
    if (word == ".visible" || word == ".extern" || word == ".weak" ||
        word == ".common")
      return;
    if (word == ".version") {
      std::string version(take().text);
      module.version = unsigned(std::stod(version) * 10 + 0.5);
    } else if (word == ".target") {
      module.target = take().text;
      while (takeIf(","))
        take();
    } else if (word == ".address_size") {
      if (take().text != "64")
        fail(".address_size is not 64");
    } else if (word == ".file") {
      while (look().line == token.line && look().kind != Token::End)
        take();
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      parseVariable(word);
    } else if (word == ".entry") {
      parseEntry();
    } else if (word == ".func") {
      skipFunction();
    } else {
      fail("'" + std::string(word) + "' is not known here");
    }
  }

  void parseVariable(std::string_view space) {
    Declaration declared = parseDeclaration();
    if (space == ".shared") {
      globals[declared.name] = {Space::Shared, 0, declared.bytes(),
                                declared.alignment, declared.isOpen};
      return expect(";");
    }
    Data data{declared.name, placedBytes(declared), declared.alignment, {}};
    data.initial.resize(declared.bytes());
    if (takeIf("="))
      parseInitial(data.initial, bytesOf(declared.type));
    // A value that no program may rely on.
    data.initial.resize(data.bytes, 0xCD);
    expect(";");
    globals[data.name] = {Space::Global, module.data.size(), 0, 1, false};
    module.data.push_back(std::move(data));
  }

  void parseInitial(std::vector<uint8_t> &bytes, unsigned width) {
    size_t at = 0;
    auto one = [&] {
      Argument number = parseArgument();
      if (number.kind != Argument::Number)
        return fail("initial value '" + number.name +
                    "' is no number; addresses in data are not known");
      if (at + width > bytes.size())
        return fail("more initial values than the variable has room for");
      for (unsigned i = 0; i < width; ++i)
        bytes[at++] = uint8_t(number.bits >> 8 * i);
    };
    if (!takeIf("{"))
      return one();
    while (error.empty() && !takeIf("}")) {
      one();
      takeIf(",");
    }
  }

  /// Skips a function; calls of it are refused.
  void skipFunction() {
    while (error.empty() && look().kind != Token::End && look().text != ";" &&
           look().text != "{")
      take();
    unsigned depth = 0;
    do {
      depth += look().text == "{";
      depth -= look().text == "}";
      take();
    } while (error.empty() && depth && look().kind != Token::End);
  }

  void parseEntry() {
    Kernel &kernel = module.kernels.emplace_back();
    kernel.name = take().text;
    BodyParser body(*this, kernel, globals);
    if (takeIf("("))
      while (error.empty() && !takeIf(")")) {
        expect(".param");
        body.addParameter(parseDeclaration());
        takeIf(",");
      }
    parseLimits(kernel);
    body.run();
    if (error.empty())
      error = body.failure();
  }

  void parseLimits(Kernel &kernel) {
    while (error.empty() && look().text != "{") {
      std::string word(take().text);
      bool isMax = word == ".maxntid", isRequired = word == ".reqntid";
      if (!isMax && !isRequired && word != ".minnctapersm" &&
          word != ".maxnreg" && word != ".noreturn")
        return fail("'" + word + "' of kernel '" + kernel.name +
                    "' is not known");
      for (unsigned i = 0; look().kind == Token::Number; ++i) {
        unsigned number = unsigned(parseNumber().bits);
        if ((isMax || isRequired) && i < 3)
          (isMax ? kernel.maxThreads : kernel.requiredThreads)[i] = number;
        takeIf(",");
      }
      for (uint32_t *limit : {kernel.maxThreads, kernel.requiredThreads})
        for (unsigned i = 1; i < 3; ++i)
          if (limit[0] && !limit[i])
            limit[i] = 1;
    }
  }

  Module &module;
  std::map<std::string, Variable> globals;
};
} // namespace

std::string parseModule(const std::string &text, Module &module) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    module.lines.push_back(line);
  std::vector<Token> tokens;
  if (std::string error = tokenize(text, tokens); !error.empty())
    return error;
  return ModuleParser(tokens, module).run();
}

} // namespace weft::ptx
