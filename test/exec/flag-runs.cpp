// Command lines of weft, many in one process: a run costs no start of the
// program, and a judgement of flags no run.
//
//   flag-runs < lines > answers
//
// A line is a JSON object, and so is its answer:
//
//   {"words": ["fit", "m.json"]}                 judged, not run
//   {"words": ["fit", "m.json"], "out": "f"}     run; output in f.out and f.err
//   {"status": 2, "message": "--seed: ..."}      the message is of judgements
//
// A run happens in a child process, which has the compiler loaded. Status 2 is
// that of wrong command lines, 0 of a judgement that accepts the flags.

#include "weft/tools/weft/CommandLine.h"

#include <fcntl.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::tool;

/// Parses the words; true where the command line accepts them.
static bool parse(CommandLine &line, std::vector<std::string> words) {
  words.insert(words.begin(), "weft");
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  try {
    line.parse(int(pointers.size()), pointers.data());
    return true;
  } catch (const CLI::ParseError &error) {
    line.status = line.app.exit(error, std::cerr, std::cerr) == 0 ? 0 : 2;
    return false;
  }
}

static nlohmann::json judged(const std::vector<std::string> &words) {
  auto line = std::make_unique<CommandLine>();
  for (CLI::App *command : line->app.get_subcommands({}))
    command->callback([command] { checkFlagRules(*command); });
  std::ostringstream said;
  std::streambuf *errors = std::cerr.rdbuf(said.rdbuf());
  parse(*line, words);
  std::cerr.rdbuf(errors);
  return {{"status", line->status}, {"message", said.str()}};
}

/// Makes a new file the standard output or standard error.
static void redirect(int to, const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, to) < 0)
    _exit(99);
}

static nlohmann::json ran(const std::vector<std::string> &words,
                          const std::string &out) {
  pid_t child = fork();
  if (child == 0) {
    redirect(STDOUT_FILENO, out + ".out");
    redirect(STDERR_FILENO, out + ".err");
    auto line = std::make_unique<CommandLine>();
    parse(*line, words);
    int status = flushed(line->status);
    std::cerr.flush();
    _exit(status);
  }
  int state = 0;
  if (child < 0 || waitpid(child, &state, 0) != child)
    return {{"status", 99}};
  return {{"status", WIFEXITED(state) ? WEXITSTATUS(state) : 98}};
}

int main() {
  if (!loadCompiler() || !loadStepCommands())
    return 1;
  for (std::string text; std::getline(std::cin, text);) {
    auto line = nlohmann::json::parse(text);
    std::vector<std::string> words = line.at("words");
    std::cout << (line.contains("out") ? ran(words, line["out"])
                                       : judged(words))
              << std::endl;
  }
  return 0;
}
