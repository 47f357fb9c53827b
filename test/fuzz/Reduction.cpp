//===- Reduction.cpp - a failing program made small -----------------------===//

#include "weft/test/fuzz/Reduction.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/fuzz/ProgramCheck.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Cleaning up after a removal
//===----------------------------------------------------------------------===//

static void eraseDeadOps(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.erase();
        changed = true;
      }
  }
}

/// Removes donations to results that were removed or replaced.
static void dropDonations(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, kDonatedAttr);
}

/// Erases unused arguments; false if one cannot be erased.
static bool eraseUnusedArguments(func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  return unused.none() || succeeded(function.eraseArguments(unused));
}

static bool cleanUp(ModuleOp module) {
  eraseDeadOps(module);
  return eraseUnusedArguments(mainOf(module));
}

unsigned countOps(ModuleOp module) {
  unsigned n = 0;
  module.walk([&](Operation *op) {
    n += !isa<ModuleOp, func::FuncOp, func::ReturnOp>(op);
  });
  return n;
}

//===----------------------------------------------------------------------===//
// Ways to make a module smaller
//===----------------------------------------------------------------------===//

/// Keeps only the results of @main that are not in `dropped`.
static bool keepResults(ModuleOp module, const llvm::BitVector &dropped) {
  func::FuncOp function = mainOf(module);
  if (dropped.size() != function.getNumResults() || dropped.all())
    return false;
  dropDonations(function);
  if (failed(function.eraseResults(dropped)))
    return false;
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  return cleanUp(module);
}

static void resultShrinks(ModuleOp module, std::vector<Shrink> &all) {
  unsigned n = mainOf(module).getNumResults();
  for (unsigned i = 0; i < n && n > 1; ++i) {
    llvm::BitVector others(n, true), one(n);
    others.reset(i);
    one.set(i);
    all.push_back([=](ModuleOp m) { return keepResults(m, others); });
    all.push_back([=](ModuleOp m) { return keepResults(m, one); });
  }
}

/// Returns the op of that number, in the order of the text.
static Operation *opAt(ModuleOp module, unsigned number) {
  Operation *found = nullptr;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp, func::ReturnOp>(op) && number-- == 0)
      found = op;
  });
  return found;
}

static Value constantLike(OpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (!element.isInteger()) // also complex numbers
    return ConstantOp::create(builder, value.getLoc(), splatData(1, type));
  Attribute one = builder.getIntegerAttr(element, 1);
  return ConstantOp::create(builder, value.getLoc(),
                            DenseElementsAttr::get(type, one));
}

/// Replaces each result of an op: `by` is 0 for a new argument, 1 for a
/// constant, n + 2 for operand n.
static bool replaceOp(ModuleOp module, unsigned number, unsigned by) {
  Operation *op = opAt(module, number);
  auto function = op ? op->getParentOfType<func::FuncOp>() : func::FuncOp();
  if (!op || isa<ConstantOp>(op) || (by == 0 && function.isPrivate()))
    return false;
  OpBuilder builder(op);
  for (Value result : op->getResults()) {
    Value instead;
    if (result.use_empty())
      continue;
    if (by == 0) {
      unsigned n = function.getNumArguments();
      if (failed(
              function.insertArgument(n, result.getType(), {}, op->getLoc())))
        return false;
      instead = function.getArgument(n);
    } else if (by == 1) {
      instead = constantLike(builder, result);
    } else if (by - 2 < op->getNumOperands() &&
               op->getOperand(by - 2).getType() == result.getType()) {
      instead = op->getOperand(by - 2);
    } else {
      return false;
    }
    result.replaceAllUsesWith(instead);
  }
  op->erase();
  dropDonations(mainOf(module));
  return cleanUp(module);
}

