//===- InitializerTable.cpp - the initializers of Keras -------------------===//
//
// Each class reads one kind of config of the constructors in
// keras.initializers.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/initializers/Initializer.h"

#include <iomanip>
#include <sstream>

using namespace weft::keras;

namespace {

class Constant : public Initializer {
  double value = 0;
  void options(Options &o) override { o.number("value", value, kAnyNumber); }
};

class Identity : public Initializer {
  void options(Options &o) override {
    o.refused("gain", "Keras does not write it to files", "1.0");
  }
};

/// GlorotUniform, HeNormal and so on, whose names imply scale, mode and
/// distribution.
class NamedScaling : public RandomInitializer {
public:
  void options(Options &o) override {
    RandomInitializer::options(o);
    o.refused("input_axes", "fans of other axes");
    o.refused("output_axes", "fans of other axes");
  }
};

class VarianceScaling : public NamedScaling {
  double scale = 1;
  std::string mode = "fan_in", distribution = "truncated_normal";

  void options(Options &o) override {
    o.number("scale", scale, kAnyNumber);
    o.check(scale > 0, "\"scale\" must be positive");
    o.choice("mode", mode, {"fan_in", "fan_out", "fan_avg"});
    o.choice("distribution", distribution,
             {"uniform", "truncated_normal", "normal", "untruncated_normal"});
    NamedScaling::options(o);
  }
};

class RandomUniform : public RandomInitializer {
  double minval = -0.05, maxval = 0.05;
  void options(Options &o) override {
    o.number("minval", minval, kAnyNumber);
    o.number("maxval", maxval, kAnyNumber);
    RandomInitializer::options(o);
  }
};

/// RandomNormal, and TruncatedNormal, which redraws numbers that are more than
/// two standard deviations from the mean.
class Normal : public RandomInitializer {
  double mean = 0, stddev = 0.05;
  void options(Options &o) override {
    o.number("mean", mean, kAnyNumber);
    o.number("stddev", stddev, kAnyNumber);
    RandomInitializer::options(o);
  }
};

class Orthogonal : public RandomInitializer {
  double gain = 1;
  void options(Options &o) override {
    o.number("gain", gain, kAnyNumber);
    RandomInitializer::options(o);
  }
};

} // namespace

const Table<Initializer> &weft::keras::initializerTable() {
  static const Table<Initializer> table = {
      {"initializer",
       "initializers",
       {row<Constant>("Constant"), row<NamedScaling>("GlorotNormal"),
        row<NamedScaling>("GlorotUniform"), row<NamedScaling>("HeNormal"),
        row<NamedScaling>("HeUniform"),
        row<Identity>("Identity", {"IdentityInitializer", "eye"}),
        row<NamedScaling>("LecunNormal"), row<NamedScaling>("LecunUniform"),
        row<Initializer>("Ones", {"one"}),
        row<Orthogonal>("Orthogonal", {"OrthogonalInitializer"}),
        row<Normal>("RandomNormal", {"normal"}),
        row<RandomUniform>("RandomUniform", {"uniform"}),
        row<Normal>("TruncatedNormal"), row<VarianceScaling>("VarianceScaling"),
        row<Initializer>("Zeros", {"zero"})}}};
  return table;
}

std::shared_ptr<const Configured>
Initializer::ofSeed(std::optional<int64_t> given) {
  auto out = std::make_shared<RandomInitializer>();
  out->className = kSeedGenerator;
  out->seed = given;
  return out;
}

namespace {
/// Initializers that only the runtime has; their values are computed from those
/// of another initializer.
class Derived : public Initializer {
public:
  Derived(const char *name, const char *key, const InitializerPtr &from)
      : from(from) {
    className = name;
    config = std::string("{\"") + key + "\": {\"class_name\": \"" +
             from->className + "\", \"config\": " + from->config + "}}";
  }
  bool seeded(const InitializerPtr &by) const override { return by == from; }
  std::optional<int64_t> ownSeed() const override { return from->ownSeed(); }

private:
  InitializerPtr from;
};

/// The square roots of another initializer's values, with a seed of its own if
/// that initializer draws one.
class SquareRoot : public Derived {
public:
  explicit SquareRoot(const InitializerPtr &of)
      : Derived("SquareRoot", "of", of), isRandom(of->drawsSeed()) {}
  bool seeded(const InitializerPtr &by) const override {
    return by.get() == this;
  }
  bool drawsSeed() const override { return isRandom; }

private:
  bool isRandom;
};
} // namespace

InitializerPtr
weft::keras::withUnitForgetBias(const InitializerPtr &initializer) {
  return std::make_shared<Derived>("UnitForgetBias", "bias_initializer",
                                   initializer);
}

InitializerPtr weft::keras::squareRootOf(const InitializerPtr &initializer) {
  return std::make_shared<SquareRoot>(initializer);
}

/// An initializer whose config sets one number; the other options are defaults.
static InitializerPtr withNumber(const char *name, const char *key,
                                 double value) {
  auto out = AnyTable::make(*initializerTable().find(name));
  std::stringstream text;
  text << std::setprecision(17) << value;
  out->config = std::string("{\"") + key + "\": " + text.str() + "}";
  return std::static_pointer_cast<const Initializer>(out);
}

InitializerPtr weft::keras::constant(double value) {
  return withNumber("Constant", "value", value);
}

InitializerPtr weft::keras::truncatedNormal(double stddev) {
  return withNumber("TruncatedNormal", "stddev", stddev);
}

InitializerPtr weft::keras::cloneOf(const InitializerPtr &initializer) {
  // The clone is made from the class' row, without members except the seed; the
  // runtime reads the others from the config.
  const TableRow *row = initializerTable().find(initializer->className);
  std::shared_ptr<Configured> clone = AnyTable::make(*row);
  clone->config = initializer->config;
  if (auto *random = dynamic_cast<RandomInitializer *>(clone.get()))
    random->seed = initializer->ownSeed();
  return std::static_pointer_cast<const Initializer>(clone);
}
