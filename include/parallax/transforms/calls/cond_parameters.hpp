// What a branch of a program is made of.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The first operand says which branch runs, by its number; the others are the inputs of each branch, which all return
/// alike results.
struct cond_parameters {
  growing_vector<graph_id> branches{};

  static constexpr void describe(auto& p, auto& member) { member("branches", p.branches); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
