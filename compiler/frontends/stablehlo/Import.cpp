//===- Import.cpp - a StableHLO program as a weft module ------------------===//

#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/base/config/PortFactsJson.h"
#include "weft/compiler/frontends/stablehlo/convert/CallLimits.h"
#include "weft/compiler/frontends/stablehlo/convert/ConvertHostCalls.h"
#include "weft/compiler/frontends/stablehlo/convert/ManualCalls.h"
#include "weft/compiler/frontends/stablehlo/convert/PlainForms.h"
#include "weft/compiler/frontends/stablehlo/convert/ShardingStrings.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/VerifySizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

class ProgramImporter {
public:
  explicit ProgramImporter(ModuleOp program)
      : program(program), builder(program.getContext()) {}
  OwningOpRef<ModuleOp> run(const ImportOptions &options);

private:
  LogicalResult findFunctions(const std::string &wanted);
  LogicalResult chooseDevices(int64_t devices);
  LogicalResult convertMain(bool isOneDevice);
  bool callsHost();
  LogicalResult checkTypes(TypeRange types, StringRef what);
  FailureOr<PortFacts> arrangement(DictionaryAttr foreign, int64_t rank,
                                   ArrayRef<int64_t> devices);
  FailureOr<DictionaryAttr> port(DictionaryAttr foreign, Type type,
                                 const std::string &name, StringRef role,
                                 std::optional<Location> argument);
  LogicalResult addPorts(func::FuncOp function);
  LogicalResult checkNames(func::FuncOp function);
  void donate(func::FuncOp function);
  std::optional<int64_t> donatedTo(DictionaryAttr attributes, Type type,
                                   func::FuncOp function,
                                   llvm::BitVector &taken);

  ModuleOp program;
  OpBuilder builder;
  Shardings shardings;
  bool devicePorts = false;
  llvm::StringMap<Function> functions;
  std::string entry; ///< name of the imported function
  /// The results of arrangement() for arguments and for results.
  std::vector<PortFacts> taken, given;
  OwningOpRef<ModuleOp> module;
};

LogicalResult ProgramImporter::findFunctions(const std::string &wanted) {
  for (Operation &op : *program.getBody()) {
    if (ForeignOp(&op).name() != "func.func")
      continue;
    auto name = op.getAttrOfType<StringAttr>("sym_name");
    if (!name || op.getNumRegions() != 1 || !op.getRegion(0).hasOneBlock() ||
        op.getRegion(0).front().empty())
      return emitError(op.getLoc())
             << "a function without a name or with other than one block";
    Function function{&op, &op.getRegion(0).front(),
                      op.getAttrOfType<ArrayAttr>("arg_attrs"),
                      op.getAttrOfType<ArrayAttr>("res_attrs")};
    if (function.arguments && !function.arguments.empty() &&
        function.arguments.size() != function.body->getNumArguments())
      return emitError(op.getLoc())
             << "a function has " << function.body->getNumArguments()
             << " arguments and attributes of " << function.arguments.size();
    functions[name.getValue()] = function;
  }
  entry = wanted;
  if (!functions.contains(entry))
    return program.emitError("the program has no function @") << entry;
  return success();
}

