// The parameters of a branch of a program.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The first operand is the number of the branch that runs. The others are the inputs of each branch, and all branches
/// return results of the same types and shapes.
struct cond_parameters {
  growing_vector<graph_id> branches{};

  static constexpr void describe(auto& p, auto& member) { member("branches", p.branches); }
};

/// The flags of the branches' inputs, given those of all operands.
constexpr operand_flags behind_index(const operand_flags& operands) { return {operands.begin() + 1, operands.end()}; }

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
