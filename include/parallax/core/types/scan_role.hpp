// How an operand enters a loop's body.
#pragma once

#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

enum class scan_role : int {
  constant, ///< the same in each round
  carry,    ///< what the round before has made of it
  stacked   ///< its slice of the round's number
};

constexpr std::string_view name_of(scan_role role) {
  switch (role) {
  case scan_role::constant: return "constant";
  case scan_role::carry: return "carry";
  case scan_role::stacked: return "stacked";
  }
  return "";
}

} // namespace parallax::PARALLAX_INLINE_VERSION
