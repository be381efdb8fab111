// What a problem has: `point`, and either `value`, a number, with `gradient` or `newton_direction` by hand, or
// `values`, `results` of them, with `jacobian` by hand. A Jacobian made of equal blocks has `part`, the problem of one
// block, and `jacobian_by`, which is given a function that returns a block's Jacobian.
#pragma once

#include <cstddef>
#include <vector>

namespace bench {

template <class Problem>
concept has_direction = requires(const Problem& p, double* x) { p.newton_direction(x, x); };
template <class Problem>
concept has_values = requires { Problem::results; };
template <class Problem>
concept has_parts = requires(const Problem& p) { p.part(); };

/// How many results the function has, and how many numbers its derivative.
template <class Problem> std::size_t results_of(const Problem&) {
  if constexpr (has_values<Problem>) return Problem::results;
  else return 1;
}
template <class Problem> std::size_t derivatives_of(const Problem& problem) {
  if constexpr (has_parts<Problem>) return Problem::derivatives;
  else return results_of(problem) * problem.point.size();
}
/// The function at x.
template <class Problem, class S> void evaluate(const Problem& problem, const S* x, S* result) {
  if constexpr (has_values<Problem>) problem.values(x, result);
  else result[0] = problem.value(x);
}
/// The derivative at x by hand.
template <class Problem> void differentiate(const Problem& problem, const double* x, double* result) {
  if constexpr (has_direction<Problem>) problem.newton_direction(x, result);
  else if constexpr (has_values<Problem>) problem.jacobian(x, result);
  else problem.gradient(x, result);
}

} // namespace bench
