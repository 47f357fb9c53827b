//===- Table.h - classes by name ---------------------------------*- C++ -*-===//
//
// A table lists the classes of one kind of object that a file can name:
//
//   const Table<Regularizer> kTable = {{"regularizer", "regularizers", {
//       row<L1>("L1"), row<L2>("L2"), row<L1L2>("L1L2", {"l1_l2"})}}};
//
// "L1L2", "l1_l2" and {"class_name": "L1L2", "config": {...}} name L1L2.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_TABLE_H
#define WEFT_BASE_CONFIG_TABLE_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::keras {

class Options;

/// An object that a file describes by the name of its class and a config.
class Configured {
public:
  virtual ~Configured() = default;
  virtual void options(Options &o) = 0;
  /// Reads options that all classes of the kind have.
  virtual void commonOptions(Options &) {}

  std::string className;     ///< name in the class's TableRow
  std::string config = "{}"; ///< JSON, as in the file
  /// Whether Keras builds it right after its construction, according to the
  /// file.
  bool isBuiltAlone = false;
};

struct TableRow {
  const char *name; ///< the name of Keras' class
  std::function<std::shared_ptr<Configured>()> make;
  std::vector<const char *> otherNames = {}; ///< other names in Keras
};

template <class T>
TableRow row(const char *name, std::vector<const char *> otherNames = {}) {
  return {name,
          [] {
            return std::static_pointer_cast<Configured>(std::make_shared<T>());
          },
          std::move(otherNames)};
}

struct AnyTable {
  const char *what, *several; ///< "loss", "losses"
  std::vector<TableRow> rows;
  const char *ofNull = nullptr; ///< the row that null stands for

  /// The row of a name in any spelling (MeanSquaredError, mean_squared_error),
  /// or null.
  const TableRow *find(std::string_view name) const;
  /// The names of all rows, for messages.
  std::string names() const;
  /// The message for an unknown name, with a close name, if any, and all names.
  std::string refusal(std::string_view name) const;
  /// Makes an object of the row and sets its class name.
  static std::shared_ptr<Configured> make(const TableRow &row);
};

/// A table whose rows make objects of classes derived from T.
template <class T> struct Table : AnyTable {
  std::shared_ptr<const T> make(std::string_view name) const {
    return std::static_pointer_cast<const T>(AnyTable::make(*find(name)));
  }
};

/// The canonical form of a name, which is the same for "mean_squared_error" and
/// "MeanSquaredError".
std::string plainName(std::string_view name);

/// Converts a class's name: BatchNormalization -> batch_normalization, ReLU ->
/// re_lu, Conv2D -> conv2d.
std::string snakeCase(std::string_view className);

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_TABLE_H
