//===- DeviceClasses.cpp - devices that run the same ops ------------------===//

#include "weft/compiler/explain/DeviceClasses.h"

#include "weft/base/Saturating.h"

#include <algorithm>
#include <map>
#include <set>

using namespace weft;

std::vector<MeshPart> weft::deviceClasses(llvm::ArrayRef<MeshPart> parts) {
  std::map<uint32_t, std::set<int64_t>> coordinates;
  for (const MeshPart &part : parts)
    for (auto [axis, coordinate] : part)
      coordinates[axis].insert(coordinate);
  std::vector<MeshPart> classes{{}};
  for (const auto &[axis, its] : coordinates) {
    std::vector<MeshPart> more;
    for (const MeshPart &known : classes)
      for (int64_t coordinate : its) {
        more.push_back(known);
        more.back().push_back({axis, coordinate});
      }
    classes = std::move(more);
  }
  return classes;
}

int64_t weft::mostOnOneDevice(llvm::ArrayRef<AmountAt> amounts) {
  std::vector<MeshPart> parts;
  for (const AmountAt &its : amounts)
    parts.push_back(its.part);
  int64_t most = 0;
  for (const MeshPart &devices : deviceClasses(parts)) {
    int64_t sum = 0;
    for (const AmountAt &its : amounts)
      if (includes(its.part, devices))
        sum = saturatingAdd(sum, its.amount);
    most = std::max(most, sum);
  }
  return most;
}
