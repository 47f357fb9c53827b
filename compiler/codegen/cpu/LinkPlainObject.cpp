//===- LinkPlainObject.cpp - a shared object of one object ----------------===//

#include "weft/compiler/codegen/cpu/LinkPlainObject.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::ELF;

namespace weft::cpu {

using Object = object::ELFFile<object::ELF64LE>;
using InputSection = object::ELF64LE::Shdr;
using InputSymbol = object::ELF64LE::Sym;

static constexpr uint64_t kPage = 4096, kCallBytes = 8;
static constexpr size_t kSegments = 4, kDynamicEntries = 9;

namespace {
class PlainLinker {
public:
  explicit PlainLinker(const Object &object [[clang::lifetimebound]])
      : object(object) {}
  bool link(SmallVectorImpl<char> &out);

private:
  bool readSymbols();
  bool placeSections();
  void placeTables();
  bool relocate(const InputSection &table);
  bool relocateOne(uint64_t section, const object::ELF64LE::Rela &relocation);
  std::optional<uint64_t> addressOf(const InputSymbol &symbol) const;
  void writeCalls();
  void writeTables();
  void writeHeaders();
  uint64_t slotOf(size_t external) const {
    return writable + kPage + external * 8;
  }

  template <typename T> void put(uint64_t at, const T &value) {
    std::memcpy(image.data() + at, &value, sizeof value);
  }
  uint64_t reserve(uint64_t bytes, uint64_t alignment) {
    uint64_t at = alignTo(image.size(), alignment);
    image.resize(at + bytes);
    return at;
  }

  const Object &object;
  ArrayRef<InputSection> sections;
  ArrayRef<InputSymbol> inputs;
  StringRef inputNames;
  /// External symbols that are called, and symbols that are defined, by name.
  MapVector<StringRef, const InputSymbol *> externals, defined;
  DenseMap<uint64_t, uint64_t> addresses; ///< addresses of sections, by index
  SmallVector<char, 0> image;
  std::string names = std::string(1, '\0');
  uint64_t symbols, strings, hash, relocations, calls, writable,
      dynamic; ///< addresses of the tables
};
} // namespace

template <typename T> static bool take(Expected<T> value, T &out) {
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  out = *value;
  return true;
}

bool PlainLinker::readSymbols() {
  for (const InputSection &section : sections)
    if (section.sh_type == SHT_SYMTAB &&
        (!take(object.symbols(&section), inputs) ||
         !take(object.getStringTableForSymtab(section), inputNames)))
      return false;
  for (const InputSymbol &symbol : inputs) {
    if (symbol.getBinding() == STB_LOCAL)
      continue;
    StringRef name;
    if (!take(symbol.getName(inputNames), name) ||
        symbol.st_shndx >= SHN_LORESERVE || name == "_GLOBAL_OFFSET_TABLE_")
      return false;
    (symbol.st_shndx == SHN_UNDEF ? externals : defined)[name] = &symbol;
  }
  return true;
}

/// Places the tables, whose sizes are known now, before the code.
void PlainLinker::placeTables() {
  reserve(sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr), 1);
  size_t count = 1 + externals.size() + defined.size();
  for (auto *table : {&externals, &defined})
    for (auto &entry : *table)
      names += entry.first.str() + '\0';
  symbols = reserve(count * sizeof(Elf64_Sym), 8);
  relocations = reserve(externals.size() * sizeof(Elf64_Rela), 8);
  hash = reserve((3 + count) * 4, 8); // The hash table has one bucket.
  strings = reserve(names.size(), 1);
}

bool PlainLinker::placeSections() {
  for (const auto &[index, section] : enumerate(sections)) {
    if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0)
      continue;
    ArrayRef<uint8_t> contents;
    if (section.sh_type != SHT_PROGBITS && section.sh_type != SHT_X86_64_UNWIND)
      return false;
    if (section.sh_flags & (SHF_WRITE | SHF_TLS) ||
        section.sh_addralign > kPage ||
        !take(object.getSectionContents(section), contents))
      return false;
    addresses[index] =
        reserve(contents.size(), std::max<uint64_t>(section.sh_addralign, 1));
    llvm::copy(contents, image.begin() + addresses[index]);
  }
  calls = reserve(externals.size() * kCallBytes, 16);
  writable = reserve(externals.size() * 8, 8);
  dynamic = reserve(kDynamicEntries * sizeof(Elf64_Dyn), 8);
  return true;
}

/// The address of a symbol, or of the call stub of an external function;
/// nothing if its section is not loaded.
std::optional<uint64_t>
PlainLinker::addressOf(const InputSymbol &symbol) const {
  if (symbol.st_shndx == SHN_UNDEF) {
    StringRef name = cantFail(symbol.getName(inputNames));
    return calls + (externals.find(name) - externals.begin()) * kCallBytes;
  }
  auto section = addresses.find(symbol.st_shndx);
  if (section == addresses.end())
    return std::nullopt;
  return section->second + symbol.st_value;
}

