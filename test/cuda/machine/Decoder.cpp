//===- Decoder.cpp - from a statement to an instruction -------------------===//

#include "weft/test/cuda/machine/Decoder.h"

namespace weft::ptx {

static const std::pair<std::string_view, Type> kTypes[] = {
    {"pred", Type::Pred},   {"b8", Type::B8},         {"b16", Type::B16},
    {"b32", Type::B32},     {"b64", Type::B64},       {"u8", Type::U8},
    {"u16", Type::U16},     {"u32", Type::U32},       {"u64", Type::U64},
    {"s8", Type::S8},       {"s16", Type::S16},       {"s32", Type::S32},
    {"s64", Type::S64},     {"f16", Type::F16},       {"bf16", Type::BF16},
    {"f32", Type::F32},     {"f64", Type::F64},       {"tf32", Type::TF32},
    {"f16x2", Type::F16x2}, {"bf16x2", Type::BF16x2}, {"f32x2", Type::F32x2},
    {"u16x2", Type::U16x2}, {"s16x2", Type::S16x2}};

Type typeNamed(std::string_view name) {
  for (auto [known, type] : kTypes)
    if (known == name)
      return type;
  return Type::None;
}

unsigned bytesOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  default:
    return 4;
  }
}

static bool isFloat(Type type) {
  return type >= Type::F16 && type <= Type::F32x2;
}

Decode DecodeTable::find(const std::vector<std::string> &words) const {
  const auto &first = isFloat(typeNamed(words.back())) ? floats : integers;
  if (auto found = first.find(words[0]); found != first.end())
    return found->second;
  auto found = others.find(words[0]);
  return found == others.end() ? nullptr : found->second;
}

static const DecodeTable &decoders() {
  static const DecodeTable table = [] {
    DecodeTable all;
    addIntegerDecoders(all);
    addBitDecoders(all);
    addFloatDecoders(all);
    addConversionDecoders(all);
    addComparisonDecoders(all);
    addMoveDecoders(all);
    addMemoryDecoders(all);
    addWarpDecoders(all);
    addFlowDecoders(all);
    addAsyncCopyDecoders(all);
    addMatrixDecoders(all);
    return all;
  }();
  return table;
}

std::string Decoder::name() const {
  std::string all;
  for (const std::string &word : now->words)
    all += (all.empty() ? "instruction '" : ".") + word;
  return all + "'";
}

void Decoder::fail(const std::string &what) {
  if (error.empty())
    error = "line " + std::to_string(now->line) + ": " + what;
}

/// Allocates a slot, at a multiple of 64 bytes.
Operand Decoder::allocate(const std::string &name, unsigned bytes,
                          bool isPredicate) {
  Operand operand{kernel.registerBytes, uint16_t(kernel.slots.size()),
                  uint8_t(bytes), isPredicate};
  kernel.slots.push_back(name);
  if (kernel.slots.size() > 0xFFFF)
    fail("kernel '" + kernel.name + "' has more than 65535 values");
  uint32_t size = isPredicate ? 4 : bytes * kLanes;
  kernel.registerBytes += (size + 63) / 64 * 64;
  return operand;
}

void Decoder::declareRegister(const std::string &name, Type type) {
  unsigned bytes = type == Type::B8 ? 2 : bytesOf(type);
  registers[name] = allocate(name, bytes, type == Type::Pred);
}

Operand Decoder::constant(uint64_t bits, unsigned bytes, bool isPredicate,
                          int data) {
  if (isPredicate)
    bits = bits ? kAllLanes : 0;
  auto key = std::tuple(bits, bytes, isPredicate, data);
  auto found = constants.find(key);
  if (found == constants.end()) {
    Operand operand = allocate("a constant", bytes, isPredicate);
    kernel.constants.push_back({operand, bits, data});
    found = constants.emplace(key, operand).first;
  }
  return found->second;
}

