#include "weft/data/initializers/Initializers.h"

#include "weft/data/initializers/Draws.h"
#include "weft/data/initializers/Orthonormal.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft {

namespace {

using nlohmann::json;

/// Writes the elements of a block to `out`; each depends on its place alone.
using Draw = std::function<void(const ArrayBlock &block, std::span<float> out)>;

/// One call of an initializer.
struct Call {
  std::string className; ///< GlorotUniform
  json config;
  std::optional<uint32_t> seed;
  const Shape &shape;
  ElementType type; ///< type of the variable

  double number(const char *key, double otherwise) const {
    auto it = config.find(key);
    return it != config.end() && it->is_number() ? it->get<double>()
                                                 : otherwise;
  }
  std::string word(const char *key, const char *otherwise) const {
    auto it = config.find(key);
    return it != config.end() && it->is_string() ? it->get<std::string>()
                                                 : otherwise;
  }
  Draws draws() const { return {ThreefryKey::ofSeed(*seed), type}; }
};

std::string lower(std::string text) {
  for (char &c : text)
    c = c >= 'A' && c <= 'Z' ? c + 32 : c;
  std::erase(text, '_');
  return text;
}

/// Equals keras.src.initializers.random_initializers.compute_fans, unless the
/// config has input_axes and output_axes.
Result<std::pair<double, double>> fans(const Call &call) {
  const Shape &shape = call.shape;
  auto axesProduct = [&](const json &axes, double &out) {
    for (const json &axis : axes) {
      int64_t i = axis.is_number_integer() ? axis.get<int64_t>() : INT64_MAX;
      i += i < 0 ? int64_t(shape.size()) : 0;
      if (i < 0 || i >= int64_t(shape.size()))
        return false;
      out *= shape[i];
    }
    return true;
  };
  auto in = call.config.find("input_axes"),
       out = call.config.find("output_axes");
  if (in != call.config.end() && out != call.config.end() && in->is_array() &&
      out->is_array()) {
    std::pair<double, double> product{1, 1};
    if (!axesProduct(*in, product.first) || !axesProduct(*out, product.second))
      return Error{"initializer " + call.className + ": input_axes " +
                   in->dump() + ", output_axes " + out->dump() +
                   " exceed the shape " + text(shape) +
                   "; name dimensions of the variable"};
    return product;
  }
  if (shape.empty())
    return std::pair<double, double>{1, 1};
  if (shape.size() == 1)
    return std::pair<double, double>{shape[0], shape[0]};
  double receptive = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    receptive *= shape[i];
  return std::pair<double, double>{shape[shape.size() - 2] * receptive,
                                   shape.back() * receptive};
}

/// Draws values and scales them.
Draw truncatedNormal(Draws draws, double factor, double summand) {
  return [=](const ArrayBlock &block, std::span<float> out) {
    draws.truncatedNormal(out, -2, 2, block.first);
    draws.rescale(out, factor, summand);
  };
}
Draw normal(Draws draws, double factor, double summand) {
  return [=](const ArrayBlock &block, std::span<float> out) {
    draws.normal(out, block.first);
    draws.rescale(out, factor, summand);
  };
}
Draw uniform(Draws draws, double minimum, double maximum) {
  return [=](const ArrayBlock &block, std::span<float> out) {
    draws.uniform(out, minimum, maximum, block.first);
  };
}

Result<Draw> varianceScaling(const Call &call, double scale,
                             const std::string &mode,
                             const std::string &distribution) {
  Result<std::pair<double, double>> fan = fans(call);
  if (!fan)
    return fan.error();
  auto [in, out] = *fan;
  if (scale <= 0)
    return Error{"initializer " + call.className + ": scale is " +
                 std::to_string(scale) + ", but must be positive"};
  if (mode == "fan_in")
    scale /= std::max(1.0, in);
  else if (mode == "fan_out")
    scale /= std::max(1.0, out);
  else if (mode == "fan_avg")
    scale /= std::max(1.0, (in + out) / 2);
  else
    return Error{"initializer " + call.className + ": mode '" + mode +
                 "' is not known; use fan_in, fan_out or fan_avg"};
  double limit = std::sqrt(3 * scale), deviation = std::sqrt(scale);
  if (distribution == "uniform")
    return uniform(call.draws(), -limit, limit);
  if (distribution == "truncated_normal" || distribution == "normal")
    return truncatedNormal(call.draws(), deviation / 0.87962566103423978, 0);
  if (distribution == "untruncated_normal")
    return normal(call.draws(), deviation, 0);
  return Error{
      "initializer " + call.className + ": distribution '" + distribution +
      "' is not known; use uniform, truncated_normal or untruncated_normal"};
}

/// Copies elements of an array that is drawn as a whole.
Draw drawnAtOnce(std::vector<float> all) {
  auto array = std::make_shared<const std::vector<float>>(std::move(all));
  return [array](const ArrayBlock &block, std::span<float> out) {
    std::copy_n(array->begin() + ptrdiff_t(block.first), out.size(),
                out.begin());
  };
}

/// The Q of a matrix of normal draws, or its transpose if there are more
/// columns than rows.
Draw orthonormal(Draws draws, int64_t rows, int64_t columns, float gain) {
  bool isTall = rows >= columns;
  int64_t tall = std::max(rows, columns), narrow = std::min(rows, columns);
  auto q = std::make_shared<const Orthonormal>(
      tall, narrow, [=](int64_t first, std::span<float> out) {
        draws.normal(out, uint64_t(first * narrow));
      });
  return [=](const ArrayBlock &block, std::span<float> out) {
    int64_t first = int64_t(block.first), last = first + block.count - 1;
    int64_t from = first / columns,
            to = last / columns + 1; // rows of the block
    constexpr int64_t kPanel = Orthonormal::kPanel;
    std::vector<double> panel;
    auto take = [&](int64_t row, int64_t count, int64_t column, int64_t wide) {
      panel.resize(size_t(count * wide));
      q->block(row, count, column, wide, panel);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < wide; ++j) {
          int64_t place = isTall ? (row + i) * columns + column + j
                                 : (column + j) * columns + row + i;
          if (place >= first && place <= last)
            out[size_t(place - first)] =
                gain * float(panel[size_t(i * wide + j)]);
        }
    };
    int64_t begin = isTall ? from : 0, end = isTall ? to : tall;
    for (int64_t row = begin; row < end; row += kPanel)
      take(row, std::min(kPanel, end - row), isTall ? 0 : from,
           isTall ? narrow : to - from);
  };
}

