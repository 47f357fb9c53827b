//===- Initializer.cpp - the initializers of Keras ------------------------===//

#include "weft/data/initializers/Initializer.h"

#include "weft/base/config/OptionReader.h"
#include "weft/data/arrays/Array.h"
#include "weft/data/initializers/Draws.h"
#include "weft/data/initializers/Orthonormal.h"

#include <cmath>

using namespace weft;
using namespace weft::keras;

namespace {

Error refusal(const Initializer &of, const Message &why) {
  return {"initializer " + of.className + ": " + why};
}

Draw filled(double value) {
  return [=](uint64_t, std::span<float> out) {
    std::fill(out.begin(), out.end(), float(value));
  };
}

template <int kValue> class Whole : public Initializer {
  Result<Draw> draw(const Drawn &) const override { return filled(kValue); }
};

class Constant : public Initializer {
  double value = 0;

  void options(Options &o) override { o.number("value", value, kAnyNumber); }
  Result<Draw> draw(const Drawn &) const override { return filled(value); }
};

class Identity : public Initializer {
  void options(Options &o) override {
    o.refused("gain", "Keras does not write it to files", "1.0");
  }
  Result<Draw> draw(const Drawn &array) const override {
    if (array.shape.size() != 2)
      return refusal(*this, "the shape is " + text(array.shape) +
                                ", but needs exactly two dimensions; use "
                                "another initializer");
    uint64_t diagonal = uint64_t(array.shape[1]) + 1;
    uint64_t last =
        uint64_t(std::min(array.shape[0], array.shape[1])) * diagonal;
    return Draw([=](uint64_t first, std::span<float> out) {
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = (first + i) % diagonal == 0 && first + i < last;
    });
  }
};

class RandomInitializer : public Initializer {
public:
  std::optional<int64_t> seed;

  void options(Options &o) override {
    o.maybeInteger("seed", seed, kAnyNumber);
  }
  bool drawsSeed() const override { return !seed; }
  std::optional<int64_t> ownSeed() const override { return seed; }
  Result<Draw> draw(const Drawn &array) const override {
    if (!seed && !array.seed)
      return refusal(*this, "has no seed; give one with " + Option{"seed"});
    uint32_t used = seed ? uint32_t(*seed) : *array.seed;
    return drawBy({ThreefryKey::ofSeed(used), array.type}, array);
  }
  virtual Result<Draw> drawBy(Draws, const Drawn &) const {
    return refusal(*this, "has no numbers");
  }
};

/// The two numbers {seed, 0}, which are no floats.
class SeedGenerator : public RandomInitializer {};

/// Draws values and scales them.
Draw truncated(Draws draws, double factor, double summand) {
  return [=](uint64_t first, std::span<float> out) {
    draws.truncatedNormal(out, -2, 2, first);
    draws.rescale(out, factor, summand);
  };
}
Draw normal(Draws draws, double factor, double summand) {
  return [=](uint64_t first, std::span<float> out) {
    draws.normal(out, first);
    draws.rescale(out, factor, summand);
  };
}
Draw uniform(Draws draws, double minimum, double maximum) {
  return [=](uint64_t first, std::span<float> out) {
    draws.uniform(out, minimum, maximum, first);
  };
}

class RandomUniform : public RandomInitializer {
  double minval = -0.05, maxval = 0.05;

  void options(Options &o) override {
    o.number("minval", minval, kAnyNumber);
    o.number("maxval", maxval, kAnyNumber);
    RandomInitializer::options(o);
  }
  Result<Draw> drawBy(Draws draws, const Drawn &) const override {
    return uniform(draws, minval, maxval);
  }
};

/// RandomNormal, and TruncatedNormal, which redraws numbers that are more than
/// two standard deviations from the mean.
template <Draw (*kDraw)(Draws, double, double)>
class Normal : public RandomInitializer {
  double mean = 0, stddev = 0.05;

  void options(Options &o) override {
    o.number("mean", mean, kAnyNumber);
    o.number("stddev", stddev, kAnyNumber);
    RandomInitializer::options(o);
  }
  Result<Draw> drawBy(Draws draws, const Drawn &) const override {
    return kDraw(draws, stddev, mean);
  }
};

/// GlorotUniform, HeNormal and so on, whose names imply scale, mode and
/// distribution.
class Scaling : public RandomInitializer {
public:
  Scaling(double scale, const char *mode, const char *distribution)
      : scale(scale), mode(mode), distribution(distribution) {}

