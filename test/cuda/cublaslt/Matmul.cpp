//===- Matmul.cpp - products of matrices ----------------------------------===//

#include "weft/test/cuda/cublaslt/Objects.h"
#include "weft/test/cuda/driver/LibraryCalls.h"
#include "weft/test/cuda/machine/ShortFloats.h"

#include <cmath>
#include <numeric>

using namespace weft;
using namespace weft::fake;

namespace {

/// An algorithm of the fake, in the bytes that a program keeps.
struct Choice {
  uint64_t problem; ///< the operation and layouts that it is for
  uint64_t workspace;
  uint32_t alignment[4];
  uint32_t isInplace; ///< whether parts are added in an undefined order
};
static_assert(sizeof(Choice) <= sizeof(Algorithm));

struct Problem {
  OperationObject operation;
  LayoutObject a, b, d;
  uint64_t rows() const { return d.rows; }
  uint64_t columns() const { return d.columns; }
  uint64_t terms() const {
    return operation.transposeA == Transpose::No ? a.columns : a.rows;
  }
};

uint64_t bytesOf(Type type) {
  return type == Type::F64 ? 8 : type == Type::F32 ? 4 : 2;
}

double load(const uint8_t *from, Type type) {
  switch (type) {
  case Type::F64: {
    double value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  case Type::F32: {
    float value;
    std::memcpy(&value, from, sizeof value);
    return double(value);
  }
  case Type::F16: {
    ptx::Half value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  case Type::BF16: {
    ptx::Brain value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  }
  return 0;
}

void store(uint8_t *to, Type type, double value) {
  auto put = [&](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  switch (type) {
  case Type::F64:
    return put(value);
  case Type::F32:
    return put(float(value));
  case Type::F16:
    return put(ptx::Half::of(value));
  case Type::BF16:
    return put(ptx::Brain::of(value));
  }
}

/// Hashes fields without padding by FNV-1a.
struct Hash {
  uint64_t value = 0xcbf29ce484222325;
  void add(auto field) {
    uint64_t bits = uint64_t(field);
    for (int byte = 0; byte < 8; ++byte)
      value = (value ^ (bits >> 8 * byte & 255)) * 0x100000001b3;
  }
};

uint64_t numberOf(const Problem &p) {
  Hash hash;
  for (int field : {int(p.operation.compute), int(p.operation.scale),
                    int(p.operation.transposeA), int(p.operation.transposeB),
                    int(p.operation.epilogue)})
    hash.add(field);
  for (const LayoutObject *layout : {&p.a, &p.b, &p.d}) {
    hash.add(layout->type);
    hash.add(layout->rows);
    hash.add(layout->columns);
    hash.add(layout->leading);
    hash.add(layout->batchCount);
    hash.add(layout->batchStride);
  }
  return hash.value;
}

bool hasBias(Epilogue epilogue) { return int(epilogue) & int(Epilogue::Bias); }

/// Whether the library supports a combination of its table, without integers,
/// complex numbers and fp8.
bool isSupported(const Problem &p) {
  Type in = p.a.type, out = p.d.type;
  bool isShort = in == Type::F16 || in == Type::BF16;
  if (in != p.b.type)
    return false;
  switch (p.operation.compute) {
  case Compute::F64:
    return in == Type::F64 && out == in && p.operation.scale == Type::F64;
  case Compute::F32:
    return p.operation.scale == Type::F32 &&
           ((in == Type::F32 && out == in) ||
            (isShort && (out == in || out == Type::F32)));
  case Compute::Tf32:
    return p.operation.scale == Type::F32 && in == Type::F32 && out == in;
  }
  return false;
}

bool hasRoom(const LayoutObject &layout) {
  return layout.leading >= int64_t(layout.rows) && layout.rows &&
         layout.columns && layout.batchCount > 0;
}

Status check(const Problem &p) {
  uint64_t m = p.rows(), n = p.columns(), k = p.terms();
  bool isA = p.operation.transposeA == Transpose::No,
       isB = p.operation.transposeB == Transpose::No;
  bool fits = hasRoom(p.a) && hasRoom(p.b) && hasRoom(p.d) &&
              (isA ? p.a.rows : p.a.columns) == m &&
              (isB ? p.b.rows : p.b.columns) == k &&
              (isB ? p.b.columns : p.b.rows) == n &&
              p.a.batchCount == p.d.batchCount &&
              p.b.batchCount == p.d.batchCount;
  if (!fits)
    return Status::InvalidValue;
  return isSupported(p) ? Status::Success : Status::NotSupported;
}

bool exist(weft::cublaslt::Operation operation,
           std::initializer_list<Layout> layouts) {
  bool all = Objects::get().operations.contains(operation);
  for (Layout layout : layouts)
    all &= Objects::get().layouts.contains(layout);
  if (!all)
    fakeCudaReport("a descriptor of cuBLASLt that does not exist, or no more, "
                   "is used");
  return all;
}

/// The bytes from the first to the last element of all matrices of a batch.
uint64_t extentOf(const LayoutObject &its) {
  uint64_t last = uint64_t(its.batchCount - 1) * uint64_t(its.batchStride) +
                  (its.columns - 1) * uint64_t(its.leading) + its.rows;
  return last * bytesOf(its.type);
}

/// A call of cublasLtMatmul while it runs.
struct Product {
  Problem problem;
  Choice choice;
  double alpha, beta;
  cuda::Address at[3];
  bool isComplete = true;

  double operand(const LayoutObject &its, const uint8_t *bytes, int batch,
                 uint64_t row, uint64_t column) const {
    uint64_t element = uint64_t(batch) * uint64_t(its.batchStride) + row +
                       column * uint64_t(its.leading);
    double value = load(bytes + element * bytesOf(its.type), its.type);
    if (problem.operation.compute != Compute::Tf32)
      return value;
    auto bits =
        uint32_t(ptx::encodeFloat(value, 10, 8, ptx::Rounding::NearestEven));
    return double(std::bit_cast<float>(bits << 13));
  }
  double sum(const std::vector<uint8_t *> &bytes, int batch, uint64_t i,
             uint64_t j) const;
  double finish(double value, const uint8_t *bias, uint64_t row) const;
  void checkWritten(const LayoutObject &its, cuda::Address start,
                    const char *which) const;
  void run(const std::vector<uint8_t *> &bytes) const;
};

/// A step that visits all terms: start + n * step, modulo their number.
uint64_t stepOf(uint64_t terms, uint64_t chance) {
  uint64_t step = 1 + chance % terms;
  while (std::gcd(step, terms) != 1)
    ++step;
  return step;
}

/// Adds in double, or with FAKE_CUBLASLT_SEED in f32, in an order that depends
/// on the seed and the problem.
double Product::sum(const std::vector<uint8_t *> &bytes, int batch, uint64_t i,
                    uint64_t j) const {
  static const uint64_t seed = setting("FAKE_CUBLASLT_SEED");
  uint64_t chance = seed ? scramble(seed + choice.problem) : 0,
           terms = problem.terms(), start = chance >> 32,
           step = seed ? stepOf(terms, chance) : 1;
  bool isShort = seed && problem.operation.compute != Compute::F64;
  bool isA = problem.operation.transposeA == Transpose::No,
       isB = problem.operation.transposeB == Transpose::No;
  double sum = 0;
  for (uint64_t n = 0; n < terms; ++n) {
    uint64_t k = (start + n * step) % terms;
    sum += operand(problem.a, bytes[0], batch, isA ? i : k, isA ? k : i) *
           operand(problem.b, bytes[1], batch, isB ? k : j, isB ? j : k);
    if (isShort)
      sum = double(float(sum));
  }
  if (!choice.isInplace)
    return sum;
  static uint64_t calls = 0; // each element differs a little, as with atomics
  return sum * (1 + double(++calls % 5) * 0x1p-22);
}

double Product::finish(double value, const uint8_t *bias, uint64_t row) const {
  Epilogue epilogue = problem.operation.epilogue;
  if (problem.operation.compute != Compute::F64)
    value = double(float(value));
  if (hasBias(epilogue))
    value += load(bias + row * bytesOf(problem.d.type), problem.d.type);
  // Version 13.1.0 keeps NaN on an H100.
  static const bool losesNan = setting("FAKE_CUBLASLT_LOSES_NAN") != 0;
  if (int(epilogue) & int(Epilogue::Relu))
    value = value < 0 || (losesNan && std::isnan(value)) ? 0 : value;
  if (epilogue == Epilogue::GeluBias)
    value = 0.5 * value *
            (1 + std::tanh(std::sqrt(2 / M_PI) *
                           (value + 0.044715 * value * value * value)));
  return value;
}

void Product::checkWritten(const LayoutObject &its, cuda::Address start,
                           const char *which) const {
  for (int batch = 0; batch < its.batchCount; ++batch)
    for (uint64_t column = 0; column < its.columns; ++column) {
      uint64_t first = uint64_t(batch) * uint64_t(its.batchStride) +
                       column * uint64_t(its.leading);
      if (fakeCudaIsWritten(start + first * bytesOf(its.type),
                            its.rows * bytesOf(its.type)))
        continue;
      fakeCudaReport(std::string("cublasLtMatmul reads elements of ") + which +
                     " that nobody wrote");
      return;
    }
}

/// Runs the call. `bytes` are the matrices a, b and d, then the bias and the
/// workspace if there are any.
void Product::run(const std::vector<uint8_t *> &bytes) const {
  checkWritten(problem.a, at[0], "A");
  checkWritten(problem.b, at[1], "B");
  bool isBiased = hasBias(problem.operation.epilogue);
  if (choice.workspace)
    std::memset(bytes[isBiased ? 4 : 3], 0xA5, choice.workspace);
  const LayoutObject &d = problem.d;
  for (int batch = 0; batch < d.batchCount; ++batch)
    for (uint64_t j = 0; j < d.columns; ++j)
      for (uint64_t i = 0; i < d.rows; ++i) {
        uint8_t *to = bytes[2] + (uint64_t(batch) * uint64_t(d.batchStride) +
                                  i + j * uint64_t(d.leading)) *
                                     bytesOf(d.type);
        double value = alpha * sum(bytes, batch, i, j);
        if (beta != 0)
          value += beta * load(to, d.type);
        store(to, d.type, finish(value, isBiased ? bytes[3] : nullptr, i));
      }
}

/// Checks that each matrix has the alignment that the algorithm was promised.
void checkAlignment(const Choice &choice, const cuda::Address *at) {
  for (int n = 0; n < 3; ++n)
    if (uint32_t promised = choice.alignment[n == 2 ? 3 : n];
        at[n] % promised != 0)
      fakeCudaReport("cublasLtMatmul gets matrix " + std::to_string(n) +
                     " at an address that is no multiple of " +
                     std::to_string(promised) + ", as was promised");
}

} // namespace

/// Chooses an algorithm; long sums are split in parts, which the workspace
/// holds.
Status cublasLtMatmulAlgoGetHeuristic(Handle handle,
                                      weft::cublaslt::Operation operation,
                                      Layout a, Layout b, Layout c, Layout d,
                                      Preference preference, int wanted,
                                      Heuristic *found, int *count) {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  if (!Objects::get().handles.contains(handle) ||
      !exist(operation, {a, b, c, d}) || wanted < 1)
    return Status::InvalidValue;
  Problem problem{*operation, *a, *b, *d};
  if (Status status = check(problem); status != Status::Success)
    return status;
  constexpr uint64_t longSum = 100;
  Choice choice = {};
  choice.problem = numberOf(problem);
  uint64_t parts = 2 * problem.rows() * problem.columns() *
                   uint64_t(problem.d.batchCount) * 4;
  if (problem.terms() > longSum && parts <= preference->workspace &&
      (preference->schemes & kReduceInComputeType))
    choice.workspace = parts;
  std::memcpy(choice.alignment, preference->alignment, sizeof choice.alignment);
  choice.isInplace = (preference->schemes & kReduceInplace) != 0;
  *found = {};
  std::memcpy(&found->algorithm, &choice, sizeof choice);
  found->workspaceBytes = choice.workspace;
  *count = 1;
  return Status::Success;
}

Status cublasLtMatmul(Handle handle, weft::cublaslt::Operation operation,
                      const void *alpha, const void *a, Layout aLayout,
                      const void *b, Layout bLayout, const void *beta,
                      const void *c, Layout cLayout, void *d, Layout dLayout,
                      const Algorithm *algorithm, void *workspace,
                      size_t workspaceBytes, cuda::Stream stream) {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  if (!Objects::get().handles.contains(handle) ||
      !exist(operation, {aLayout, bLayout, cLayout, dLayout}))
    return Status::InvalidValue;
  if (handle->context != fakeCudaContext())
    fakeCudaReport("cublasLtMatmul with a handle of another context");
  auto product = std::make_shared<Product>();
  product->problem = {*operation, *aLayout, *bLayout, *dLayout};
  const Problem &problem = product->problem;
  if (Status status = check(problem); status != Status::Success)
    return status;
  Choice &choice = product->choice;
  std::memcpy(&choice, algorithm, sizeof choice);
  bool isBiased = hasBias(operation->epilogue);
  if (choice.problem != numberOf(problem) || c != d || cLayout != dLayout ||
      workspaceBytes < choice.workspace || (isBiased && !operation->bias))
    return Status::InvalidValue;
  Type scale = operation->scale;
  product->alpha = load(static_cast<const uint8_t *>(alpha), scale);
  product->beta = load(static_cast<const uint8_t *>(beta), scale);
  product->at[0] = cuda::Address(a);
  product->at[1] = cuda::Address(b);
  product->at[2] = cuda::Address(d);
  checkAlignment(choice, product->at);
  LibraryCall call{"cublasLtMatmul", {}, {}};
  call.touches = {{product->at[0], extentOf(problem.a), false},
                  {product->at[1], extentOf(problem.b), false},
                  {product->at[2], extentOf(problem.d), true}};
  if (isBiased)
    call.touches.push_back(
        {operation->bias, problem.rows() * bytesOf(problem.d.type), false});
  if (choice.workspace)
    call.touches.push_back({cuda::Address(workspace), choice.workspace, true});
  call.run = [product](const std::vector<uint8_t *> &bytes) {
    product->run(bytes);
  };
  return fakeCudaEnqueue(stream, call) == cuda::Result::Success
             ? Status::Success
             : Status::InvalidValue;
}