/// Whether the program calls the host. Such calls have layouts and need a mesh.
bool ProgramImporter::callsHost() {
  auto found = program.walk([](Operation *op) {
    return ForeignOp(op).word("call_target_name") == kHostCall ||
                   llvm::is_contained({"send", "recv"}, ForeignOp(op).name())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

LogicalResult ProgramImporter::chooseDevices(int64_t devices) {
  if (failed(shardings.collect(program)))
    return failure();
  int64_t needed = shardings.devices();
  if (needed == 1 && devices <= 1 && callsHost())
    shardings.assume(program.getContext(), 1);
  if (devices == 0 || devices == needed)
    return success();
  if (needed == 1) {
    shardings.assume(program.getContext(), devices);
    return success();
  }
  if (devices != 1)
    return program.emitError("the program's mesh has ")
           << needed << " devices, there are " << devices << "; give it "
           << needed << ", or 1, where its shardings say nothing";
  shardings.ignore();
  return success();
}

LogicalResult ProgramImporter::checkTypes(TypeRange types, StringRef what) {
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return emitError(functions[entry].op->getLoc())
             << what << " " << i << " has type " << type
             << "; only tensors of known shape are supported"
             << (tensor ? "; for a symbolic batch of jax.export, give sizes "
                          "with python -m weft.trace FILE --batch-size N"
                        : "");
    if (!isSupported(tensor.getElementType()))
      return emitError(functions[entry].op->getLoc())
             << what << " " << i << " has elements of type "
             << tensor.getElementType()
             << ", which is not supported; known are i1, integers of 2, 4 and "
                "8 to "
                "64 bits, floats of 4, 8 and 16 bits, f32, f64 and complex "
                "numbers of the last two"
             << wayOutOf(tensor.getElementType());
  }
  return success();
}

/// The dimensions of XLA's layout "{0,1}" from minor to major. They are empty
/// for "default", and for "auto", which lets the compiler choose. Nothing for
/// another text.
static std::optional<SmallVector<int64_t>> readLayoutMode(StringRef text,
                                                          int64_t rank) {
  SmallVector<int64_t> dims;
  if (text == "default" || text == "auto")
    return dims;
  if (!text.consume_front("{") || !text.consume_back("}"))
    return std::nullopt;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim = 0;
    if ((i > 0 && !text.consume_front(",")) || text.consumeInteger(10, dim) ||
        dim < 0 || dim >= rank || llvm::is_contained(dims, dim))
      return std::nullopt;
    dims.push_back(dim);
  }
  return text.empty() ? std::optional(dims) : std::nullopt;
}

/// The way in which the caller's memory of an argument or result differs from
/// the program's, where arrays are row-major and in the order of the mesh's
/// devices. No facts if they are equal.
FailureOr<PortFacts> ProgramImporter::arrangement(DictionaryAttr foreign,
                                                  int64_t rank,
                                                  ArrayRef<int64_t> devices) {
  PortFacts facts;
  facts.devices = devices.vec();
  if (auto text =
          foreign ? foreign.getAs<StringAttr>("mhlo.layout_mode") : nullptr) {
    auto order = readLayoutMode(text.getValue(), rank);
    if (!order)
      return emitError(functions[entry].op->getLoc())
             << "the layout " << text
             << " is not supported; give an order of the " << rank
             << " dimensions, as Layout(major_to_minor=...), and no tiles";
    if (!llvm::is_sorted(llvm::reverse(*order)))
      facts.minorToMajor.assign(order->begin(), order->end());
  }
  if (auto kind =
          foreign ? foreign.getAs<StringAttr>("mhlo.memory_kind") : nullptr;
      kind && devicePorts && kind != "device")
    facts.memory = kind.str();
  return facts;
}

/// The facts that weft.trace wrote as JSON; none without them.
static FailureOr<PortFacts> tracedFacts(DictionaryAttr foreign, Location loc,
                                        StringAttr called) {
  if (foreign && foreign.contains("weft.metadata"))
    return emitError(loc) << called
                          << " has weft.metadata, which an older version of "
                             "weft.trace wrote; trace the model again, as "
                             "python -m weft.trace model.keras -o step.mlir";
  auto text = foreign ? foreign.getAs<StringAttr>(kFactsAttr) : nullptr;
  if (!text)
    return PortFacts();
  weft::Result<PortFacts> facts = factsOfJson(text.getValue());
  if (!facts)
    return emitError(loc) << called << ": weft.facts: " << facts.message();
  return *facts;
}

/// An attribute of an argument or result in a file of weft.trace: weft.name
/// or weft.role. Without one it is `otherwise`.
static StringAttr said(DictionaryAttr foreign, StringRef name,
                       const Twine &otherwise, Builder &builder) {
  auto text = foreign ? foreign.getAs<StringAttr>(name) : nullptr;
  return text ? text : builder.getStringAttr(otherwise);
}

/// The name that a program's author would know an argument or result by: that of
/// the argument's location, or of JAX's attributes. Empty if there is none.
static std::string sourceName(DictionaryAttr foreign,
                              std::optional<Location> argument) {
  auto of = [&](StringRef name) {
    auto text = foreign ? foreign.getAs<StringAttr>(name) : nullptr;
    return text ? text.getValue() : StringRef();
  };
  if (!argument) {
    StringRef name = of("jax.result_info");
    bool isPath = name.starts_with("[") || name.starts_with(".");
    return (isPath ? "result" : "") + name.str();
  }
  if (StringRef name = of("jax.arg_info"); !name.empty())
    return name.str();
  auto name = dyn_cast<NameLoc>(*argument);
  return name ? name.getName().str() : "";
}

FailureOr<DictionaryAttr>
ProgramImporter::port(DictionaryAttr foreign, Type type,
                      const std::string &name, StringRef role,
                      std::optional<Location> argument) {
  bool isArgument = argument.has_value();
  NamedAttrList list;
  StringAttr called = said(foreign, kNameAttr, name, builder);
  list.append(kNameAttr, called);
  if (std::string source = sourceName(foreign, argument);
      !source.empty() && called.getValue() == name) {
    called = builder.getStringAttr(source);
    list.append(kSourceNameAttr, called);
  }
  list.append(kRoleAttr, said(foreign, kRoleAttr, role, builder));
  Location loc = functions[entry].op->getLoc();
  int64_t rank = cast<RankedTensorType>(type).getRank();
  auto sharding = shardings.resolve(
      loc, foreign ? foreign.get("sdy.sharding") : Attribute(), rank);
  if (failed(sharding))
    return failure();
  auto arranged = arrangement(foreign, rank, sharding->devices);
  if (failed(arranged))
    return failure();
  FailureOr<PortFacts> facts = tracedFacts(foreign, loc, called);
  if (failed(facts))
    return failure();
  bool isArranged = *arranged != PortFacts();
  if (isArranged && *facts != PortFacts())
    return emitError(loc) << called << " has weft.facts, and its devices or "
                          << "its memory are in another order, "
                          << factsAttr(builder.getContext(), *arranged)
                          << "; leave one of them out";
  if (auto known =
          factsAttr(builder.getContext(), isArranged ? *arranged : *facts))
    list.append(kFactsAttr, known);
  (isArgument ? taken : given).push_back(std::move(*arranged));
  if (sharding->layout) {
    Layout layout = sharding->layout.getLayout();
    if (!devicePorts)
      layout.partial.clear();
    list.append(kLayoutAttr,
                LayoutAttr::get(sharding->layout.getMesh(), layout));
    list.append(kReasonAttr,
                builder.getStringAttr("sharding of " + called.getValue()));
  }
  if (isArgument)
    list.append(sharding->options());
  return list.getDictionary(builder.getContext());
}

static DictionaryAttr attributesAt(ArrayAttr list, size_t index) {
  return list && index < list.size() ? dyn_cast<DictionaryAttr>(list[index])
                                     : DictionaryAttr();
}

LogicalResult ProgramImporter::convertMain(bool isOneDevice) {
  const Function &main = functions[entry];
  Location loc = main.op->getLoc();
  SmallVector<Type> types(main.body->getArgumentTypes());
  if (failed(checkTypes(types, "argument")))
    return failure();
  auto function = func::FuncOp::create(builder, loc, entry,
                                       builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Converter converter(builder, shardings, functions);
  converter.isOneDevice = isOneDevice;
  for (auto [from, to] :
       llvm::zip_equal(main.body->getArguments(), body->getArguments()))
    converter.map(from, to);
  SmallVector<Value> results;
  if (failed(converter.convertBlock(*main.body, results)))
    return failure();
  SmallVector<Type> resultTypes(ValueRange(results).getTypes());
  if (failed(checkTypes(resultTypes, "result")))
    return failure();
  function.setFunctionType(builder.getFunctionType(types, resultTypes));
  func::ReturnOp::create(builder, loc, results);
  if (failed(addPorts(function)))
    return failure();
  donate(function);
  if (devicePorts)
    function->setAttr(kFullPortsAttr, builder.getUnitAttr());
  return success();
}

LogicalResult ProgramImporter::addPorts(func::FuncOp function) {
  const Function &main = functions[entry];
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto attributes = port(attributesAt(main.arguments, i), type,
                           llvm::formatv("in/{0,0+3}", i), "input",
                           main.body->getArgument(i).getLoc());
    if (failed(attributes))
      return failure();
    function.setArgAttrs(i, *attributes);
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto attributes =
        port(attributesAt(main.results, i), type,
             llvm::formatv("out/{0,0+3}", i), "output", std::nullopt);
    if (failed(attributes))
      return failure();
    function.setResultAttrs(i, *attributes);
  }
  return checkNames(function);
}

/// Checks that arguments have different names, and results too: arrays are
/// passed by these names.
LogicalResult ProgramImporter::checkNames(func::FuncOp function) {
  auto check = [&](unsigned count, const char *what,
                   auto nameOf) -> LogicalResult {
    llvm::StringMap<unsigned> seen;
    for (unsigned i = 0; i < count; ++i) {
      auto [first, isNew] = seen.try_emplace(nameOf(i).getValue(), i);
      if (!isNew)
        return function.emitError()
               << what << "s " << first->second << " and " << i
               << " are both called \"" << first->first()
               << "\"; give each a weft.name of its own";
    }
    return success();
  };
  LogicalResult arguments =
      check(function.getNumArguments(), "argument", [&](unsigned i) {
        return function.getArgAttrOfType<StringAttr>(i, kNameAttr);
      });
  if (failed(arguments))
    return failure();
  return check(function.getNumResults(), "result", [&](unsigned i) {
    return function.getResultAttrOfType<StringAttr>(i, kNameAttr);
  });
}

/// The result that reuses the argument's memory, if any; it is unused and has
/// the argument's type. tf.aliasing_output gives it; for jax.buffer_donor it is
/// the first such result whose layout is not given.
std::optional<int64_t> ProgramImporter::donatedTo(DictionaryAttr attributes,
                                                  Type type,
                                                  func::FuncOp function,
                                                  llvm::BitVector &taken) {
  if (!attributes)
    return std::nullopt;
  if (auto alias = attributes.getAs<IntegerAttr>("tf.aliasing_output")) {
    int64_t to = alias.getInt();
    bool fits = to >= 0 && to < function.getNumResults() && !taken[to] &&
                function.getResultTypes()[to] == type;
    return fits ? std::optional(to) : std::nullopt;
  }
  if (!attributes.contains("jax.buffer_donor"))
    return std::nullopt;
  for (unsigned to = 0; to < function.getNumResults(); ++to)
    if (!taken[to] && function.getResultTypes()[to] == type &&
        (!function.getResultAttr(to, kLayoutAttr) || !shardings.mesh()))
      return to;
  return std::nullopt;
}

void ProgramImporter::donate(func::FuncOp function) {
  llvm::BitVector isTaken(function.getNumResults());
  const Function &main = functions[entry];
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto to = donatedTo(attributesAt(main.arguments, i),
                        function.getArgument(i).getType(), function, isTaken);
    if (!to)
      continue;
    // Memory is reused unless the result is given another layout or
    // arrangement.
    Attribute wanted = function.getResultAttr(*to, kLayoutAttr);
    if ((wanted && wanted != function.getArgAttr(i, kLayoutAttr)) ||
        given[*to] != taken[i])
      continue;
    isTaken.set(*to);
    function.setArgAttr(i, kDonatedAttr, builder.getI64IntegerAttr(*to));
  }
}

