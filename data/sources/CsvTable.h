//===- CsvTable.h - columns of a table as arrays ----------------*- C++ -*-===//
//
//   // age,height,label
//   // 31,1.78,0
//   auto table = openCsvTable("people.csv",
//                             {.inputs = {"age,height"}, .targets = {"label"}});
//   Result<Rows> x = (*table)->rows("x", {});         // (n, 2) float64
//
// Commas separate, the first line names the columns, quotes are those of RFC
// 4180, lines end with LF or CRLF. NAME=a,b is the array of one of several
// inputs or outputs, x/NAME or y/NAME; a name with a comma is quoted.
//
// The first field of a chosen column decides: a column has numbers, or it has
// texts and each has a number (Vocabulary.h). A missing field is an error, with
// its line and column, unless `missing` has a value for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_CSVTABLE_H
#define WEFT_DATA_SOURCES_CSVTABLE_H

#include "weft/data/sources/ArrayFile.h"

namespace weft {

Result<std::unique_ptr<ArrayFile>> openCsvTable(const std::string &path,
                                                const SourceOptions &options);

} // namespace weft

#endif // WEFT_DATA_SOURCES_CSVTABLE_H
