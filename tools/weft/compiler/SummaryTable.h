//===- SummaryTable.h - a table as model.summary() draws it -----*- C++ -*-===//
//
//   ┏━━━━━━━━━━━━━━┳━━━━━━━━━━━━┓
//   ┃ Layer (type) ┃    Param # ┃
//   ┡━━━━━━━━━━━━━━╇━━━━━━━━━━━━┩
//   │ d1 (Dense)   │      7,850 │
//   └──────────────┴────────────┘
//
// Keras draws tables with the Python package rich, whose widths and line breaks
// are reproduced: words that do not fit are moved to the next line, and one
// that is longer than its column ends in an ellipsis.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_SUMMARYTABLE_H
#define WEFT_TOOLS_WEFT_COMPILER_SUMMARYTABLE_H

#include <string>
#include <vector>

namespace weft::tool {

enum class Justify { Left, Right, Center };

struct SummaryColumn {
  std::string header;
  Justify justify = Justify::Left;
  double end = 1; ///< its end, as a fraction of the line
};

/// Draws a table. Rows have a cell for each column; text is UTF-8 of one column
/// a character.
std::string summaryTable(const std::vector<SummaryColumn> &columns,
                         const std::vector<std::vector<std::string>> &rows,
                         int lineLength);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_SUMMARYTABLE_H