OwningOpRef<ModuleOp> ProgramImporter::run(const ImportOptions &options) {
  devicePorts = options.devicePorts;
  forwardTuples(program);
  shardTokens(program);
  passScalarsToReducers(program);
  if (failed(translateShardingStrings(program)) ||
      failed(gatherManualCalls(program)) || failed(expandMaps(program)) ||
      failed(findFunctions(options.function)) ||
      failed(checkCalls(functions, entry)) ||
      failed(chooseDevices(options.devices)))
    return {};
  module = ModuleOp::create(program.getLoc());
  if (MeshAttr mesh = shardings.mesh();
      mesh && (options.devices != 1 || shardings.devices() == 1))
    (*module)->setAttr(kMeshAttr, mesh);
  builder.setInsertionPointToEnd(module->getBody());
  // A program of one partition runs on one device. JAX writes no manual
  // computation for a mesh of one device, so this is the program's only sign.
  auto partitions = program->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  bool isOneDevice =
      shardings.devices() == 1 &&
      (options.devices == 1 || (partitions && partitions.getInt() == 1));
  if (failed(convertMain(isOneDevice)) || failed(verify(*module)))
    return {};
  return std::move(module);
}

} // namespace

int64_t stablehlo::deviceCount(ModuleOp program) {
  Shardings shardings;
  return failed(translateShardingStrings(program)) ||
                 failed(shardings.collect(program))
             ? 0
             : shardings.devices();
}

SmallVector<StepFunction> stablehlo::stepFunctions(ModuleOp program) {
  SmallVector<StepFunction> steps;
  for (Operation &op : *program.getBody()) {
    auto name = op.getAttrOfType<StringAttr>("sym_name");
    auto kind = op.getAttrOfType<StringAttr>("weft.step");
    auto batch = op.getAttrOfType<IntegerAttr>("weft.batch");
    if (ForeignOp(&op).name() == "func.func" && name && kind && batch)
      steps.push_back({name.str(), kind.str(), batch.getInt()});
  }
  return steps;
}

OwningOpRef<ModuleOp> stablehlo::import(ModuleOp program,
                                        const ImportOptions &options) {
  program.getContext()->getOrLoadDialect<WeftDialect>();
  program.getContext()->getOrLoadDialect<coll::CollDialect>();
  program.getContext()->getOrLoadDialect<host::HostDialect>();
  if (failed(verifySizes(program)))
    return {};
  return ProgramImporter(program).run(options);
}