Result<Draw> orthogonal(const Call &call) {
  if (call.shape.size() < 2)
    return Error{"initializer Orthogonal: the shape is " + text(call.shape) +
                 ", but needs two dimensions; use another initializer"};
  if (byteWidth(call.type) < byteWidth(ElementType::Float32))
    return Error{"initializer Orthogonal: JAX has no QR factorization of " +
                 std::string(name(call.type)) +
                 "; load the weights from a file (" + Option{"weights"} +
                 "), or use another initializer"};
  int64_t columns = call.shape.back(), rows = 1;
  for (size_t i = 0; i + 1 < call.shape.size(); ++i)
    rows *= call.shape[i];
  return orthonormal(call.draws(), rows, columns,
                     float(call.number("gain", 1)));
}

Result<Draw> identity(const Call &call) {
  if (call.shape.size() != 2)
    return Error{"initializer Identity: the shape is " + text(call.shape) +
                 ", but needs exactly two dimensions; use another initializer"};
  uint64_t diagonal = uint64_t(call.shape[1]) + 1;
  uint64_t last = uint64_t(std::min(call.shape[0], call.shape[1])) * diagonal;
  float gain = float(call.number("gain", 1));
  return Draw([=](const ArrayBlock &block, std::span<float> out) {
    for (size_t i = 0; i < out.size(); ++i) {
      uint64_t place = block.first + i;
      out[i] = place % diagonal == 0 && place < last ? gain : 0;
    }
  });
}

Draw plainRandom(const Call &call, const std::string &kind) {
  if (kind == "randomuniform")
    return uniform(call.draws(), call.number("minval", -0.05),
                   call.number("maxval", 0.05));
  double deviation = call.number("stddev", 0.05), mean = call.number("mean", 0);
  return kind == "truncatednormal"
             ? truncatedNormal(call.draws(), deviation, mean)
             : normal(call.draws(), deviation, mean);
}

struct Scaling {
  const char *kind;
  double scale;
  const char *mode, *distribution;
};
constexpr Scaling scalings[] = {
    {"glorotuniform", 1, "fan_avg", "uniform"},
    {"glorotnormal", 1, "fan_avg", "truncated_normal"},
    {"heuniform", 2, "fan_in", "uniform"},
    {"henormal", 2, "fan_in", "truncated_normal"},
    {"lecununiform", 1, "fan_in", "uniform"},
    {"lecunnormal", 1, "fan_in", "truncated_normal"},
};

Draw constant(double value) {
  return [=](const ArrayBlock &, std::span<float> out) {
    std::fill(out.begin(), out.end(), float(value));
  };
}

/// The bias of an LSTM: ones in the second quarter, values of another
/// initializer in the others.
Result<Draw> unitForgetBias(const Call &call) {
  auto others = call.config.find("bias_initializer");
  if (call.shape.size() != 1 || call.shape[0] % 4 != 0 ||
      others == call.config.end())
    return Error{"initializer UnitForgetBias: the shape is " +
                 text(call.shape) +
                 ", but needs one dimension of four parts, and a "
                 "\"bias_initializer\" for the other parts"};
  int64_t units = call.shape[0] / 4;
  Result<Array> first =
      initialize(others->dump(), call.seed, {units}, call.type);
  Result<Array> last =
      initialize(others->dump(), call.seed, {2 * units}, call.type);
  if (!first || !last)
    return first ? last.error() : first.error();
  std::vector<float> values(size_t(4 * units), 1.0f);
  std::copy_n(first->data<float>(), units, values.begin());
  std::copy_n(last->data<float>(), 2 * units, values.begin() + 2 * units);
  return drawnAtOnce(std::move(values));
}

