//===- Options.h - options that a config may hold ---------------*- C++ -*-===//
//
// A class of Keras is a C++ class whose members are its options with Keras'
// defaults. The class lists them once, in the order of Keras' constructor:
//
//   void Dropout::options(Options &o) {
//     o.number("rate", rate, kShare);
//     o.seed("seed", seed, rate > 0);
//     o.shape("noise_shape", noiseShape);
//   }
//
// The subclasses of Options use the list. OptionReader.h sets the members from
// JSON and refuses values that do not fit. OptionWriter.h writes them as JSON,
// and lists names, types and defaults for docs/keras.md.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_OPTIONS_H
#define WEFT_BASE_CONFIG_OPTIONS_H

#include "weft/base/Result.h"
#include "weft/base/config/Argument.h"
#include "weft/base/config/InnerGraph.h"
#include "weft/base/config/Policy.h"
#include "weft/base/config/Table.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft::keras {

/// The range of an option's numbers; a number outside is refused.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  const char *text = ""; ///< the limits in a message, after "it must"
};
inline constexpr Range kAnyNumber = {};
inline constexpr Range kPositive = {1, kAnyNumber.most, "be positive"};
inline constexpr Range kNotNegative = {0, kAnyNumber.most, "not be negative"};
inline constexpr Range kShare = {0, 1, "lie between 0 and 1"};

/// The numbers before and after each dimension.
using Sides = std::vector<std::array<int64_t, 2>>;

class Options {
public:
  virtual ~Options() = default;

  virtual void integer(const char *name, int64_t &value, Range range) = 0;
  virtual void number(const char *name, double &value, Range range) = 0;
  /// A positive integer, or a word that stands for a number.
  virtual void countOr(const char *name, int64_t &value,
                       std::vector<std::pair<const char *, int64_t>> words) = 0;
  /// An integer or null.
  virtual void maybeInteger(const char *name, std::optional<int64_t> &value,
                            Range range) = 0;
  virtual void maybeNumber(const char *name, std::optional<double> &value,
                           Range range) = 0;
  virtual void flag(const char *name, bool &value) = 0;
  /// One of several words.
  virtual void choice(const char *name, std::string &value,
                      std::vector<const char *> words) = 0;
  /// One of several words, or null.
  virtual void maybeChoice(const char *name, std::optional<std::string> &value,
                           std::vector<const char *> words) = 0;
  virtual void text(const char *name, std::string &value) = 0;
  /// The name of a file or folder that is written.
  virtual void file(const char *name, std::string &value) { text(name, value); }
  /// A list of texts.
  virtual void texts(const char *name, std::vector<std::string> &value) = 0;
  /// A list of `count` positive integers, written as a list, or as one integer
  /// if all are equal.
  virtual void sizes(const char *name, std::vector<int64_t> &value,
                     size_t count) = 0;
  /// A list of integers, or one integer; null leaves `value` as it is.
  virtual void axes(const char *name, std::vector<int64_t> &value) = 0;
  /// A list of sizes; null entries become -1.
  virtual void shape(const char *name, std::vector<int64_t> &value) = 0;
  /// A list of numbers, or one number.
  virtual void numbers(const char *name, std::vector<double> &value) = 0;
  /// An integer, `count` integers or `count` pairs of integers, none negative.
  virtual void sides(const char *name, Sides &value, size_t count) = 0;

  /// Any plain value; `otherwise` (JSON) if it is absent.
  virtual void argument(const char *name, Argument &value,
                        const char *otherwise) = 0;

  /// An object of a class of the table, given by name or with its config. Null
  /// is the table's `ofNull`, or else leaves `value` as it is.
  template <class T>
  void object(const char *name, std::shared_ptr<const T> &value,
              const Table<T> &table) {
    value = std::static_pointer_cast<const T>(
        anyObject(name, std::move(value), table));
  }

  /// An object of a class of `table`, which is set in `value`. If the file has
  /// the config of a class of `others`, it is set in `instead`.
  template <class T, class U>
  void objectOr(const char *name, std::shared_ptr<const T> &value,
                const Table<T> &table, std::shared_ptr<const U> &instead,
                const Table<U> &others) {
    std::shared_ptr<const Configured> object = instead;
    object = anyObject(name, instead ? object : value, table, &others);
    instead = std::dynamic_pointer_cast<const U>(object);
    if (!instead)
      value = std::static_pointer_cast<const T>(object);
  }