/// Makes @main return the results of one op, and nothing else.
static bool returnOp(ModuleOp module, unsigned number) {
  Operation *op = opAt(module, number);
  func::FuncOp function = mainOf(module);
  if (!op || op->getParentOp() != function || isa<ConstantOp>(op))
    return false;
  unsigned before = countOps(module);
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(op->getResults());
  dropDonations(function);
  function.removeResAttrsAttr();
  function.setFunctionType(FunctionType::get(
      module.getContext(), function.getArgumentTypes(), op->getResultTypes()));
  return cleanUp(module) && countOps(module) < before;
}

/// Inlines calls, and replaces gradients by the ops that compute them.
static bool inlineFunctions(ModuleOp module) {
  bool found = false;
  module.walk(
      [&](Operation *op) { found |= isa<ValueAndGradOp, func::CallOp>(op); });
  PassManager pm(module.getContext());
  pm.addPass(createDifferentiatePass());
  return found && succeeded(pm.run(module));
}

static void opShrinks(ModuleOp module, std::vector<Shrink> &all) {
  for (unsigned i = countOps(module); i-- > 0;) {
    all.push_back([=](ModuleOp m) { return returnOp(m, i); });
    for (unsigned by : {0u, 2u, 3u, 4u, 1u})
      all.push_back([=](ModuleOp m) { return replaceOp(m, i, by); });
  }
}

/// Adds ways that drop one attribute of an argument or result.
static void annotationShrinks(ModuleOp module, std::vector<Shrink> &all) {
  func::FuncOp function = mainOf(module);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (NamedAttribute attribute :
         mlir::function_interface_impl::getArgAttrs(function, i))
      all.push_back([=, name = attribute.getName()](ModuleOp m) {
        return bool(mainOf(m).removeArgAttr(i, name));
      });
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    for (NamedAttribute attribute :
         mlir::function_interface_impl::getResultAttrs(function, i))
      if (attribute.getName() == kLayoutAttr)
        all.push_back([=](ModuleOp m) {
          return bool(mainOf(m).removeResultAttr(
              i, StringAttr::get(m.getContext(), kLayoutAttr)));
        });
  all.push_back([](ModuleOp m) {
    auto checks = m->getAttrOfType<StringAttr>(kChecksAttr);
    StringRef text = checks ? checks.getValue() : "";
    size_t at = text.find(" detours=");
    if (at == StringRef::npos)
      return false;
    std::string without = text.substr(0, at).str();
    without += text.contains("reals") ? " reals" : "";
    without += text.contains("compiled") ? " compiled" : "";
    without += text.contains("gpu") ? " gpu" : "";
    m->setAttr(kChecksAttr, StringAttr::get(m.getContext(), without));
    return true;
  });
}

/// Writes every layout for a mesh whose axis has another size; digits of the
/// axis that do not fit are dropped.
static bool resizeAxis(ModuleOp module, unsigned axis, int64_t size) {
  auto old = module->getAttrOfType<MeshAttr>(kMeshAttr);
  Mesh mesh = old.getMesh();
  mesh.devices.clear();
  if (axis >= mesh.axes.size() || mesh.axes[axis].size <= size)
    return false;
  if (size > 1)
    mesh.axes[axis].size = size;
  else if (mesh.axes.size() > 1)
    mesh.axes.erase(mesh.axes.begin() + axis);
  else
    return false;
  MeshAttr smaller = MeshAttr::get(module.getContext(), mesh);
  auto fit = [&](SubAxes &digits) {
    llvm::erase_if(digits, [&](SubAxis &digit) {
      bool whole = digit.axis == axis && digit.skip == 1 &&
                   digit.size == old.getMesh().axes[axis].size;
      // The full axis, or a sub-axis of the new size, becomes the new axis.
      if (digit.axis == axis && (size == 1 || (!whole && digit.size != size)))
        return true;
      if (digit.axis == axis)
        digit = {axis, 1, size};
      digit.axis -= digit.axis > axis && size == 1;
      return false;
    });
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LayoutAttr attribute) -> Attribute {
    Layout layout = attribute.getLayout();
    for (SubAxes &dim : layout.dims)
      fit(dim);
    fit(layout.partial);
    if (layout.partial.empty())
      layout.reduce = ReduceKind::Sum;
    for (AxisCoordinate &at : layout.part)
      if (at.axis == axis)
        at.coordinate = std::min(at.coordinate, size - 1);
    std::erase_if(layout.part, [&](const AxisCoordinate &at) {
      return at.axis == axis && size == 1;
    });
    for (AxisCoordinate &at : layout.part)
      at.axis -= at.axis > axis && size == 1;
    return LayoutAttr::get(smaller, layout);
  });
  replacer.addReplacement([&](MeshAttr) -> Attribute { return smaller; });
  replacer.recursivelyReplaceElementsIn(module, true, true, true);
  return true;
}