bool PlainLinker::relocateOne(uint64_t section,
                              const object::ELF64LE::Rela &relocation) {
  uint32_t index = relocation.getSymbol(false);
  if (index == 0 || index >= inputs.size())
    return false;
  const InputSymbol &symbol = inputs[index];
  std::optional<uint64_t> target = addressOf(symbol);
  switch (relocation.getType(false)) {
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    break;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    if (symbol.st_shndx != SHN_UNDEF)
      return false;
    target = slotOf((*target - calls) / kCallBytes);
    break;
  default:
    return false;
  }
  if (!target)
    return false;
  uint64_t at = section + relocation.r_offset;
  int64_t distance = int64_t(*target + relocation.r_addend - at);
  if (!isInt<32>(distance))
    return false;
  support::endian::write32le(image.data() + at, uint32_t(distance));
  return true;
}

bool PlainLinker::relocate(const InputSection &table) {
  auto section = addresses.find(table.sh_info);
  if (section == addresses.end())
    return true; // The relocations are for a section that is not loaded.
  Object::Elf_Rela_Range entries;
  if (table.sh_type != SHT_RELA || !take(object.relas(table), entries))
    return false;
  return all_of(entries, [&](const auto &entry) {
    return relocateOne(section->second, entry);
  });
}

/// Writes the call stubs: jmp *slot(%rip)
void PlainLinker::writeCalls() {
  for (size_t i = 0; i < externals.size(); ++i) {
    uint64_t at = calls + i * kCallBytes;
    image[at] = char(0xff);
    image[at + 1] = char(0x25);
    support::endian::write32le(image.data() + at + 2,
                               uint32_t(slotOf(i) - (at + 6)));
  }
}

void PlainLinker::writeTables() {
  uint32_t number = 0, name = 1, count = 1 + externals.size() + defined.size();
  put(hash, std::array<uint32_t, 3>{1, count, count > 1 ? 1u : 0u});
  for (auto *table : {&externals, &defined})
    for (auto &[text, input] : *table) {
      Elf64_Sym symbol = {};
      symbol.st_name = name;
      symbol.st_info = input->st_info;
      symbol.st_other = input->st_other;
      symbol.st_size = input->st_size;
      symbol.st_shndx = input->st_shndx == SHN_UNDEF
                            ? SHN_UNDEF
                            : 1; // There are no section headers.
      symbol.st_value =
          input->st_shndx == SHN_UNDEF
              ? 0
              : addresses.lookup(input->st_shndx) + input->st_value;
      put(symbols + ++number * sizeof symbol, symbol);
      put(hash + (3 + number) * sizeof number,
          number + 1 < count ? number + 1 : 0u);
      name += text.size() + 1;
    }
  llvm::copy(names, image.begin() + strings);
  for (uint64_t i = 0; i < externals.size(); ++i)
    put(relocations + i * sizeof(Elf64_Rela),
        Elf64_Rela{slotOf(i), (i + 1) << 32 | R_X86_64_GLOB_DAT, 0});
  Elf64_Dyn entries[kDynamicEntries] = {
      {DT_HASH, {hash}},
      {DT_SYMTAB, {symbols}},
      {DT_SYMENT, {sizeof(Elf64_Sym)}},
      {DT_STRTAB, {strings}},
      {DT_STRSZ, {names.size()}},
      {DT_RELA, {relocations}},
      {DT_RELASZ, {externals.size() * sizeof(Elf64_Rela)}},
      {DT_RELAENT, {sizeof(Elf64_Rela)}},
      {DT_NULL, {0}}};
  put(dynamic, entries);
}

void PlainLinker::writeHeaders() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_ehsize = header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = kSegments;
  put(0, header);
  auto segment = [&](uint32_t type, uint32_t access, uint64_t from, uint64_t to,
                     uint64_t moved, uint64_t alignment) {
    return Elf64_Phdr{type,         access,    from,      from + moved,
                      from + moved, to - from, to - from, alignment};
  };
  // Writable sections are a page further in memory than in the file.
  Elf64_Phdr segments[kSegments] = {
      segment(PT_LOAD, PF_R | PF_X, 0, writable, 0, kPage),
      segment(PT_LOAD, PF_R | PF_W, writable, image.size(), kPage, kPage),
      segment(PT_DYNAMIC, PF_R | PF_W, dynamic, image.size(), kPage, 8),
      segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16)};
  put(sizeof header, segments);
}

bool PlainLinker::link(SmallVectorImpl<char> &out) {
  const auto &header = object.getHeader();
  if (header.e_machine != EM_X86_64 || header.e_type != ET_REL ||
      !take(object.sections(), sections) || !readSymbols())
    return false;
  placeTables();
  if (!placeSections())
    return false;
  for (const InputSection &section : sections)
    if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) &&
        !relocate(section))
      return false;
  for (auto &entry : defined)
    if (!addresses.contains(entry.second->st_shndx))
      return false;
  writeCalls();
  writeTables();
  writeHeaders();
  out.assign(image.begin(), image.end());
  return true;
}

bool linkPlainObject(ArrayRef<char> bytes,
                     SmallVectorImpl<char> &sharedObject) {
  auto object = Object::create(StringRef(bytes.data(), bytes.size()));
  if (!object) {
    consumeError(object.takeError());
    return false;
  }
  return PlainLinker(*object).link(sharedObject);
}

} // namespace weft::cpu