  /// A list of objects of classes of the table.
  template <class T>
  void objects(const char *name, std::vector<std::shared_ptr<const T>> &value,
               const Table<T> &table) {
    std::vector<std::shared_ptr<const Configured>> all(value.begin(),
                                                       value.end());
    value.clear();
    for (auto &object : anyObjects(name, std::move(all), table))
      value.push_back(std::static_pointer_cast<const T>(object));
  }

  /// A dictionary of objects of classes of the table.
  template <class T>
  void objectsByKey(
      const char *name,
      std::vector<std::pair<std::string, std::shared_ptr<const T>>> &value,
      const Table<T> &table) {
    std::vector<std::shared_ptr<const Configured>> all;
    std::vector<std::string> keys;
    for (auto &[key, object] : value) {
      keys.push_back(key);
      all.push_back(object);
    }
    all = anyObjectsByKey(name, keys, std::move(all), table);
    value.clear();
    for (size_t i = 0; i < all.size(); ++i)
      value.emplace_back(keys[i], std::static_pointer_cast<const T>(all[i]));
  }

  /// A number, or an object of a class of the table, which is set in `instead`.
  template <class T>
  void numberOr(const char *name, double &value,
                std::shared_ptr<const T> &instead, const Table<T> &table) {
    if (instead || isObject(name))
      object(name, instead, table);
    else
      number(name, value, kAnyNumber);
  }

  /// A plain value, or an object of a class of the table, which is set in
  /// `instead`.
  template <class T>
  void argumentOr(const char *name, Argument &value,
                  std::shared_ptr<const T> &instead, const Table<T> &table) {
    if (instead || isObject(name))
      object(name, instead, table);
    else
      argument(name, value, "null");
  }

  /// The seed, or null, of the random numbers that a layer's calls draw.
  /// Sets the generator, made by T::ofSeed, if the layer draws any (`isUsed`).
  template <class T>
  void seed(const char *name, std::shared_ptr<const T> &generator,
            bool isUsed) {
    generator = std::static_pointer_cast<const T>(
        anySeed(name, std::move(generator), isUsed, T::ofSeed));
  }

  /// The layers of a model, which are classes of the table, and their calls;
  /// those of a Sequential (`isChain`) are called one after the other.
  virtual void graph(InnerGraph &value, const AnyTable &table,
                     bool isChain) = 0;

  /// Refuses a config without the option.
  virtual void required(const char *) {}
  /// An option that is refused unless it is absent, null, false, 0 or
  /// `otherwise` (JSON). `what` names the feature: "low-rank adapters".
  virtual void refused(const char *name, const Message &what,
                       const char *otherwise = "null") = 0;
  /// An option that has no effect on Weft's results.
  virtual void ignored(const char *name, const char *why,
                       const char *otherwise = "null") = 0;

  /// The types of a layer's variables and of its computation.
  virtual void policy(const char *name, std::optional<Policy> &value) = 0;

  /// A rule between options, with the error if `isGood` is false.
  virtual void check(bool isGood, const Message &complaint) = 0;

protected:
  /// Whether the option's value in the config names a class.
  virtual bool isObject(const char *name) = 0;
  /// An object whose class is in one of the tables.
  virtual std::shared_ptr<const Configured>
  anyObject(const char *name, std::shared_ptr<const Configured> value,
            const AnyTable &table, const AnyTable *others = nullptr) = 0;
  virtual std::vector<std::shared_ptr<const Configured>>
  anyObjects(const char *name,
             std::vector<std::shared_ptr<const Configured>> value,
             const AnyTable &table) = 0;
  virtual std::vector<std::shared_ptr<const Configured>>
  anyObjectsByKey(const char *name, std::vector<std::string> &keys,
                  std::vector<std::shared_ptr<const Configured>> value,
                  const AnyTable &table) = 0;
  virtual std::shared_ptr<const Configured> anySeed(
      const char *name, std::shared_ptr<const Configured> generator,
      bool isUsed,
      std::shared_ptr<const Configured> (*ofSeed)(std::optional<int64_t>)) = 0;
};

/// The objects among the options, in order. Seeds are given by their
/// generators.
std::vector<std::shared_ptr<const Configured>>
objectsOf(const Configured &object);

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_OPTIONS_H