static void meshShrinks(ModuleOp module, std::vector<Shrink> &all) {
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh)
    return;
  for (auto [axis, size] : llvm::enumerate(mesh.getSizes()))
    for (int64_t smaller = 1; smaller < size; ++smaller)
      all.push_back([=, axis = static_cast<unsigned>(axis)](ModuleOp m) {
        return resizeAxis(m, axis, smaller);
      });
  if (!mesh.getDevices().empty() || !mesh.getLatency().empty())
    all.push_back([](ModuleOp m) {
      auto old = m->getAttrOfType<MeshAttr>(kMeshAttr);
      Mesh plain = old.getMesh();
      plain.devices.clear();
      for (MeshAxis &axis : plain.axes)
        axis = {axis.name, axis.size};
      MeshAttr simple = MeshAttr::get(m.getContext(), plain);
      AttrTypeReplacer replacer;
      replacer.addReplacement([&](MeshAttr) -> Attribute { return simple; });
      replacer.recursivelyReplaceElementsIn(m, true, true, true);
      return simple != old;
    });
}

std::vector<Shrink> shrinksOf(ModuleOp module) {
  std::vector<Shrink> all;
  resultShrinks(module, all);
  opShrinks(module, all);
  meshShrinks(module, all);
  annotationShrinks(module, all);
  all.push_back(inlineFunctions);
  return all;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(MLIRContext &context [[clang::lifetimebound]],
         const StillFails &stillFails [[clang::lifetimebound]], unsigned tries)
      : context(context), stillFails(stillFails), tries(tries) {}
  std::string run(std::string text);

private:
  /// Tries the ways from the given number on, and takes the first that helps;
  /// false if none does.
  bool shrink(std::string &text, size_t &from);
  bool shrinkNumbers(std::string &text);
  bool helps(const std::string &candidate, const std::string &text) {
    if (candidate == text || tries == 0)
      return false;
    --tries;
    return stillFails(candidate);
  }

  MLIRContext &context;
  const StillFails &stillFails;
  unsigned tries;
};
} // namespace

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text + "\n";
}

bool Search::shrink(std::string &text, size_t &from) {
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return false;
  std::vector<Shrink> ways = shrinksOf(*module);
  for (size_t i = 0; i < ways.size() && tries; ++i) {
    size_t way = (from + i) % ways.size();
    OwningOpRef<ModuleOp> smaller(module->clone());
    if (!ways[way](*smaller) || failed(verify(*smaller)))
      continue;
    std::string candidate = printed(*smaller);
    if (!helps(candidate, text))
      continue;
    text = candidate;
    from = way;
    return true;
  }
  return false;
}

bool Search::shrinkNumbers(std::string &text) {
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  for (const std::string &candidate : smallerNumbers(text)) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(candidate, &context);
    if (module && helps(candidate, text)) {
      text = candidate;
      return true;
    }
  }
  return false;
}

std::string Search::run(std::string text) {
  size_t from = 0;
  while (tries && (shrink(text, from) || shrinkNumbers(text))) {
  }
  return text;
}

std::string reduceProgram(MLIRContext &context, std::string text,
                          const StillFails &stillFails, unsigned tries) {
  return Search(context, stillFails, tries).run(std::move(text));
}

} // namespace weft
