#include "weft/training/DataScan.h"

#include "weft/base/Hash.h"

#include <algorithm>
#include <numeric>

namespace weft {

static constexpr size_t kPiece = size_t(4) << 20;

namespace {
/// The least and the greatest numbers, sixteen at a time, and the number of
/// NaN, which comparisons skip.
template <typename T> struct Extremes {
  static constexpr int lanes = 16;
  T low[lanes], high[lanes];
  int64_t missing = 0;

  void add(const T *values, int64_t count) {
    int64_t whole = count / lanes * lanes;
    for (int64_t i = 0; i < whole; i += lanes)
      for (int lane = 0; lane < lanes; ++lane)
        addOne(values[i + lane], lane);
    for (int64_t i = whole; i < count; ++i)
      addOne(values[i], 0);
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t i = 0; i < count; ++i)
        missing += values[i] != values[i];
  }
  void addOne(T value, int lane) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
  }
};
} // namespace

template <typename T>
static void addExtremes(DataScan &seen, const T *values, int64_t count) {
  using Limits = std::numeric_limits<T>;
  constexpr T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr T least =
      Limits::has_infinity ? -Limits::infinity() : Limits::min();
  Extremes<T> extremes;
  std::fill_n(extremes.low, Extremes<T>::lanes, most);
  std::fill_n(extremes.high, Extremes<T>::lanes, least);
  extremes.add(values, count);
  seen.missing += extremes.missing;
  if (extremes.missing == count)
    return;
  seen.low =
      std::min(seen.low,
               double(*std::min_element(extremes.low, std::end(extremes.low))));
  seen.high = std::max(seen.high, double(*std::max_element(
                                      extremes.high, std::end(extremes.high))));
}

/// Adds values of a type without a loop of its own, converted to float64.
static void addConverted(DataScan &seen, ElementType type,
                         const uint8_t *values, int64_t count) {
  std::vector<double> wide(static_cast<size_t>(count));
  convertElements(type, values, ElementType::Float64, wide.data(), count);
  addExtremes(seen, wide.data(), count);
  if (componentType(type) != type) // an imaginary part may be NaN, too
    seen.missing = seen.missing -
                   std::count_if(wide.begin(), wide.end(),
                                 [](double v) { return v != v; }) +
                   countNaN(type, values, count);
}

static void addPiece(DataScan &seen, ElementType type, const uint8_t *values,
                     int64_t count) {
  switch (type) {
  case ElementType::Float32:
    return addExtremes(seen, reinterpret_cast<const float *>(values), count);
  case ElementType::Float64:
    return addExtremes(seen, reinterpret_cast<const double *>(values), count);
  case ElementType::UInt8:
    return addExtremes(seen, values, count);
  case ElementType::Int32:
    return addExtremes(seen, reinterpret_cast<const int32_t *>(values), count);
  default:
    return addConverted(seen, type, values, count);
  }
}

/// Adds a piece of labels, which are to be 0, 1, ... classes - 1.
static void addLabels(DataScan &seen, ElementType type, const uint8_t *values,
                      int64_t count, int64_t classes) {
  std::vector<double> wide(static_cast<size_t>(count));
  convertElements(type, values, ElementType::Float64, wide.data(), count);
  seen.outside += std::count_if(wide.begin(), wide.end(), [&](double label) {
    return !(label >= 0 && label < double(classes));
  });
  seen.fractional += std::count_if(wide.begin(), wide.end(), [](double label) {
    return std::isfinite(label) && label != std::trunc(label);
  });
}

Result<DataScan> scan(const RowSource &rows, int64_t classes) {
  DataScan seen;
  if (std::optional<uint64_t> identity = rows.identity()) {
    seen.hash = *identity;
    return seen;
  }
  size_t row = rows.rowBytes();
  // The pieces are the same wherever rows are stored, so that hashes are, too.
  int64_t step =
      std::max<int64_t>(1, int64_t(kPiece / std::max<size_t>(row, 1)));
  std::vector<uint8_t> piece;
  std::vector<int64_t> indices;
  for (int64_t begin = 0; begin < rows.rows(); begin += step) {
    int64_t end = std::min(rows.rows(), begin + step);
    int64_t count = (end - begin) * rows.rowCount();
    const uint8_t *values = rows.inMemory();
    if (values) {
      values += size_t(begin) * row;
    } else {
      indices.resize(size_t(end - begin));
      std::iota(indices.begin(), indices.end(), begin);
      piece.resize(indices.size() * row);
      if (Status ok = rows.read(indices, piece.data()); !ok)
        return ok.error();
      values = piece.data();
    }
    addPiece(seen, rows.type(), values, count);
    if (classes)
      addLabels(seen, rows.type(), values, count, classes);
    seen.values += count;
    seen.hash = seen.hash * 31 + hashBytes(values, size_t(end - begin) * row);
  }
  return seen;
}

} // namespace weft
