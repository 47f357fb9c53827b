//===- Vocabulary.h - the numbers of a table's texts ------------*- C++ -*-===//
//
//   Vocabulary vocabulary;
//   vocabulary.add("city", {"Rome", "Berlin", "Paris"});
//   vocabulary.number("city", "Paris");      // 1: Berlin, Paris, Rome
//   vocabulary.contents();                   // {"city": ["Berlin", "Paris", "Rome"]}
//
// A column of texts is read as integers: the places of its texts among those of
// the training data, sorted by their bytes. They are part of what a model has
// learnt, so they are written beside its weights, and read again for other
// data.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_VOCABULARY_H
#define WEFT_DATA_SOURCES_VOCABULARY_H

#include "weft/base/Result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

class Vocabulary {
public:
  /// Reads the file beside the weights in `weightsFile`. Without such a file
  /// there is no text.
  static Result<Vocabulary> beside(const std::string &weightsFile);
  static std::string pathBeside(const std::string &weightsFile) {
    return weightsFile + ".vocabulary.json";
  }
  /// Writes the file beside the weights, if any column has texts.
  Status writeBeside(const std::string &weightsFile) const;

  bool contains(const std::string &column) const {
    return columns.contains(column);
  }
  /// Whether a text can be written to the file.
  static bool isUtf8(const std::string &text);
  bool isEmpty() const { return columns.empty(); }
  void add(const std::string &column, const std::set<std::string> &texts) {
    columns[column].assign(texts.begin(), texts.end());
  }
  /// The number of a text of a column; nothing for an unknown text.
  std::optional<int64_t> number(const std::string &column,
                                const std::string &text) const;
  /// The first texts of a column with their numbers: 0 Berlin, 1 Paris.
  std::string described(const std::string &column) const;
  /// The file's content: an object of JSON.
  std::string contents() const;

  /// Whether a column that has no texts yet may get them: in training data.
  bool isOpen = true;
  std::string file; ///< the file that was read or looked for; or empty
  bool isRead = false;

private:
  std::map<std::string, std::vector<std::string>> columns;
};

} // namespace weft

#endif // WEFT_DATA_SOURCES_VOCABULARY_H
