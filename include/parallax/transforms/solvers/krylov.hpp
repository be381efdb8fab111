// cg and bicgstab: linear systems by products with their matrix alone.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp> // before operations, which name them

#include <parallax/ops/math/elementwise.hpp>
#include <parallax/ops/math/operators.hpp>
#include <parallax/ops/math/products.hpp>
#include <parallax/ops/math/reductions.hpp>
#include <parallax/ops/shapes/creation.hpp>
#include <parallax/transforms/loops/while_loop.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>
#include <parallax/transforms/solvers/custom_linear_solve.hpp>
#include <parallax/transforms/solvers/solver_scale.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// When an iteration ends: with a residual of at most `max(tol * |b|, atol)`, or after `maxiter` products.
struct solver_options {
  double tol = 1e-5;
  double atol = 0;
  int maxiter = 0; ///< 0 stands for ten times as many as there are unknowns
};

namespace detail {

/// The dot product of two trees.
template <class Tree> constexpr tracer dot_of_trees(const Tree& x, const Tree& y) {
  const auto products = tree_map([](const tracer& a, const tracer& b) { return build::sum_all(a * b); }, x, y);
  tracer sum{};
  tree_for_each([&](const tracer& part) { sum = sum.owner == nullptr ? part : sum + part; }, products);
  return sum;
}
/// x + a y, in the types of x.
template <class Tree> constexpr Tree added(const Tree& x, const tracer& a, const Tree& y) {
  return tree_map([&](const tracer& u, const tracer& v) { return u + build::convert(a, u.type()) * v; }, x, y);
}
template <class Tree> constexpr Tree difference(const Tree& x, const Tree& y) {
  return tree_map([](const tracer& u, const tracer& v) { return u - v; }, x, y);
}
template <class Tree> constexpr Tree zeros_of_tree(const Tree& x) {
  return tree_map([](const tracer& u) { return build::zeros_like(u); }, x);
}

/// A count of rounds, 0, that varies along meshes as the residual does. All leaves of the residual vary alike.
template <class Tree> constexpr tracer no_rounds(const Tree& residual) {
  const tracer leaf = tracers_of(residual)[0];
  return vary_along(build::integer_literal(*leaf.owner, element_type::int32, 0), leaf.varies());
}

/// The bounds of an iteration for a right-hand side, which was divided by `scale`.
struct iteration_bounds {
  tracer square; ///< of the residual
  tracer rounds;

  template <class Tree>
  static constexpr iteration_bounds of(const Tree& b, const solver_options& options, const tracer& scale) {
    const tracer norm = dot_of_trees(b, b);
    context& trace = *norm.owner;
    tracer rounds = build::integer_literal(trace, element_type::int32, options.maxiter);
    if (options.maxiter == 0) {
      rounds = build::integer_literal(trace, element_type::int32, 0);
      for_each(tracers_of(b), [&](const tracer& leaf) {
        rounds = rounds + build::extent_value(trace, trace.extents.product(leaf.extents()), element_type::int32) * 10;
      });
    }
    const tracer relative = norm * (options.tol * options.tol);
    if (options.atol == 0) return {relative, rounds};
    const tracer absolute = options.atol / build::convert(scale, norm.type());
    return {maximum(relative, absolute * absolute), rounds};
  }
};

struct conjugate_gradients {
  solver_options options;

  template <class Matvec, class Tree>
  constexpr Tree operator()(const Matvec& matrix, const Tree& b, const Tree& first, const tracer& scale) const {
    const iteration_bounds bounds = iteration_bounds::of(b, options, scale);
    const Tree r = difference(b, matrix(first));
    const auto goes_on = [bounds](const auto& carry) {
      return logical_and(std::get<2>(carry) > bounds.square, std::get<4>(carry) < bounds.rounds);
    };
    const auto round = [matrix](const auto& carry) {
      const auto& [x, residual, square, direction, k] = carry;
      const auto image = matrix(direction);
      const tracer alpha = square / dot_of_trees(direction, image);
      const auto left = added(residual, -alpha, image);
      const tracer next = dot_of_trees(left, left);
      return std::tuple{added(x, alpha, direction), left, next, added(left, next / square, direction), k + 1};
    };
    return std::get<0>(while_loop(goes_on, round, std::tuple{first, r, dot_of_trees(r, r), r, no_rounds(r)}));
  }
};

struct stabilised_biconjugate_gradients {
  solver_options options;

