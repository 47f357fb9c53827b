#include "weft/data/images/ResizeImage.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace weft {

namespace {

/// A part [begin, begin + size) of a side of an image.
struct Span {
  int64_t begin, size;
};

/// The pixels that make up an output pixel.
struct Taps {
  int64_t first;
  std::vector<float> weights;
};

/// Keys' cubic convolution kernel with a = -1/2.
float cubic(float x) {
  if (x >= 2)
    return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2
                : (1.5f * x - 2.5f) * x * x + 1;
}

float lanczos(float x, float radius) {
  const auto pi = float(M_PI);
  if (x > radius)
    return 0;
  return x > 1e-3f ? radius * std::sin(pi * x) * std::sin(pi * x / radius) /
                         (pi * pi * x * x)
                   : 1;
}

float weightAt(Interpolation interpolation, float x) {
  switch (interpolation) {
  case Interpolation::Bicubic:
    return cubic(x);
  case Interpolation::Lanczos3:
    return lanczos(x, 3);
  case Interpolation::Lanczos5:
    return lanczos(x, 5);
  default:
    return std::max(0.0f, 1 - x);
  }
}

int64_t radiusOf(Interpolation interpolation) {
  switch (interpolation) {
  case Interpolation::Bicubic:
    return 2;
  case Interpolation::Lanczos3:
    return 3;
  case Interpolation::Lanczos5:
    return 5;
  default:
    return 1;
  }
}

/// The taps of output pixel `index` along a side.
Taps tapsOf(Interpolation interpolation, Span from, int64_t out,
            int64_t index) {
  float scale = float(from.size) / float(out);
  if (interpolation == Interpolation::Nearest) {
    auto at = int64_t(std::floor((float(index) + 0.5f) * scale));
    return {from.begin + std::clamp<int64_t>(at, 0, from.size - 1), {1}};
  }
  float place = (float(index) + 0.5f) * scale - 0.5f;
  int64_t radius = radiusOf(interpolation), centre = int64_t(std::floor(place));
  int64_t first = std::max<int64_t>(0, centre - radius),
          last = std::min(from.size - 1, centre + radius + 1);
  Taps taps{from.begin + first, {}};
  float sum = 0;
  for (int64_t i = first; i <= last; ++i) {
    taps.weights.push_back(
        weightAt(interpolation, std::fabs(place - float(i))));
    sum += taps.weights.back();
  }
  for (float &weight : taps.weights)
    weight = sum != 0 ? weight / sum : 0;
  return taps;
}

std::vector<Taps> tapsOf(Interpolation interpolation, Span from, int64_t out) {
  std::vector<Taps> all;
  for (int64_t i = 0; i < out; ++i)
    all.push_back(tapsOf(interpolation, from, out, i));
  return all;
}

/// The largest centred part with the ratio of the output (Keras' smart_resize).
std::pair<Span, Span> cropped(int64_t height, int64_t width, int64_t outHeight,
                              int64_t outWidth) {
  auto most = [](int64_t a, int64_t b, int64_t c, int64_t limit) {
    return std::max<int64_t>(
        1, std::min(limit, int64_t(double(a * b) / double(c))));
  };
  int64_t high = most(width, outHeight, outWidth, height),
          wide = most(height, outWidth, outHeight, width);
  return {{(height - high) / 2, high}, {(width - wide) / 2, wide}};
}

} // namespace

std::vector<float> resizeImage(const Image &image, int64_t height,
                               int64_t width, const ImageOptions &options) {
  Span rows{0, image.height}, columns{0, image.width};
  if (options.cropToAspectRatio)
    std::tie(rows, columns) = cropped(image.height, image.width, height, width);
  Interpolation kind = options.interpolation.value_or(Interpolation::Bilinear);
  std::vector<Taps> down = tapsOf(kind, rows, height),
                    across = tapsOf(kind, columns, width);
  int64_t channels = image.channels, inRow = image.width * channels;
  std::vector<float> out(size_t(height * width * channels)),
      line(static_cast<size_t>(inRow));
  for (int64_t y = 0; y < height; ++y) {
    std::fill(line.begin(), line.end(), 0.0f);
    const uint8_t *row = image.pixels.data() + down[size_t(y)].first * inRow;
    for (float weight : down[size_t(y)].weights) {
      for (int64_t i = 0; i < inRow; ++i)
        line[size_t(i)] += weight * float(row[i]);
      row += inRow;
    }
    float *to = out.data() + y * width * channels;
    for (int64_t x = 0; x < width; ++x, to += channels) {
      const float *from = line.data() + across[size_t(x)].first * channels;
      for (float weight : across[size_t(x)].weights)
        for (int64_t c = 0; c < channels; ++c)
          to[c] += weight * *from++;
    }
  }
  return out;
}

} // namespace weft
