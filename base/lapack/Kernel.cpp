#include "weft/base/lapack/Kernel.h"

#include "weft/base/lapack/Invocation.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace weft::lapack {

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

/// Writes the transpose of a row-major matrix, tile by tile: a tile's lines of
/// both matrices stay in the nearest cache, whatever their strides.
template <typename T>
static void transpose(const T *from, T *to, int64_t rows, int64_t columns) {
  constexpr int64_t tile = 64 / int64_t(sizeof(T)) < 4 ? 4 : 64 / sizeof(T);
  T held[tile][tile];
  for (int64_t i = 0; i < rows; i += tile)
    for (int64_t j = 0; j < columns; j += tile) {
      int64_t height = std::min(tile, rows - i);
      int64_t width = std::min(tile, columns - j);
      for (int64_t a = 0; a < height; ++a)
        for (int64_t b = 0; b < width; ++b)
          held[b][a] = from[(i + a) * columns + j + b];
      for (int64_t b = 0; b < width; ++b)
        for (int64_t a = 0; a < height; ++a)
          to[(j + b) * rows + i + a] = held[b][a];
    }
}

static void transpose(const void *from, void *to, int64_t rows, int64_t columns,
                      int64_t itemBytes) {
  auto as = [&](auto item) {
    using T = decltype(item);
    transpose(static_cast<const T *>(from), static_cast<T *>(to), rows,
              columns);
  };
  if (itemBytes == 4)
    as(float());
  else if (itemBytes == 8)
    as(double());
  else
    as(std::complex<double>());
}

//===----------------------------------------------------------------------===//
// Memory of a thread
//===----------------------------------------------------------------------===//

namespace {
/// Memory that a thread keeps between calls, unless there is much of it.
class ThreadMemory {
public:
  /// Memory of at least this many bytes, or null.
  char *atLeast(int64_t bytes) {
    if (bytes > size) {
      release();
      size_t room = (size_t(bytes) + 63) / 64 * 64;
      start = static_cast<char *>(std::aligned_alloc(64, room));
      size = start ? int64_t(room) : 0;
    }
    return start;
  }
  void trim() {
    if (size > kMostKept)
      release();
  }
  ~ThreadMemory() { release(); }

private:
  static constexpr int64_t kMostKept = 64 << 20;
  void release() {
    std::free(start);
    start = nullptr;
    size = 0;
  }
  char *start = nullptr;
  int64_t size = 0;
};
} // namespace

static thread_local ThreadMemory threadMemory;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Kernel::Array Kernel::describe(const ArrayForm &form) const {
  Array array;
  array.bytes = its.bytes(form);
  array.from = form.from;
  if (form.dims.size() == 2) {
    array.rows = its.sizes()[size_t(form.dims[0] - 'a')];
    array.columns = its.sizes()[size_t(form.dims[1] - 'a')];
  }
  int64_t elements = its.elements(form);
  array.itemBytes = elements ? array.bytes / elements : 4;
  return array;
}

/// Reserves memory; returns its place, aligned to a line of the cache.
static int64_t reserve(int64_t &all, int64_t bytes) {
  int64_t place = all;
  all += (bytes + 63) / 64 * 64;
  return place;
}

void Kernel::place(Array &array) {
  bool isMatrix = array.rows > 1 && array.columns > 1;
  if (isMatrix && !its.routine().takesRows)
    array.copy = reserve(memoryBytes, array.bytes);
}

Result<Kernel> Kernel::make(const Call &call, const Library &library) {
  Kernel kernel(call);
  kernel.function = library.find(call.name());
  if (!kernel.function)
    return Error{library.source() + " has no routine " + call.name() + "; " +
                     wayToLibrary(),
                 StatusCode::Incompatible};
  const Routine &routine = call.routine();
  for (const ArrayForm &form : routine.operands)
    kernel.operands.push_back(kernel.describe(form));
  for (const ArrayForm &form : call.results()) {
    kernel.results.push_back(kernel.describe(form));
    if (form.from >= 0)
      kernel.operands[size_t(form.from)].isTaken = true;
    kernel.place(kernel.results.back());
  }
  for (Array &operand : kernel.operands)
    if (!operand.isTaken)
      kernel.place(operand);
  if (call.routine().asksForMemory)
    kernel.askForMemory();
  for (int64_t count : kernel.wanted)
    if (count > std::numeric_limits<int32_t>::max())
      return Error{call.name() + " wants " + std::to_string(count) +
                       " numbers of memory, more than its 32-bit integers "
                       "count; take smaller matrices",
                   StatusCode::InvalidArgument};
  return kernel;
}