Operand Decoder::special(const std::string &name) {
  static const std::pair<const char *, Special> known[] = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NTidX},
      {"%ntid.y", Special::NTidY},
      {"%ntid.z", Special::NTidZ},
      {"%ctaid.x", Special::CtaX},
      {"%ctaid.y", Special::CtaY},
      {"%ctaid.z", Special::CtaZ},
      {"%nctaid.x", Special::NCtaX},
      {"%nctaid.y", Special::NCtaY},
      {"%nctaid.z", Special::NCtaZ},
      {"%laneid", Special::Lane},
      {"%warpid", Special::Warp},
      {"%nwarpid", Special::Warps},
      {"%lanemask_eq", Special::MaskEq},
      {"%lanemask_lt", Special::MaskLt},
      {"%lanemask_le", Special::MaskLe},
      {"%lanemask_gt", Special::MaskGt},
      {"%lanemask_ge", Special::MaskGe},
      {"%dynamic_smem_size", Special::DynamicShared},
      {"%total_smem_size", Special::TotalShared},
      {"%smid", Special::Processor}};
  if (auto found = specials.find(name); found != specials.end())
    return found->second;
  for (auto [text, special] : known)
    if (name == text) {
      Operand operand = allocate(name, 4, false);
      kernel.specials.push_back({special, operand});
      return specials[name] = operand;
    }
  return {};
}

Operand Decoder::findSource(const Argument &argument, unsigned bytes) {
  bool isPredicate = bytes == 0xFF;
  unsigned width = isPredicate || !bytes ? 4 : bytes;
  if (argument.kind == Argument::Number)
    return constant(argument.bits, width, isPredicate, ConstantSlot::kNumber);
  if (auto found = registers.find(argument.name); found != registers.end())
    return found->second;
  if (Operand found = special(argument.name); found.bytes)
    return found;
  const Variable *variable = findVariable(argument.name);
  if (!variable) {
    fail("'" + argument.name + "' is not declared");
    return {};
  }
  int data = variable->space == Space::Global ? int(variable->offset)
             : variable->isOpen               ? ConstantSlot::kDynamicShared
                                              : ConstantSlot::kNumber;
  uint64_t offset = data >= 0 ? 0 : variable->offset;
  return constant(offset + argument.offset, bytes ? bytes : 8, false, data);
}

void Decoder::declareShared(const std::string &name, Variable variable) {
  if (!variable.isOpen) {
    uint64_t mask = variable.alignment - 1;
    variable.offset = (kernel.sharedBytes + mask) & ~mask;
    kernel.sharedBytes = uint32_t(variable.offset + variable.bytes);
  }
  variables[name] = variable;
}

const Variable *Decoder::findVariable(const std::string &name) {
  if (auto found = variables.find(name); found != variables.end())
    return &found->second;
  auto found = globals.find(name);
  if (found == globals.end())
    return nullptr;
  if (found->second.space != Space::Shared)
    return &found->second;
  declareShared(name, found->second);
  return &variables[name];
}

void Decoder::add(Instruction &to, bool isTarget, Operand operand) {
  unsigned count = to.targets + to.sources;
  if (count == Instruction::kOperands)
    return fail(name() + " has more than " +
                std::to_string(Instruction::kOperands) + " operands");
  to.operands[count] = operand;
  ++(isTarget ? to.targets : to.sources);
}

static std::string bits(unsigned bytes) { return std::to_string(8 * bytes); }

void Decoder::addTarget(Instruction &to, const Argument &argument,
                        unsigned bytes) {
  if (argument.name == "_")
    return add(to, true, {});
  auto found = registers.find(argument.name);
  if (found == registers.end())
    return fail(name() + " writes '" + argument.name +
                "', which is no register");
  Operand operand = found->second;
  if (bytes == 0xFF ? !operand.isPredicate
                    : operand.isPredicate || (bytes && operand.bytes != bytes))
    return fail(name() + " writes " +
                (bytes == 0xFF ? "a predicate" : bits(bytes) + " bits") +
                " to " + argument.name + ", which has " +
                (operand.isPredicate ? "1" : bits(operand.bytes)));
  add(to, true, operand);
}

