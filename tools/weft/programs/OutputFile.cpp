//===- OutputFile.cpp - files written whole or not at all -----------------===//

#include "weft/tools/weft/programs/OutputFile.h"

#include "weft/data/files/Files.h"

std::string weft::tool::writeOutputFile(const std::string &path,
                                        std::string_view bytes) {
  auto file = OutputFile::open(path);
  if (!file)
    return file.message();
  file->write(bytes);
  Status written = file->commit();
  return written ? "" : written.message();
}
