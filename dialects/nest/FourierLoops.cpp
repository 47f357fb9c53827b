//===- FourierLoops.cpp - lines of a Fourier transform --------------------===//

#include "weft/dialects/nest/FourierLoops.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft::nest {

std::optional<SmallVector<int64_t>> fftRadices(int64_t n) {
  SmallVector<int64_t> radices;
  // Four factors of two are 4 * 4 rather than 8 * 2.
  auto isNext = [&](int64_t radix) {
    bool leavesTwo = radix == 8 && n % 16 == 0 && n % 32 != 0;
    return n % radix == 0 && !leavesTwo;
  };
  for (int64_t radix : {8, 4, 13, 11, 7, 5, 3, 2})
    for (; isNext(radix); n /= radix)
      radices.push_back(radix);
  if (n != 1)
    return std::nullopt;
  return radices;
}

/// The length of the transforms that compute a transform of length n: n, or a
/// power of two if n has a larger prime factor.
static int64_t transformedLength(int64_t n) {
  return fftRadices(n) ? n : int64_t(llvm::NextPowerOf2(2 * n - 2));
}

/// The rows of the matrix as which a line is transformed, which lanes divide as
/// they divide the columns: as many as columns, or fewer; 0 for a short line.
static int64_t rowsOf(int64_t size, int64_t lanes) {
  constexpr int64_t kLongLine = 512;
  if (size < kLongLine || size % (lanes * lanes) != 0)
    return 0;
  int64_t rows = lanes;
  for (int64_t more = lanes; more * more <= size; more += lanes)
    if (size % (more * lanes) == 0)
      rows = more;
  return rows;
}

/// The lines of a group: as many as a cache line has numbers, where there are
/// enough lines and they fit a cache. Adjacent lines that can be matrices fit the
/// first cache, too: one of them is then transformed at once.
static int64_t lanesOf(const FourierForm &form, int64_t bytes) {
  constexpr int64_t kFewestLines = 4, kMostBytes = 4 << 20,
                    kMostBytesOfMatrices = 1 << 16;
  int64_t lanes = 64 / bytes;
  bool areMatrices = form.inner == 1 && rowsOf(form.size, lanes) > 0;
  int64_t most = areMatrices ? kMostBytesOfMatrices : kMostBytes;
  bool fits = form.numbers <= most / (2 * 2 * bytes * lanes);
  return form.lines() >= kFewestLines && fits ? lanes : 1;
}

FourierForm fourierForm(FftOp op) {
  int64_t n = op.getLength();
  ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape();
  bool isReal = op.getKind() == FftKind::RFFT || op.getKind() == FftKind::IRFFT;
  FourierForm form;
  form.isPaired = isReal && n % 2 == 0;
  form.length = form.isPaired ? n / 2 : n;
  form.size = transformedLength(form.length);
  form.outer = llvm::product_of(shape.take_front(op.getDim()));
  form.inner = llvm::product_of(shape.drop_front(op.getDim() + 1));
  form.arrays = form.size == form.length || form.size <= kMostFftTable ? 2 : 3;
  form.numbers = std::max(form.size, form.length + (form.isPaired ? 1 : 0));
  int64_t bytes =
      bytesOf(componentType(typeOf(op.getInput()).getElementType()));
  form.lanes = lanesOf(form, bytes);
  form.rows = form.lanes > 1 ? 0 : rowsOf(form.size, 64 / bytes);
  form.groups = form.isAlongInner()
                    ? form.outer * llvm::divideCeil(form.inner, form.lanes)
                    : llvm::divideCeil(form.lines(), form.lanes);
  return form;
}

OwnLoops fourierLoops(FftOp op) {
  FourierForm form = fourierForm(op);
  OwnLoops loops;
  int64_t bytes =
      bytesOf(componentType(typeOf(op.getInput()).getElementType()));
  loops.independent.push_back({0, form.groups});
  // A lane takes about as long as an element for four steps of a line.
  int64_t steps = llvm::Log2_64_Ceil(form.size) + 4;
  loops.work = saturatingMultiply(
      saturatingMultiply(form.lines(), form.size),
      form.lanes > 1 || form.rows > 0 ? llvm::divideCeil(steps, 4) : steps);
  loops.workingBytes =
      form.arrays * llvm::alignTo(2 * bytes * form.numbers * form.lanes, 64);
  if (form.rows > 0) // Two arrays of lanes, a cache line for each part.
    loops.workingBytes += 2 * 2 * 64 * form.columns();
  return loops;
}

} // namespace weft::nest
