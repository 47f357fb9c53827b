//===- PortRole.h - what a port of a program is for -------------*- C++ -*-===//
//
//   std::optional<Role> role = roleNamed("sample_weight");
//   bool isNew = holdsBatch(*role);      // in each step
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PORTROLE_H
#define WEFT_BASE_PORTROLE_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft {

/// The roles of PortRoles.def, in its order.
enum class Role : uint8_t {
#define WEFT_ROLE(NAME, name, Name, kind) Name,
#include "weft/base/PortRoles.def"
};
enum class RoleKind : uint8_t { State, Batch, Result };

struct RoleFacts {
  std::string_view name;
  RoleKind kind;
};
inline constexpr RoleFacts kRoles[] = {
#define WEFT_ROLE(NAME, name, Name, kind) {#name, RoleKind::kind},
#include "weft/base/PortRoles.def"
};

constexpr std::string_view roleName(Role role) {
  return kRoles[size_t(role)].name;
}
constexpr std::optional<Role> roleNamed(std::string_view name) {
  for (size_t role = 0; role < std::size(kRoles); ++role)
    if (name == kRoles[role].name)
      return Role(role);
  return std::nullopt;
}
/// Whether the port's array stays on the devices from step to step.
constexpr bool holdsState(Role role) {
  return kRoles[size_t(role)].kind == RoleKind::State;
}
/// Whether the port takes a part of the batch, which is new in each step.
constexpr bool holdsBatch(Role role) {
  return kRoles[size_t(role)].kind == RoleKind::Batch;
}

} // namespace weft

#endif // WEFT_BASE_PORTROLE_H
