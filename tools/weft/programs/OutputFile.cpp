//===- OutputFile.cpp - files written whole or not at all -----------------===//

#include "weft/tools/weft/programs/OutputFile.h"

#include "weft/data/files/Files.h"

weft::Status weft::tool::writeOutputFile(const std::string &path,
                                         std::string_view bytes) {
  auto file = OutputFile::open(path);
  if (!file)
    return file.error();
  file->write(bytes);
  return file->commit();
}