void Decoder::addSource(Instruction &to, const Argument &argument,
                        unsigned bytes) {
  if (argument.isNegated || !argument.second.empty())
    return fail(name() + ": '!' and '|' are not known before and behind " +
                argument.name);
  Operand operand = findSource(argument, bytes);
  if (error.empty() && (bytes == 0xFF ? !operand.isPredicate
                                      : operand.isPredicate ||
                                            (bytes && operand.bytes != bytes)))
    return fail(name() + " reads " +
                (bytes == 0xFF ? "a predicate" : bits(bytes) + " bits") +
                " from " + argument.name + ", which has " +
                (operand.isPredicate ? "1" : bits(operand.bytes)));
  add(to, false, operand);
}

void Decoder::addPredicate(Instruction &to, const std::string &name,
                           bool isTarget) {
  Argument argument;
  argument.name = name;
  isTarget ? addTarget(to, argument, 0xFF) : addSource(to, argument, 0xFF);
}

bool Decoder::take(std::string_view word) {
  for (size_t i = 1; i < now->words.size(); ++i)
    if (!taken[i] && now->words[i] == word)
      return taken[i] = true;
  return false;
}

Type Decoder::takeType() {
  for (size_t i = now->words.size() - 1; i > 0; --i)
    if (Type type = typeNamed(now->words[i]); !taken[i] && type != Type::None) {
      taken[i] = true;
      return type;
    }
  fail(name() + " has no type");
  return Type::None;
}

int Decoder::takeOne(std::initializer_list<std::string_view> words) {
  int position = 0;
  for (std::string_view word : words) {
    if (take(word))
      return position;
    ++position;
  }
  return -1;
}

Instruction &Decoder::begin(Compute compute) {
  Instruction &to = kernel.code.emplace_back();
  to.compute = compute;
  to.line = now->line;
  if (now->guard.empty())
    return to;
  auto found = registers.find(now->guard);
  if (found == registers.end() || !found->second.isPredicate) {
    fail("guard '" + now->guard + "' is no predicate");
    return to;
  }
  to.guard = found->second;
  to.isNegated = now->isGuardNegated;
  return to;
}

static unsigned widthOf(Type type) {
  return type == Type::Pred ? 0xFF : bytesOf(type);
}

Instruction &Decoder::emit(Compute compute, std::initializer_list<Type> targets,
                           std::initializer_list<Type> sources) {
  Instruction &to = begin(compute);
  if (!compute)
    fail(name() + " is not known to this machine");
  if (arguments() != targets.size() + sources.size()) {
    fail(name() + " has " + std::to_string(arguments()) +
         " operands != " + std::to_string(targets.size() + sources.size()));
    return to;
  }
  size_t next = 0;
  for (Type type : targets)
    addTarget(to, argument(next++), widthOf(type));
  for (Type type : sources)
    addSource(to, argument(next++), widthOf(type));
  return to;
}

void Decoder::decode(const Statement &next) {
  now = &next;
  taken.assign(next.words.size(), false);
  Decode found = decoders().find(next.words);
  if (!found)
    return fail(name() + " is not known to this machine");
  found(*this);
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i])
      fail(name() + ": '." + next.words[i] + "' is not known to this machine");
}

void Decoder::resolve(const std::map<std::string, uint32_t> &labels) {
  for (ConstantSlot &constant : kernel.constants)
    if (constant.data == ConstantSlot::kDynamicShared) {
      constant.data = ConstantSlot::kNumber;
      constant.bits += kernel.dynamicShared();
    }
  for (const auto &[position, label] : jumps) {
    Instruction &jump = kernel.code[position];
    auto found = labels.find(label);
    if (found == labels.end()) {
      error = "line " + std::to_string(jump.line) + ": label '" + label +
              "' is not in kernel '" + kernel.name + "'";
      return;
    }
    if (jump.flow == Flow::IndexedBranch)
      jump.labels.push_back(found->second);
    else
      jump.label = found->second;
  }
}

} // namespace weft::ptx