Result<Draw> drawOf(std::string_view text, std::optional<uint32_t> seed,
                    const Shape &shape, ElementType type);

/// The square roots of another initializer's values.
Result<Draw> squareRoot(const Call &call) {
  auto of = call.config.find("of");
  if (of == call.config.end())
    return Error{"initializer SquareRoot: has no \"of\", the initializer whose "
                 "values it takes"};
  Result<Draw> values = drawOf(of->dump(), call.seed, call.shape, call.type);
  if (!values)
    return values;
  return Draw(
      [values = *values](const ArrayBlock &block, std::span<float> out) {
        values(block, out);
        for (float &element : out)
          element = std::sqrt(element);
      });
}

Result<Draw> run(const Call &call) {
  std::string kind = lower(call.className);
  if (kind == "zeros")
    return constant(0);
  if (kind == "ones")
    return constant(1);
  if (kind == "constant")
    return constant(call.number("value", 0));
  if (kind == "identity" || kind == "identityinitializer")
    return identity(call);
  if (kind == "unitforgetbias")
    return unitForgetBias(call);
  if (kind == "squareroot")
    return squareRoot(call);
  std::string known =
      "Zeros, Ones, Constant, Identity, RandomNormal, RandomUniform, "
      "TruncatedNormal, VarianceScaling, Orthogonal, GlorotUniform, "
      "GlorotNormal, HeNormal, HeUniform, LecunNormal, LecunUniform";
  bool scaling = std::any_of(std::begin(scalings), std::end(scalings),
                             [&](const Scaling &s) { return kind == s.kind; });
  bool plain = kind == "randomuniform" || kind == "randomnormal" ||
               kind == "truncatednormal";
  bool ortho = kind == "orthogonal" || kind == "orthogonalinitializer";
  if (!scaling && !plain && !ortho && kind != "variancescaling")
    return Error{"initializer '" + call.className +
                 "' is not known; use one of " + known};
  if (!call.seed)
    return Error{"initializer " + call.className +
                 ": has no seed; give one with " + Option{"seed"}};
  if (plain)
    return plainRandom(call, kind);
  if (ortho)
    return orthogonal(call);
  for (const Scaling &s : scalings)
    if (kind == s.kind)
      return varianceScaling(call, s.scale, s.mode, s.distribution);
  return varianceScaling(call, call.number("scale", 1),
                         call.word("mode", "fan_in"),
                         lower(call.word("distribution", "truncated_normal")) ==
                                 "untruncatednormal"
                             ? "untruncated_normal"
                             : call.word("distribution", "truncated_normal"));
}

Result<Draw> drawOf(std::string_view text, std::optional<uint32_t> seed,
                    const Shape &shape, ElementType type) {
  json spec = json::parse(text, nullptr, /*allow_exceptions=*/false);
  Call call{"", json::object(), seed, shape, type};
  if (spec.is_string()) {
    call.className = spec.get<std::string>();
  } else if (spec.is_object() && spec.contains("class_name") &&
             spec["class_name"].is_string()) {
    call.className = spec["class_name"].get<std::string>();
    if (spec.contains("config") && spec["config"].is_object())
      call.config = spec["config"];
  } else {
    return Error{"initializer " + std::string(text.substr(0, 80)) +
                 " is neither a name nor an object with class_name and config"};
  }
  auto own = call.config.find("seed");
  if (own != call.config.end() && own->is_number_integer())
    call.seed = uint32_t(own->get<int64_t>());
  if (!elementCount(shape))
    return Error{"initializer " + call.className + ": the shape " +
                 weft::text(shape) + " is too large"};
  return run(call);
}

} // namespace

Result<StoredArray> initialArray(std::string_view json,
                                 std::optional<uint32_t> seed,
                                 const Shape &shape, ElementType type) {
  Result<Draw> draw = drawOf(json, seed, shape, type);
  if (!draw)
    return draw.error();
  return StoredArray{
      "", ElementType::Float32, shape, [draw = *draw](const ArrayBlock &block) {
        Array values = Array::zeros(ElementType::Float32, block.sizes);
        draw(block, {values.data<float>(), size_t(block.count)});
        return Result<Array>(std::move(values));
      }};
}

Result<Array> initialize(std::string_view json, std::optional<uint32_t> seed,
                         const Shape &shape, ElementType type) {
  Result<StoredArray> array = initialArray(json, seed, shape, type);
  return array ? array->read() : array.error();
}

} // namespace weft