void Kernel::askForMemory() {
  alignas(64) char nothing[64] = {};
  std::vector<void *> arrays(std::max(operands.size(), results.size()),
                             nothing);
  alignas(64) char answers[kWorkKinds][64] = {};
  Invocation of;
  of.function = function;
  of.sizes = &its.sizes();
  of.options = its.options().data();
  of.results = of.operands = arrays.data();
  for (size_t kind = 0; kind < kWorkKinds; ++kind)
    of.memory[kind] = answers[kind];
  of.isQuery = true;
  its.routine().adapters[size_t(its.element())](of);
  bool isDouble =
      its.element() == Element::F64 || its.element() == Element::C128;
  int64_t real = isDouble ? 8 : 4;
  const int64_t itemBytes[kWorkKinds] = {
      isComplex(its.element()) ? 2 * real : real, real, 4};
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    wanted[kind] = of.wanted[kind];
    workPlaces[kind] = reserve(memoryBytes, wanted[kind] * itemBytes[kind]);
  }
}

void Kernel::runOne(void *const *buffers, int64_t index, char *memory) const {
  constexpr size_t most = 8;
  void *in[most], *out[most];
  auto whole = [&](const Array &array, size_t number) {
    return static_cast<char *>(buffers[number]) + index * array.bytes;
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    const Array &its = operands[i];
    in[i] = whole(its, i);
    if (its.copy < 0)
      continue;
    transpose(in[i], memory + its.copy, its.rows, its.columns, its.itemBytes);
    in[i] = memory + its.copy;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Array &its = results[i];
    out[i] = its.copy < 0 ? whole(its, operands.size() + i) : memory + its.copy;
    if (its.from < 0)
      continue;
    if (its.copy >= 0)
      transpose(in[its.from], out[i], its.rows, its.columns, its.itemBytes);
    else if (its.bytes)
      std::memmove(out[i], in[its.from], size_t(its.bytes));
  }
  Invocation of;
  of.function = function;
  of.sizes = &its.sizes();
  of.options = its.options().data();
  of.results = out;
  of.operands = in;
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    of.memory[kind] = memory + workPlaces[kind];
    of.wanted[kind] = wanted[kind];
  }
  its.routine().adapters[size_t(its.element())](of);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].copy >= 0)
      transpose(out[i], whole(results[i], operands.size() + i),
                results[i].columns, results[i].rows, results[i].itemBytes);
}

Error Kernel::outOfMemory() const {
  return {"no memory for a call of " + its.name() + ": " +
              std::to_string(memoryBytes) +
              " bytes for each worker; take smaller matrices",
          StatusCode::OutOfMemory};
}

bool Kernel::run(void *const *buffers, int64_t begin, int64_t end) const {
  bool isEmpty = false;
  for (const Array &operand : operands)
    isEmpty |= operand.rows == 0 || operand.columns == 0;
  if (isEmpty) { // LAPACK has nothing to do, and info is 0.
    for (size_t i = 0; i < results.size(); ++i)
      if (int64_t bytes = (end - begin) * results[i].bytes)
        std::memset(static_cast<char *>(buffers[operands.size() + i]) +
                        begin * results[i].bytes,
                    0, size_t(bytes));
    return true;
  }
  char *memory = threadMemory.atLeast(std::max<int64_t>(memoryBytes, 64));
  if (!memory)
    return false;
  for (int64_t index = begin; index < end; ++index)
    runOne(buffers, index, memory);
  threadMemory.trim();
  return true;
}

} // namespace weft::lapack
