// How an operand enters a loop's body.
#pragma once

#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

enum class scan_role : int {
  constant, ///< equal in all rounds
  carry,    ///< the previous round's result
  stacked   ///< in round k, slice k of the operand
};

constexpr std::string_view name_of(scan_role role) {
  switch (role) {
  case scan_role::constant: return "constant";
  case scan_role::carry: return "carry";
  case scan_role::stacked: return "stacked";
  }
  return "";
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