  void options(Options &o) override {
    RandomInitializer::options(o);
    o.refused("input_axes", "fans of other axes");
    o.refused("output_axes", "fans of other axes");
  }

protected:
  double scale;
  std::string mode, distribution;

private:
  Result<Draw> drawBy(Draws draws, const Drawn &array) const override;
  Result<std::pair<double, double>> fans(const Drawn &array) const;
};

class VarianceScaling : public Scaling {
public:
  VarianceScaling() : Scaling(1, "fan_in", "truncated_normal") {}

private:
  void options(Options &o) override {
    o.number("scale", scale, kAnyNumber);
    o.check(scale > 0, "\"scale\" must be positive");
    o.choice("mode", mode, {"fan_in", "fan_out", "fan_avg"});
    o.choice("distribution", distribution,
             {"uniform", "truncated_normal", "normal", "untruncated_normal"});
    Scaling::options(o);
  }
};

/// Equals keras.src.initializers.random_initializers.compute_fans, unless the
/// array has axes.
Result<std::pair<double, double>> Scaling::fans(const Drawn &array) const {
  const std::vector<int64_t> &shape = array.shape;
  std::pair<double, double> out{1, 1};
  if (!array.inputAxes.empty() || !array.outputAxes.empty()) {
    for (auto [axes, product] : {std::pair(&array.inputAxes, &out.first),
                                 std::pair(&array.outputAxes, &out.second)})
      for (int64_t axis : *axes) {
        int64_t i = axis + (axis < 0 ? int64_t(shape.size()) : 0);
        if (i < 0 || i >= int64_t(shape.size()))
          return refusal(*this, "input_axes " + text(array.inputAxes) +
                                    ", output_axes " + text(array.outputAxes) +
                                    " exceed the shape " + text(shape) +
                                    "; name dimensions of the variable");
        *product *= double(shape[size_t(i)]);
      }
    return out;
  }
  if (shape.empty())
    return out;
  if (shape.size() == 1)
    return std::pair<double, double>{shape[0], shape[0]};
  double receptive = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    receptive *= double(shape[i]);
  return std::pair<double, double>{shape[shape.size() - 2] * receptive,
                                   shape.back() * receptive};
}

Result<Draw> Scaling::drawBy(Draws draws, const Drawn &array) const {
  Result<std::pair<double, double>> fan = fans(array);
  if (!fan)
    return fan.error();
  auto [in, out] = *fan;
  double each = mode == "fan_in"    ? in
                : mode == "fan_out" ? out
                                    : (in + out) / 2;
  double variance = scale / std::max(1.0, each);
  double limit = std::sqrt(3 * variance), deviation = std::sqrt(variance);
  if (distribution == "uniform")
    return uniform(draws, -limit, limit);
  if (distribution == "untruncated_normal")
    return normal(draws, deviation, 0);
  return truncated(draws, deviation / 0.87962566103423978, 0);
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
  return [=](uint64_t begins, std::span<float> out) {
    int64_t first = int64_t(begins), last = first + int64_t(out.size()) - 1;
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

class Orthogonal : public RandomInitializer {
  double gain = 1;

  void options(Options &o) override {
    o.number("gain", gain, kAnyNumber);
    RandomInitializer::options(o);
  }
  Result<Draw> drawBy(Draws draws, const Drawn &array) const override {
    if (array.shape.size() < 2)
      return refusal(*this, "the shape is " + text(array.shape) +
                                ", but needs two dimensions; use another "
                                "initializer");
    if (byteWidth(array.type) < byteWidth(ElementType::Float32))
      return refusal(*this, "JAX has no QR factorization of " +
                                std::string(name(array.type)) +
                                "; load the weights from a file (" +
                                Option{"weights"} +
                                "), or use another initializer");
    int64_t columns = array.shape.back(), rows = 1;
    for (size_t i = 0; i + 1 < array.shape.size(); ++i)
      rows *= array.shape[i];
    return orthonormal(draws, rows, columns, float(gain));
  }
};

/// Initializers that only programs have; their values are computed from those
/// of another initializer.
class Derived : public Initializer {
public:
  std::optional<int64_t> ownSeed() const override { return from->ownSeed(); }

  InitializerPtr from;

protected:
  explicit Derived(const char *key) : key(key) {}

private:
  void options(Options &o) override {
    o.required(key);
    o.object(key, from, initializerTable());
  }

  const char *key;
};

class UnitForgetBias : public Derived {
public:
  UnitForgetBias() : Derived("bias_initializer") {}
  bool seeded(const InitializerPtr &by) const override { return by == from; }
  Result<Draw> draw(const Drawn &array) const override {
    if (array.shape.size() != 1 || array.shape[0] % 4 != 0)
      return refusal(*this, "the shape is " + text(array.shape) +
                                ", but needs one dimension of four parts");
    int64_t units = array.shape[0] / 4;
    auto values = std::make_shared<std::vector<float>>(4 * units, 1.0f);
    for (auto [at, count] :
         {std::pair(int64_t(0), units), std::pair(2 * units, 2 * units)}) {
      Result<Draw> part = from->draw({{count}, array.type, array.seed});
      if (!part)
        return part;
      (*part)(0, std::span(*values).subspan(size_t(at), size_t(count)));
    }
    return Draw([values](uint64_t first, std::span<float> out) {
      std::copy_n(values->begin() + ptrdiff_t(first), out.size(), out.begin());
    });
  }
};

/// Has a seed of its own if the initializer draws one.
class SquareRoot : public Derived {
public:
  SquareRoot() : Derived("of") {}
  bool drawsSeed() const override { return from->drawsSeed(); }
  Result<Draw> draw(const Drawn &array) const override {
    Result<Draw> values = from->draw(array);
    if (!values)
      return values;
    return Draw([values = *values](uint64_t first, std::span<float> out) {
      values(first, out);
      for (float &element : out)
        element = std::sqrt(element);
    });
  }
};

TableRow scaling(const char *name, double scale, const char *mode,
                 const char *distribution) {
  return {name, [=]() -> std::shared_ptr<Configured> {
            return std::make_shared<Scaling>(scale, mode, distribution);
          }};
}

Json configOf(const Initializer &initializer) {
  return {{"class_name", initializer.className},
          {"config", Json::parse(initializer.config)}};
}

InitializerPtr made(const char *name, Json config) {
  Status status;
  auto out = readObject({{"class_name", name}, {"config", std::move(config)}},
                        variableInitializerTable(), name, status);
  return std::static_pointer_cast<const Initializer>(out);
}

/// Keeps the initializer itself, whose seed the result may share.
template <class T>
InitializerPtr derived(const char *name, const char *key,
                       const InitializerPtr &from) {
  auto out = std::make_shared<T>();
  out->className = name;
  Json config = Json::object();
  config[key] = configOf(*from);
  out->config = config.dump();
  out->from = from;
  return out;
}

} // namespace

const Table<Initializer> &weft::keras::initializerTable() {
  static const Table<Initializer> table = {
      {"initializer",
       "initializers",
       {row<Constant>("Constant"),
        scaling("GlorotNormal", 1, "fan_avg", "truncated_normal"),
        scaling("GlorotUniform", 1, "fan_avg", "uniform"),
        scaling("HeNormal", 2, "fan_in", "truncated_normal"),
        scaling("HeUniform", 2, "fan_in", "uniform"),
        row<Identity>("Identity", {"IdentityInitializer", "eye"}),
        scaling("LecunNormal", 1, "fan_in", "truncated_normal"),
        scaling("LecunUniform", 1, "fan_in", "uniform"),
        row<Whole<1>>("Ones", {"one"}),
        row<Orthogonal>("Orthogonal", {"OrthogonalInitializer"}),
        row<Normal<normal>>("RandomNormal", {"normal"}),
        row<RandomUniform>("RandomUniform", {"uniform"}),
        row<Normal<truncated>>("TruncatedNormal"),
        row<VarianceScaling>("VarianceScaling"),
        row<Whole<0>>("Zeros", {"zero"})}}};
  return table;
}

const Table<Initializer> &weft::keras::variableInitializerTable() {
  static const Table<Initializer> table = [] {
    Table<Initializer> all = initializerTable();
    all.rows.insert(all.rows.end(), {row<SeedGenerator>(kSeedGenerator),
                                     row<SquareRoot>("SquareRoot"),
                                     row<UnitForgetBias>("UnitForgetBias")});
    return all;
  }();
  return table;
}

std::shared_ptr<const Configured>
Initializer::ofSeed(std::optional<int64_t> given) {
  auto out = std::make_shared<SeedGenerator>();
  out->className = kSeedGenerator;
  out->seed = given;
  return out;
}

InitializerPtr
weft::keras::withUnitForgetBias(const InitializerPtr &initializer) {
  return derived<UnitForgetBias>("UnitForgetBias", "bias_initializer",
                                 initializer);
}

InitializerPtr weft::keras::squareRootOf(const InitializerPtr &initializer) {
  return derived<SquareRoot>("SquareRoot", "of", initializer);
}

InitializerPtr weft::keras::constant(double value) {
  return made("Constant", {{"value", value}});
}

InitializerPtr weft::keras::truncatedNormal(double stddev) {
  return made("TruncatedNormal", {{"stddev", stddev}});
}

InitializerPtr weft::keras::cloneOf(const InitializerPtr &initializer) {
  return made(initializer->className.c_str(), Json::parse(initializer->config));
}
