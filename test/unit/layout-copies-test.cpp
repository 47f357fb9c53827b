//===- layout-copies-test.cpp - two copies of the layouts' algebra --------===//
//
// The compiler (dialects/weft/Layout.h) and the runtime (runtime/program/
// Layout.h) each have one, since they share no code. Both are compared with the
// definition, and with each other: for all axes of up to 48 devices and all
// pairs of their sub-axes, and for all layouts of small meshes.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/DeviceGroups.h"
#include "weft/runtime/program/Layout.h"
#include "weft/test/unit/EveryLayout.h"

#include "catch2/catch.hpp"

#include <map>

using namespace weft;

namespace {
Mesh meshOf(const std::string &text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

runtime::Mesh toRuntime(const Mesh &mesh) {
  runtime::Mesh out;
  for (const MeshAxis &axis : mesh.axes) {
    out.names.push_back(axis.name);
    out.sizes.push_back(axis.size);
  }
  for (int64_t device = 0; device < mesh.size(); ++device)
    out.devices.push_back(device);
  return out;
}

runtime::SubAxes toRuntime(llvm::ArrayRef<SubAxis> axes) {
  runtime::SubAxes out;
  for (const SubAxis &sub : axes)
    out.push_back({sub.axis, sub.skip, sub.size});
  return out;
}

runtime::Layout toRuntime(const Layout &layout) {
  runtime::Layout out;
  for (const SubAxes &axes : layout.dims)
    out.dims.push_back(toRuntime(axes));
  return out;
}

/// Of n devices along one axis: may the digits be used together? A device that
/// sets its digits to 0 must find the first member of its group, and each group
/// must have one device for every combination of digits.
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

std::string compilerReason(const Mesh &mesh, llvm::ArrayRef<SubAxis> axes) {
  Layout layout = Layout::replicated(1);
  layout.dims[0].append(axes.begin(), axes.end());
  return invalidReason(mesh, layout, 1);
}
} // namespace

TEST_CASE("both accept the same single sub-axes") {
  for (int64_t n = 1; n <= 48; ++n) {
    Mesh mesh = meshOf("x=" + std::to_string(n));
    runtime::Mesh other = toRuntime(mesh);
    for (int64_t skip = -1; skip <= n + 1; ++skip)
      for (int64_t size = -1; size <= n + 1; ++size) {
        SubAxis sub{0, skip, size};
        bool isDigit =
            skip > 0 && size > 0 && n % skip == 0 && n / skip % size == 0;
        INFO(n << ": (" << skip << ")" << size);
        REQUIRE(compilerReason(mesh, sub).empty() == isDigit);
        REQUIRE(runtime::invalidReason(other, toRuntime(sub)).empty() ==
                isDigit);
      }
  }
}

TEST_CASE("both accept the pairs of sub-axes that make whole groups") {
  int64_t accepted = 0, refused = 0;
  for (int64_t n = 1; n <= 48; ++n) {
    Mesh mesh = meshOf("x=" + std::to_string(n));
    runtime::Mesh other = toRuntime(mesh);
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
        REQUIRE(compilerReason(mesh, pair).empty() == good);
        REQUIRE(runtime::invalidReason(other, toRuntime(pair)).empty() == good);
        ++(good ? accepted : refused);
      }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("sub-axes that share devices unevenly are refused with a name") {
  Mesh mesh = meshOf("x=6");
  SubAxes pair{{0, 1, 2}, {0, 3, 2}};
  CHECK(compilerReason(mesh, pair) == "axis \"x\" is used twice");
  CHECK(runtime::invalidReason(toRuntime(mesh), toRuntime(pair)) ==
        "axis \"x\" is used twice");
}

TEST_CASE("every layout of small meshes is the same to both") {
  for (const char *text : {"x=3", "x=6", "x=8", "x=12", "x=2,y=4", "x=3,y=2",
                           "x=1,y=2", "x=2,y=2,z=2", "x=6,y=2"}) {
    Mesh mesh = meshOf(text);
    runtime::Mesh other = toRuntime(mesh);
    for (const Layout &layout : everyLayout(mesh, 2)) {
      runtime::Layout same = toRuntime(layout);
      REQUIRE(runtime::invalidReason(other, same, 2) == "");
      for (std::array<int64_t, 2> shape :
           {std::array<int64_t, 2>{7, 5}, {24, 3}, {1, 13}, {0, 4}}) {
        auto local = localShape(layout, shape);
        REQUIRE(runtime::localShape(same, shape) ==
                std::vector<int64_t>(local.begin(), local.end()));
        for (int64_t p = 0; p < mesh.size(); ++p) {
          Box box = own(mesh, layout, shape, p);
          runtime::Box found = runtime::own(other, same, shape, p);
          INFO(text << " " << toString(mesh, layout) << " device " << p);
          for (size_t d = 0; d < 2; ++d) {
            REQUIRE(box[d].begin == found[d].begin);
            REQUIRE(box[d].end == found[d].end);
          }
        }
      }
    }
  }
}

TEST_CASE("every list of digits makes the same groups for both") {
  for (const char *text :
       {"x=6", "x=12", "x=2,y=4", "x=3,y=2", "x=2,y=2,z=2", "x=6,y=2"}) {
    Mesh mesh = meshOf(text);
    runtime::Mesh other = toRuntime(mesh);
    for (const Layout &layout : everyLayout(mesh, 1)) {
      llvm::ArrayRef<SubAxis> axes = layout.dims[0];
      runtime::DeviceGroups found = runtime::groupsOver(other, toRuntime(axes));
      INFO(text << " " << toString(mesh, layout));
      std::vector<std::vector<int64_t>> groups;
      for (const DeviceGroup &group : groupsOver(mesh, axes))
        groups.emplace_back(group.begin(), group.end());
      REQUIRE(found.groups == groups);
      for (int64_t p = 0; p < mesh.size(); ++p) {
        REQUIRE(found.memberOf[p] == coordinate(mesh, p, axes));
        REQUIRE(found.groups[found.groupOf[p]][found.memberOf[p]] == p);
      }
    }
  }
}