  template <class Matvec, class Tree>
  constexpr Tree operator()(const Matvec& matrix, const Tree& b, const Tree& first, const tracer& scale) const {
    const iteration_bounds bounds = iteration_bounds::of(b, options, scale);
    const Tree r = difference(b, matrix(first));
    const tracer one = build::like(bounds.square, 1);
    const auto goes_on = [bounds](const auto& carry) {
      const auto& residual = std::get<1>(carry);
      return logical_and(dot_of_trees(residual, residual) > bounds.square, std::get<7>(carry) < bounds.rounds);
    };
    // the method breaks down if a divisor vanishes; the count then ends the iteration
    const auto round = [matrix, r, bounds](const auto& carry) {
      const auto& [x, residual, alpha, omega, rho, p, q, k] = carry;
      const tracer next_rho = dot_of_trees(r, residual);
      const tracer beta = next_rho / rho * alpha / omega;
      const auto direction = added(residual, beta, added(p, -omega, q));
      const auto image = matrix(direction);
      const tracer next_alpha = next_rho / dot_of_trees(r, image);
      const auto halfway = added(residual, -next_alpha, image);
      const tracer is_done = dot_of_trees(halfway, halfway) < bounds.square;
      const auto turned = matrix(halfway);
      const tracer next_omega = where(is_done, 0., dot_of_trees(turned, halfway) / dot_of_trees(turned, turned));
      const auto moved_x = added(added(x, next_alpha, direction), next_omega, halfway);
      const auto left = added(halfway, -next_omega, turned);
      const tracer broken = logical_or(next_rho == 0., logical_and(logical_not(is_done), next_omega == 0.));
      return std::tuple{moved_x,  left,      next_alpha, next_omega,
                        next_rho, direction, image,      where(broken, bounds.rounds, k + 1)};
    };
    return std::get<0>(while_loop(
        goes_on, round, std::tuple{first, r, one, one, one, zeros_of_tree(r), zeros_of_tree(r), no_rounds(r)}));
  }
};

/// A matrix, or a function that multiplies by one.
template <class A> constexpr auto product_with(const A& matrix) {
  if constexpr (traced<A>) return [matrix](const tracer& x) { return dot(matrix, x); };
  else return matrix;
}

/// Solves by an iteration, from zeros or from `first`. The system is divided by its largest number: the squares that
/// iterations compare leave the range of float32 if its elements are below 1e-19 or above 1e19.
template <class Method, class A, class B, class First>
constexpr auto solved_by(const Method& method, const A& matrix, const B& b, const First& first) {
  const auto from_zeros = [method](const auto& product, const auto& right) {
    const tracer scale = scale_of(right);
    // one after another: in one expression, their memory is more than nvcc's evaluator bears
    // (docs/design/errors-and-evaluators.md)
    const auto scaled = divided_by(right, scale), zeros = zeros_of_tree(right);
    const auto solution = method(product, scaled, zeros, scale);
    return multiplied_by(solution, scale);
  };
  if constexpr (std::is_same_v<First, none_t>) {
    return custom_linear_solve(product_with(matrix), b, from_zeros, from_zeros);
  } else {
    const auto from_first = [method, first](const auto& product, const auto& right) {
      using tree = std::remove_cvref_t<decltype(right)>;
      const tree begin(traced_like(trace_of_trees(right), first));
      const tracer scale = scale_of(right, difference(right, tree(product(begin))));
      const auto scaled = divided_by(right, scale), scaled_begin = divided_by(begin, scale);
      const auto solution = method(product, scaled, scaled_begin, scale);
      return multiplied_by(solution, scale);
    };
    return custom_linear_solve(product_with(matrix), b, from_first, from_zeros);
  }
}

} // namespace detail

/// The solution x of `matrix x = b` by conjugate gradients (Hestenes and Stiefel, 1952): `matrix` is symmetric and
/// positive definite, an array or a function of trees like `b`. `first` is where the iteration begins, zeros by
/// default. Derivatives solve such systems again. Inside traced functions. JAX: scipy.sparse.linalg.cg, which returns
/// (x, None)
template <class A, class B, class First = none_t>
constexpr auto cg(const A& matrix, const B& b, const solver_options& options = {}, const First& first = {}) {
  return detail::solved_by(detail::conjugate_gradients{options}, matrix, b, first);
}

/// The solution x of `matrix x = b` for a matrix without symmetry, by stabilised biconjugate gradients (van der Vorst,
/// 1992). It converges for many matrices. For some that have an inverse, such as rotations by a right angle, it breaks
/// down, and x may be NaN: use `gmres` for these. JAX: scipy.sparse.linalg.bicgstab, which returns (x, None) and breaks
/// down alike
template <class A, class B, class First = none_t>
constexpr auto bicgstab(const A& matrix, const B& b, const solver_options& options = {}, const First& first = {}) {
  return detail::solved_by(detail::stabilised_biconjugate_gradients{options}, matrix, b, first);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
