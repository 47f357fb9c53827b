//===- Compiler.cpp - a compiler and its messages -------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/capi/Handles.h"
#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/frontends/stablehlo/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/Passes.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace mlir;
using namespace weft;

/// Registers the passes, which are global to the process, by name.
static void registerPassesOnce() {
  static std::once_flag registered;
  std::call_once(registered, [] {
    registerTransformsPasses();
    registerAllPasses();
  });
}

weft_compiler::weft_compiler()
    : session(
          [this](Diagnostic &diagnostic) {
            report(diagnostic);
            for (const Diagnostic &note : diagnostic.getNotes())
              report(note);
          },
          {registerUpstreamDialects, registerAll,
           stablehlo::registerDialects}) {
  registerPassesOnce();
}

static weft_severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return WEFT_SEVERITY_NOTE;
  case DiagnosticSeverity::Remark:
    return WEFT_SEVERITY_REMARK;
  case DiagnosticSeverity::Warning:
    return WEFT_SEVERITY_WARNING;
  case DiagnosticSeverity::Error:
    break;
  }
  return WEFT_SEVERITY_ERROR;
}

void weft_compiler::report(const Diagnostic &diagnostic) {
  std::string place;
  unsigned line = 0, column = 0;
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    place = file.getFilename().str();
    line = file.getLine();
    column = file.getColumn();
  } else if (auto op = dyn_cast<NameLoc>(diagnostic.getLocation())) {
    place = op.getName().str();
  }
  report(severityOf(diagnostic.getSeverity()), diagnostic.str(), place, line,
         column);
}

void weft_compiler::report(weft_severity severity, const std::string &text,
                           const std::string &place, unsigned line,
                           unsigned column) {
  static constexpr const char *kWords[] = {"note", "remark", "warning",
                                           "error"};
  message += place;
  if (line)
    message += ":" + std::to_string(line) + ":" + std::to_string(column);
  message += std::string(place.empty() ? "" : ": ") + kWords[severity] + ": " +
             text + "\n";
  if (!call)
    return;
  weft_diagnostic diagnostic = {severity, text.c_str(), place.c_str(), line,
                                column};
  call(user, &diagnostic);
}

int weft_compiler::refuse(const std::string &text, const std::string &place) {
  report(WEFT_SEVERITY_ERROR, text, place, 0, 0);
  return 1;
}

int weft::capi::give(weft_compiler *compiler, llvm::StringRef bytes,
                     weft_text *out) {
  char *data = static_cast<char *>(std::malloc(bytes.size() + 1));
  if (!data)
    return compiler->refuse("no memory for " + std::to_string(bytes.size()) +
                            " bytes; free modules and texts");
  std::memcpy(data, bytes.data(), bytes.size());
  data[bytes.size()] = '\0';
  *out = {data, bytes.size()};
  return 0;
}

weft_compiler *weft_compiler_create(void) { return new weft_compiler(); }

void weft_compiler_free(weft_compiler *compiler) { delete compiler; }

const char *weft_compiler_message(const weft_compiler *compiler) {
  return compiler ? compiler->message.c_str() : "";
}

void weft_compiler_on_diagnostic(weft_compiler *compiler,
                                 weft_diagnostic_fn call, void *user) {
  compiler->call = call;
  compiler->user = user;
}

const char *weft_stage_name(size_t stage) {
  // Names are literals of Stages.def, so they end with a zero byte.
  return stage < stages().size() ? stages()[stage].name.data() : nullptr;
}

const char *weft_known_targets(void) {
  static const std::string targets = knownTargets();
  return targets.c_str();
}

void weft_text_free(weft_text *text) {
  if (!text)
    return;
  std::free(text->data);
  *text = {nullptr, 0};
}
