//===- Budget.cpp - limits on a program's costs ---------------------------===//

#include "weft/compiler/explain/Budget.h"

#include "weft/compiler/explain/DeviceClasses.h"

#include "weft/base/Saturating.h"
#include "weft/base/Text.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"
#include "weft/passes/planning/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The names of collectives, sorted.
static const std::vector<StringRef> &kinds() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> all = coll::collectiveNames();
    all.push_back(host::kCallName);
    llvm::sort(all);
    return all;
  }();
  return names;
}

static bool isKind(StringRef text) { return llvm::is_contained(kinds(), text); }

static constexpr StringRef kGap = "gap";

static bool isSubject(StringRef text) {
  if (text == "bytes" || text == "memory" || text == "collectives" ||
      text == kGap)
    return true;
  text.consume_back(".bytes");
  return isKind(text);
}

static std::string knownSubjects() {
  return "bytes, memory, collectives, " + llvm::join(kinds(), ", ") +
         ", these with .bytes, and gap";
}

std::optional<double> weft::parseQuantity(StringRef text) {
  StringRef digits = text.rtrim("kKMGiB");
  StringRef unit = text.drop_front(digits.size());
  double scale = llvm::StringSwitch<double>(unit)
                     .Cases({"", "B"}, 1)
                     .Case("kB", 1e3)
                     .Case("KB", 1e3)
                     .Case("MB", 1e6)
                     .Case("GB", 1e9)
                     .Case("KiB", 1 << 10)
                     .Case("MiB", 1 << 20)
                     .Case("GiB", 1 << 30)
                     .Default(0);
  std::string plain;
  llvm::copy_if(digits, std::back_inserter(plain),
                [](char c) { return c != '_'; });
  double value = 0;
  if (scale == 0 || StringRef(plain).getAsDouble(value) || !(value >= 0) ||
      !std::isfinite(value * scale))
    return std::nullopt;
  return value * scale;
}

/// A part such as 0.01 in kGapParts.
static std::optional<double> parseGap(StringRef text) {
  double part = 0;
  if (text.getAsDouble(part) || !(part >= 0) || !std::isfinite(part))
    return std::nullopt;
  // 0.0003 is three parts, though 10,000 times the double is less.
  constexpr double kExact = 1e4;
  return std::round(part * double(kGapParts) * kExact) / kExact;
}

int64_t weft::wholeQuantity(double quantity) {
  return quantity < 0x1p63 ? static_cast<int64_t>(quantity) : INT64_MAX;
}

static std::optional<Limit> parseLimit(StringRef text, std::string &error) {
  Limit limit;
  limit.text = text.str();
  size_t at = text.find_first_of("<=>");
  StringRef subject = text.take_front(at).rtrim();
  StringRef rest = at == StringRef::npos ? StringRef() : text.drop_front(at);
  if (rest.consume_front("<="))
    limit.relation = Limit::Relation::AtMost;
  else if (rest.consume_front("<"))
    limit.relation = Limit::Relation::Below;
  else if (rest.consume_front("==") || rest.consume_front("="))
    limit.relation = Limit::Relation::Exactly;
  else
    return error = "'" + text.str() +
                   "' is no limit; write it as all_reduce<=2 "
                   "or bytes<=4e6",
           std::nullopt;
  if (!isSubject(subject))
    return error = "'" + subject.str() +
                   "' is nothing that can be limited; use " + knownSubjects(),
           std::nullopt;
  bool isGap = subject == kGap;
  auto value = isGap ? parseGap(rest.trim()) : parseQuantity(rest.trim());
  if (!value && isGap)
    return error = "'" + rest.trim().str() + "' of '" + text.str() +
                   "' is no part of a price; write it as 0.01",
           std::nullopt;
  if (!value)
    return error = "'" + rest.trim().str() + "' of '" + text.str() +
                   "' is no number; write it as 14336, 4e6 or 64MiB",
           std::nullopt;
  limit.subject = subject.str();
  limit.value = *value;
  return limit;
}

std::optional<std::vector<Limit>> weft::parseBudget(StringRef text,
                                                    std::string &error) {
  std::vector<Limit> limits;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto limit = parseLimit(part.trim(), error);
    if (!limit)
      return std::nullopt;
    limits.push_back(std::move(*limit));
  }
  return limits;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

bool Limit::holds(int64_t cost) const {
  switch (relation) {
  case Relation::Exactly:
    return cost == value;
  case Relation::AtMost:
    return cost <= value;
  case Relation::Below:
    return cost < value;
  }
  llvm_unreachable("unknown relation");
}

/// Whether the limit is on something that no collective adds to.
static bool isSpentByNone(StringRef subject) {
  return subject == "memory" || subject == kGap;
}

