//===- device-groups-test.cpp - axes and groups, both ways ----------------===//

#include "weft/layout/Communication.h"
#include "weft/layout/GroupAxes.h"

#include "catch2/catch.hpp"

#include <set>

using namespace weft;

static Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

TEST_CASE("groups of whole axes and of digits") {
  Mesh mesh = meshOf("x=2,y=4");
  using Groups = std::vector<DeviceGroup>;
  CHECK(groupsOver(mesh.axes, SubAxes{{0, 1, 2}}).groups ==
        Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(groupsOver(mesh.axes, SubAxes{{1, 2, 2}}).groups ==
        Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(groupsOver(mesh.axes, SubAxes{{1, 1, 2}, {0, 1, 2}}).groups ==
        Groups{{0, 4, 2, 6}, {1, 5, 3, 7}});
  CHECK(groupsOver(mesh.axes, SubAxes{}).groups.size() == 8);
}

/// Adds all lists of distinct digits of the mesh's axes, in every order.
static void addLists(const Mesh &mesh, SubAxes list,
                     std::vector<SubAxes> &all) {
  all.push_back(list);
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    for (int64_t skip = 1, n = mesh.axes[axis].size; skip < n; ++skip)
      for (int64_t size = 2; n % skip == 0 && skip * size <= n; ++size) {
        SubAxis digit{axis, skip, size};
        if (n % (skip * size) || llvm::any_of(list, [&](const SubAxis &x) {
              return overlaps(x, digit);
            }))
          continue;
        SubAxes longer = list;
        longer.push_back(digit);
        addLists(mesh, longer, all);
      }
}

TEST_CASE("the axes of groups make these groups, for all lists of digits") {
  const char *text = GENERATE("x=2,y=4", "x=2,y=2,z=2", "x=6", "x=3,y=2", "x=8",
                              "x=4,y=3", "x=5");
  Mesh mesh = meshOf(text);
  std::vector<SubAxes> lists;
  addLists(mesh, {}, lists);
  CAPTURE(text, lists.size());
  for (const SubAxes &axes : lists) {
    std::vector<DeviceGroup> groups = groupsOver(mesh.axes, axes).groups;
    // Each device stands in one group, at its coordinate.
    std::set<int64_t> seen;
    for (const DeviceGroup &group : groups)
      for (auto [k, position] : llvm::enumerate(group)) {
        CHECK(seen.insert(position).second);
        CHECK(coordinate(mesh, position, axes) == int64_t(k));
      }
    CHECK(int64_t(seen.size()) == mesh.size());
    std::reverse(groups.begin(),
                 groups.end()); // the order of groups is arbitrary
    std::optional<SubAxes> found = axesOfGroups(mesh, groups);
    REQUIRE(found);
    CHECK(groupsOver(mesh.axes, *found).groups ==
          groupsOver(mesh.axes, axes).groups);
  }
}

TEST_CASE("a move between two parts of the mesh is made by their devices") {
  Mesh mesh = meshOf("x=4,y=2");
  Movement move;
  move.shape = {8};
  move.from = move.to = Layout::replicated(1);
  move.from.part = {{0, 1}};
  move.to.part = {{0, 3}};
  SubAxes x = {fullAxis(mesh, 0)},
          both = {fullAxis(mesh, 0), fullAxis(mesh, 1)};
  // Along x each column moves by itself; other devices are alone.
  CHECK(groupsOf(move, {mesh, x}).groups ==
        std::vector<DeviceGroup>{{2, 6}, {0}, {4}, {3, 7}, {1}, {5}});
  DeviceGroups all = groupsOf(move, {mesh, both});
  CHECK(all.groups ==
        std::vector<DeviceGroup>{{2, 3, 6, 7}, {0}, {1}, {4}, {5}});
  for (size_t group = 0; group < all.groups.size(); ++group)
    for (size_t member = 0; member < all.groups[group].size(); ++member) {
      auto position = size_t(all.groups[group][member]);
      CHECK(all.groupOf[position] == int64_t(group));
      CHECK(all.memberOf[position] == int64_t(member));
    }
  move.to.part.clear(); // the whole mesh receives
  CHECK(groupsOf(move, {mesh, x}).groups == groupsOver(mesh.axes, x).groups);
}

TEST_CASE("groups that no digits make have no axes") {
  Mesh mesh = meshOf("x=2,y=4");
  CHECK(!axesOfGroups(mesh, {}));
  CHECK(!axesOfGroups(mesh, {{0, 1}})); // devices are left out
  CHECK(!axesOfGroups(mesh,
                      {{0, 1, 2}, {3, 4, 5}, {6, 7}})); // of different sizes
  CHECK(
      !axesOfGroups(mesh, {{0, 3}, {1, 2}, {4, 7}, {5, 6}})); // no common step
  CHECK(!axesOfGroups(mesh, {{1, 0}, {3, 2}, {5, 4}, {7, 6}})); // backwards
  CHECK(!axesOfGroups(mesh, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  CHECK(
      !axesOfGroups(mesh, {{0, 1, 3}, {2, 4, 5}})); // of three, no digit of two
  CHECK(!axesOfGroups(mesh, {{0, 1, 2, 4, 5}, {3, 6, 7}}));
}
