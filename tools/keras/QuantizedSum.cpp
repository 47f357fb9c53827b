//===- QuantizedSum.cpp - a weight of integers plus its adapter -----------===//

#include "weft/tools/keras/QuantizedSum.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::keras {

float productOf(const Array &a, const Array &b, int64_t at) {
  int64_t columns = b.shape[1], rank = b.shape[0];
  float sum = 0;
  for (int64_t k = 0; k < rank; ++k)
    sum += float(a.at(at / columns * rank + k)) *
           float(b.at(k * columns + at % columns));
  return sum;
}

namespace {

/// The arrays of a quantized weight: integers, scales and zeros, if any.
class QuantizedSum {
public:
  /// `stored`: the arrays, and a and b of the adapter.
  QuantizedSum(std::vector<StoredArray> stored, const Adapter &adapter)
      : stored(std::move(stored)), adapter(adapter), form(*adapter.integers),
        count(*elementCount(form.shape)) {}

  weft::Result<Array> read(size_t which, const ArrayBlock &block) {
    if (arrays.empty())
      if (Status ready = quantize(); !ready)
        return ready.error();
    const Array &all = arrays[which];
    size_t width = byteWidth(all.type);
    Array out = Array::zeros(all.type, block.sizes);
    std::copy_n(all.bytes.begin() + ptrdiff_t(block.first * width),
                out.bytes.size(), out.bytes.begin());
    return out;
  }

private:
  Status quantize();
  /// The index of an element along the dimension that has groups.
  int64_t indexInGroups(int64_t at) const {
    for (size_t dim = form.shape.size(); --dim > size_t(form.groupDim);)
      at /= form.shape[dim];
    return at % form.shape[size_t(form.groupDim)];
  }
  /// The position of element `at` in memory, where two may share a byte.
  int64_t placeOf(int64_t at) const {
    int64_t last = form.shape.back();
    return form.bits == 8 ? at : at / last * (last + last % 2) + at % last;
  }
  int64_t scaleOf(int64_t at) const {
    int64_t out = 0;
    for (size_t dim = form.shape.size(); dim--;) {
      int64_t i = at % form.shape[dim];
      at /= form.shape[dim];
      out += (int64_t(dim) == form.groupDim ? i / form.group : i) *
             form.strides[dim];
    }
    return out;
  }
  int integerAt(int64_t at) const {
    int64_t place = placeOf(at);
    const auto *bytes = arrays[0].data<int8_t>();
    if (form.bits == 8)
      return bytes[place];
    return int8_t(bytes[place / 2] << (place % 2 ? 0 : 4)) >> 4;
  }
  void setInteger(int64_t at, float value) {
    int64_t place = placeOf(at);
    auto *bytes = arrays[0].data<int8_t>();
    int integer = int(value), half = integer & 15;
    if (form.bits == 8)
      bytes[place] = int8_t(integer);
    else
      bytes[place / 2] = int8_t(place % 2 ? (bytes[place / 2] & 15) | half << 4
                                          : (bytes[place / 2] & ~15) | half);
  }
  void quantizeFloats(const std::vector<float> &floats);

  std::vector<StoredArray> stored;
  Adapter adapter;
  IntegerForm form;
  int64_t count;
  std::vector<Array> arrays; ///< arrays of the sum
};

Status QuantizedSum::quantize() {
  std::vector<Array> read, factors;
  for (const StoredArray &array : stored) {
    weft::Result<Array> values = array.readByBlocks();
    if (!values)
      return values.error();
    read.push_back(std::move(*values));
  }
  factors.assign(read.end() - 2, read.end());
  arrays.assign(read.begin(), read.end() - 2);
  std::vector<float> sum(static_cast<size_t>(count));
  bool isSame = true;
  for (int64_t i = 0; i < count; ++i) {
    sum[size_t(i)] =
        float(adapter.scale) * productOf(factors[0], factors[1], i);
    isSame &= sum[size_t(i)] == 0;
  }
  if (isSame)
    return {};
  for (int64_t i = 0; i < count; ++i) {
    auto scale = float(arrays[1].at(scaleOf(i)));
    auto integer = float(integerAt(i));
    sum[size_t(i)] += arrays.size() < 3
                          ? integer / scale
                          : (integer - float(arrays[2].at(scaleOf(i)))) * scale;
  }
  quantizeFloats(sum);
  return {};
}

/// keras.quantizers.abs_max_quantize, or with zeros
/// abs_max_quantize_grouped_with_zero_point, whose last group is filled up with
/// zeros.
void QuantizedSum::quantizeFloats(const std::vector<float> &floats) {
  constexpr float epsilon = 1e-7f;
  bool hasZeros = arrays.size() > 2;
  float least = form.bits == 8 ? -127 : -8, most = form.bits == 8 ? 127 : 7;
  size_t scales = size_t(arrays[1].count());
  int64_t along = form.shape[size_t(form.groupDim)],
          filled = hasZeros && along % form.group ? along / form.group : along;
  std::vector<std::array<float, 2>> ends(scales, {INFINITY, -INFINITY});
  for (int64_t i = 0; i < count; ++i) {
    auto &[low, high] = ends[size_t(scaleOf(i))];
    float value = hasZeros ? floats[size_t(i)] : std::abs(floats[size_t(i)]);
    bool isInFilled = indexInGroups(i) / form.group >= filled;
    low = std::min({low, value, isInFilled ? 0.0f : INFINITY});
    high = std::max({high, value, isInFilled ? 0.0f : -INFINITY});
  }
  std::vector<float> scale(scales), zero(scales);
  for (size_t k = 0; k < scales; ++k) {
    auto [low, high] = ends[k];
    scale[k] = hasZeros ? (high - low + epsilon) / (most - least)
                        : most / (high + epsilon);
    if (hasZeros)
      zero[k] =
          std::clamp(std::nearbyint(-low / scale[k]) + least, least, most);
  }
  for (int64_t i = 0; i < count; ++i) {
    size_t k = size_t(scaleOf(i));
    float value = floats[size_t(i)];
    value = std::nearbyint(hasZeros ? value / scale[k] : value * scale[k]);
    value = std::clamp(value + zero[k], least, most);
    setInteger(i, std::isnan(value) ? 0 : value);
  }
  auto write = [](Array &to, const std::vector<float> &values) {
    Array all = Array::zeros(ElementType::Float32, to.shape);
    std::copy(values.begin(), values.end(), all.data<float>());
    to = convert(all, to.type);
  };
  write(arrays[1], scale);
  if (hasZeros)
    write(arrays[2], zero);
}

} // namespace

void quantizeAgain(StoredArray &weight, StoredArray &scales, StoredArray *zeros,
                   const StoredArray &a, const StoredArray &b,
                   const Adapter &adapter) {
  std::vector<StoredArray *> places = {&weight, &scales};
  if (zeros)
    places.push_back(zeros);
  std::vector<StoredArray> stored;
  for (const StoredArray *array : places)
    stored.push_back(*array);
  stored.insert(stored.end(), {a, b});
  auto sum = std::make_shared<QuantizedSum>(std::move(stored), adapter);
  for (size_t i = 0; i < places.size(); ++i)
    places[i]->readBlock = [sum, i](const ArrayBlock &block) {
      return sum->read(i, block);
    };
}

} // namespace weft::keras
