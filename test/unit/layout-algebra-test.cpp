//===- layout-algebra-test.cpp - sub-axes and shards by their definition --===//
//
// The algebra that compiler and runtime share (layout/) is compared with the
// definition: for all axes of up to 48 devices and all pairs of their sub-axes.
// For all layouts of small meshes the blocks are a partition of the array.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/DeviceGroups.h"
#include "weft/layout/Layout.h"
#include "weft/test/unit/EveryLayout.h"

#include "catch2/catch.hpp"

#include <map>
#include <set>

using namespace weft;

namespace {
Mesh meshOf(const std::string &text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

/// Whether digits of n devices along one axis may be used together. A device
/// that sets its digits to 0 must find the first member of its group, and each
/// group must have one device for every combination of digits.
bool makesGroups(int64_t n, llvm::ArrayRef<SubAxis> axes) {
  std::map<int64_t, std::map<int64_t, int>> groups;
  for (int64_t device = 0; device < n; ++device) {
    int64_t first = device, member = 0;
    for (const SubAxis &sub : axes) {
      int64_t minor = n / sub.skip / sub.size,
              digit = device / minor % sub.size;
      first -= digit * minor;
      member = member * sub.size + digit;
    }
    ++groups[first][member];
  }
  for (auto &[first, members] : groups) {
    if (static_cast<int64_t>(members.size()) != shardCount(axes))
      return false;
    for (auto [member, count] : members)
      if (count != 1)
        return false;
  }
  return true;
}

/// Whether ranges of rows or columns, in the order of their beginnings, are a
/// partition of [0, n).
bool isPartition(const std::set<std::pair<int64_t, int64_t>> &parts,
                 int64_t n) {
  int64_t end = 0;
  for (const auto &[begin, stop] : parts) {
    if (begin != end && begin != stop)
      return false;
    end = std::max(end, stop);
  }
  return end == n;
}
} // namespace

TEST_CASE("single sub-axes are digits of their axis") {
  for (int64_t n = 1; n <= 48; ++n) {
    Mesh mesh = meshOf("x=" + std::to_string(n));
    for (int64_t skip = -1; skip <= n + 1; ++skip)
      for (int64_t size = -1; size <= n + 1; ++size) {
        SubAxis sub{0, skip, size};
        bool isDigit =
            skip > 0 && size > 0 && n % skip == 0 && n / skip % size == 0;
        INFO(n << ": (" << skip << ")" << size);
        REQUIRE(invalidReason(mesh.axes, {&sub, 1}).empty() == isDigit);
      }
  }
}

TEST_CASE("pairs of sub-axes are accepted that make whole groups") {
  int64_t accepted = 0, refused = 0;
  for (int64_t n = 1; n <= 48; ++n) {
    Mesh mesh = meshOf("x=" + std::to_string(n));
    std::vector<SubAxis> digits;
    for (int64_t skip = 1; skip <= n; ++skip)
      for (int64_t size = 1; size <= n / skip; ++size)
        if (n % skip == 0 && n / skip % size == 0)
          digits.push_back({0, skip, size});
    for (const SubAxis &a : digits)
      for (const SubAxis &b : digits) {
        SubAxes pair{a, b};
        INFO(n << ": (" << a.skip << ")" << a.size << " (" << b.skip << ")"
               << b.size);
        bool good = makesGroups(n, pair);
        REQUIRE(invalidReason(mesh.axes, pair).empty() == good);
        ++(good ? accepted : refused);
      }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("sub-axes that share devices unevenly are refused with a name") {
  Mesh mesh = meshOf("x=6");
  SubAxes pair{{0, 1, 2}, {0, 3, 2}};
  CHECK(invalidReason(mesh.axes, pair) == "axis \"x\" is used twice");
}

TEST_CASE("every layout of small meshes partitions each dimension") {
  for (const char *text : {"x=3", "x=6", "x=8", "x=12", "x=2,y=4", "x=3,y=2",
                           "x=1,y=2", "x=2,y=2,z=2", "x=6,y=2"}) {
    Mesh mesh = meshOf(text);
    for (const Layout &layout : everyLayout(mesh, 2)) {
      REQUIRE(invalidReason(mesh, layout, 2) == "");
      for (std::array<int64_t, 2> shape :
           {std::array<int64_t, 2>{7, 5}, {24, 3}, {1, 13}, {0, 4}}) {
        auto local = localShape(layout, shape);
        std::array<std::set<std::pair<int64_t, int64_t>>, 2> parts;
        for (int64_t p = 0; p < mesh.size(); ++p) {
          Box box = own(mesh, layout, shape, p);
          INFO(text << " " << toString(mesh, layout) << " device " << p);
          for (size_t d = 0; d < 2; ++d) {
            REQUIRE(box[d].size() <= local[d]);
            parts[d].insert({box[d].begin, box[d].end});
          }
        }
        for (size_t d = 0; d < 2; ++d)
          REQUIRE(isPartition(parts[d], shape[d]));
      }
    }
  }
}

TEST_CASE("every list of digits numbers the members of its groups") {
  for (const char *text :
       {"x=6", "x=12", "x=2,y=4", "x=3,y=2", "x=2,y=2,z=2", "x=6,y=2"}) {
    Mesh mesh = meshOf(text);
    for (const Layout &layout : everyLayout(mesh, 1)) {
      llvm::ArrayRef<SubAxis> axes = layout.dims[0];
      DeviceGroups found = groupsOver(mesh.axes, axes);
      INFO(text << " " << toString(mesh, layout));
      for (int64_t p = 0; p < mesh.size(); ++p) {
        REQUIRE(found.memberOf[p] == coordinate(mesh, p, axes));
        REQUIRE(found.groups[found.groupOf[p]][found.memberOf[p]] == p);
      }
    }
  }
}