/// Whether the limit counts occurrences, not bytes.
static bool countsCollectives(StringRef subject) {
  return subject == "collectives" || isKind(subject);
}

std::vector<const CollectiveCost *>
weft::spenders(const Limit &limit, const Explanation &explanation) {
  StringRef kind = limit.subject;
  kind.consume_back(".bytes");
  bool ofKind = isKind(kind);
  std::vector<const CollectiveCost *> found;
  if (!isSpentByNone(kind))
    for (const CollectiveCost &cost : explanation.collectives)
      if (!ofKind || cost.kind == kind)
        found.push_back(&cost);
  llvm::stable_sort(found,
                    [](const CollectiveCost *a, const CollectiveCost *b) {
                      return a->totalBytes() > b->totalBytes();
                    });
  return found;
}

int64_t weft::costOf(const Limit &limit, const Explanation &explanation) {
  if (limit.subject == "memory")
    return explanation.memory.total();
  if (limit.subject == kGap)
    return explanation.gap();
  std::vector<AmountAt> amounts;
  for (const CollectiveCost *cost : spenders(limit, explanation))
    amounts.push_back({cost->part, countsCollectives(limit.subject)
                                       ? cost->count
                                       : cost->totalBytes()});
  return mostOnOneDevice(amounts);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string weft::costText(const Limit &limit, int64_t cost) {
  if (limit.subject != kGap)
    return grouped(cost);
  return llvm::formatv("{0:f4}", double(cost) / double(kGapParts)).str();
}

/// What is known of the price of the layouts.
static std::string gapText(const Explanation &explanation, int64_t gap) {
  if (!explanation.layouts && gap == 0)
    return "no layouts conflict, so that none was chosen by its price; write "
           "gap<=0, or leave the budget out";
  if (!explanation.layouts)
    return "the step has too many devices or layouts to be priced at once; "
           "annotate more tensors";
  return "it sends " + grouped(explanation.totalBytes()) +
         " bytes, and other layouts of what nobody annotated at least " +
         grouped(explanation.leastBytes()) +
         "; annotate the tensors of a conflict, or allow a larger gap";
}

/// The text of a collective: "all_reduce over "model", 480 bytes, at
/// prog.mlir:12: output of d2 is ...".
static std::string describe(const CollectiveCost &cost) {
  std::string text = cost.kind;
  if (!cost.axes.empty())
    text += " over \"" + llvm::join(cost.axes, "\", \"") + "\"";
  text += ", " + grouped(cost.bytes) + " bytes";
  if (cost.count != 1)
    text += ", " + grouped(cost.count) + " times";
  if (!cost.lines.empty())
    text += ", at " + llvm::join(cost.lines, ", ");
  if (!cost.reason.empty())
    text += ": " + cost.reason;
  return text;
}

static std::string memoryText(const MemoryUse &memory) {
  return "weights " + grouped(memory.weights) + ", optimizer " +
         grouped(memory.optimizer) + ", activations " +
         grouped(memory.activations) + ", temporaries " +
         grouped(memory.temporaries) + ", " + memory.batchName().str() + " " +
         grouped(memory.batch);
}

/// The best change that was tried: the limit holds under it, or else
/// comes closer; empty if there is none.
static std::string fixFor(const Limit &limit, const Explanation &explanation) {
  auto distance = [&](const Explanation &step) {
    double more = static_cast<double>(costOf(limit, step)) - limit.value;
    return limit.relation == Limit::Relation::Exactly ? std::abs(more)
                                                      : std::max(more, 0.0);
  };
  auto helps = [&](const Explanation &step) {
    return limit.holds(costOf(limit, step)) ||
           distance(step) < distance(explanation);
  };
  const Trial *best = nullptr;
  auto isCloser = [&](const Trial &a, const Trial &b) {
    bool holdsA = limit.holds(costOf(limit, *a.under));
    bool holdsB = limit.holds(costOf(limit, *b.under));
    return holdsA != holdsB ? holdsA : isBetter(a.fix, b.fix);
  };
  for (const Trial &trial : explanation.trials)
    if (helps(*trial.under) && (!best || isCloser(trial, *best)))
      best = &trial;
  if (!best)
    return "";
  int64_t then = costOf(limit, *best->under);
  std::string text = limit.holds(then) ? "; fix: " : "; a change that helps: ";
  text += best->fix.change + ": " + best->fix.effect;
  if (limit.subject != "bytes")
    text += ", with " + grouped(then) + " (" + limit.subject + ")";
  return text;
}

/// The end of a message: the parts of the memory, or the largest collectives and
/// the best change, separated by "; ".
static std::string advice(const Limit &limit, const Explanation &explanation) {
  if (limit.subject == "memory")
    return memoryText(explanation.memory) +
           "; shard the largest tensors over more axes, or make the batch "
           "smaller";
  if (limit.subject == kGap)
    return gapText(explanation, costOf(limit, explanation));
  std::string text;
  std::vector<const CollectiveCost *> found = spenders(limit, explanation);
  constexpr size_t most = 3;
  for (const CollectiveCost *cost : llvm::ArrayRef(found).take_front(most))
    text += (text.empty() ? "" : "; ") + describe(*cost);
  if (found.size() > most)
    text += "; and " + std::to_string(found.size() - most) +
            " more (weft explain lists them)";
  return text.empty() ? "nothing is sent; write the actual number"
                      : text + fixFor(limit, explanation);
}

/// The location of the error: the line of the first collective that the limit
/// counts, else of the program, as of its memory.
static Location placeOf(plan::ProgramOp program, const Limit &limit) {
  if (isSpentByNone(limit.subject))
    return program.getLoc();
  StringRef kind = limit.subject;
  kind.consume_back(".bytes");
  for (auto op : program.getOps<plan::StartOp>())
    if (kind == op.getName() || !isKind(kind)) {
      auto line = op.getLoc()->findInstanceOf<FileLineColLoc>();
      return line ? line : op.getLoc();
    }
  return program.getLoc();
}

static LogicalResult checkProgram(plan::ProgramOp program,
                                  ArrayRef<Limit> limits,
                                  const FixSearch &findFixes) {
  Explanation explanation = explainProgram(program);
  auto isBroken = [&](const Limit &limit) {
    return !limit.holds(costOf(limit, explanation));
  };
  if (llvm::none_of(limits, isBroken))
    return success();
  bool isSpent = llvm::any_of(limits, [&](const Limit &limit) {
    return isBroken(limit) && !spenders(limit, explanation).empty();
  });
  if (findFixes && isSpent)
    findFixes(explanation);
  for (const Limit &limit : limits)
    if (isBroken(limit))
      emitError(placeOf(program, limit))
          << "the budget \"" << limit.text << "\" is broken: a "
          << explanation.step << " step has "
          << costText(limit, costOf(limit, explanation)) << " ("
          << limit.subject << "); " << advice(limit, explanation);
  return failure();
}

std::vector<LimitStatus> weft::limitsOf(ModuleOp module,
                                        ArrayRef<std::string> more,
                                        const Explanation &explanation) {
  std::vector<LimitStatus> found;
  auto add = [&](const std::string &text, StringRef source) {
    std::string error;
    auto parsed = parseBudget(text, error);
    for (Limit &limit : parsed ? *parsed : std::vector<Limit>())
      found.push_back({limit, source.str(), costOf(limit, explanation)});
  };
  if (auto own = module->getAttrOfType<StringAttr>(kExpectAttr))
    add(own.str(), kExpectAttr);
  if (auto memory = module->getAttrOfType<IntegerAttr>(kMemoryAttr))
    add("memory<=" + std::to_string(memory.getInt()), kMemoryAttr);
  for (const std::string &text : more)
    add(text, "--expect");
  return found;
}

LogicalResult weft::checkBudget(ModuleOp module, ArrayRef<std::string> more,
                                const FixSearch &findFixes) {
  std::vector<std::string> texts(more);
  if (Attribute attribute = module->getDiscardableAttr(kExpectAttr)) {
    auto text = dyn_cast<StringAttr>(attribute);
    if (!text)
      return module.emitError() << kExpectAttr << " is " << attribute
                                << "; write it as \"all_reduce<=2\"";
    texts.push_back(text.str());
  }
  std::vector<Limit> limits;
  if (auto memory = dyn_cast_or_null<IntegerAttr>(
          module->getDiscardableAttr(kMemoryAttr)))
    texts.push_back("memory<=" + std::to_string(memory.getInt()));
  for (const std::string &text : texts) {
    std::string error;
    auto parsed = parseBudget(text, error);
    if (!parsed)
      return module.emitError() << "the budget \"" << text << "\": " << error;
    llvm::append_range(limits, *parsed);
  }
  if (limits.empty())
    return success();
  LogicalResult result = success();
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(checkProgram(program, limits, findFixes)))
      result = failure();
  return result;
}

namespace {
struct CheckBudgetPass : PassWrapper<CheckBudgetPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckBudgetPass)
  StringRef getArgument() const override { return "weft-check-budget"; }
  StringRef getDescription() const override {
    return "Hold programs to the module's weft.expect";
  }
  void runOnOperation() override {
    if (failed(checkBudget(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> weft::createCheckBudgetPass() {
  return std::make_unique<CheckBudgetPass>();
}

void weft::registerCheckBudgetPass() { registerPass(createCheckBudgetPass); }
