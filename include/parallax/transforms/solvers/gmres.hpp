// gmres: linear systems by the smallest residual in the space of products with their matrix.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/indexing.hpp>
#include <parallax/transforms/functions/ravel_pytree.hpp>
#include <parallax/transforms/loops/loops.hpp>
#include <parallax/transforms/solvers/krylov.hpp>

#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// For `gmres`: `maxiter` counts restarts, each after at most `restart` products.
struct gmres_options : solver_options {
  int restart = 20;
};

namespace detail {

struct generalised_minimal_residual {
  gmres_options options;

  template <class Matvec, class Tree>
  constexpr Tree operator()(const Matvec& matrix, const Tree& b, const Tree& first, const tracer& scale) const {
    const auto flat = ravel_pytree(b); // clang++ lets no lambda read its parts by names
    const tracer right = flat.first;
    const auto tree_of = flat.second;
    const auto product = [matrix, tree_of](const tracer& x) { return ravel_pytree(matrix(tree_of(x))).first; };
    const iteration_bounds bounds = iteration_bounds::of(b, options, scale);
    const tracer begin = ravel_pytree(first).first;
    const auto goes_on = [bounds](const auto& carry) {
      const tracer residual = std::get<1>(carry);
      return logical_and(dot(residual, residual) > bounds.square, std::get<2>(carry) < bounds.rounds);
    };
    const int restart = options.restart;
    const auto round = [product, right, restart](const auto& carry) {
      const tracer change = correction(product, std::get<1>(carry), restart);
      const tracer x = std::get<0>(carry) + change;
      const tracer image = product(x);
      return std::tuple{x, right - image, std::get<2>(carry) + 1};
    };
    const tracer image = product(begin);
    const tracer residual = right - image;
    const tracer none = no_rounds(residual);
    const auto carried = while_loop(goes_on, round, std::tuple{begin, residual, none});
    return tree_of(std::get<0>(carried));
  }

 private:
  // Steps are functions of their own, and their parts have names, for nvcc's evaluator.

  /// A vector of zeros, or a matrix.
  static constexpr tracer zeros_of(const tracer& like, const dims& shape) {
    return build::zeros(*like.owner, {like.type(), false, shape});
  }
  static constexpr tracer root_of_squares(const tracer& x, const tracer& y) {
    const tracer squares = x * x + y * y;
    return sqrt(squares);
  }
  /// A column of the small system after all rotations so far.
  static constexpr tracer rotated(const tracer& column, const tracer& cosines, const tracer& sines, int m) {
    const auto turn = [cosines, sines](const tracer& i, const tracer& h) {
      const tracer c = cosines[i], s = sines[i], above = h[i], below = h[i + 1];
      const tracer first = c * above + s * below, second = c * below - s * above;
      const tracer changed = h.at(i + 1).set(second);
      return tracer(changed.at(i).set(first));
    };
    return fori_loop(0, m, turn, column);
  }
  /// The upper triangle's solution; row j of `columns` is its column j.
  static constexpr tracer substituted(const tracer& columns, const tracer& g, int m) {
    const tracer rows = build::transpose(columns, {1, 0});
    const auto substitute = [columns, rows, g, m](const tracer& k, const tracer& y) {
      const tracer i = m - 1 - k;
      const tracer pivot = columns[i][i], row = rows[i];
      const tracer left = g[i] - dot(row, y);
      const tracer value = where(pivot > 0., left / pivot, 0.);
      return tracer(y.at(i).set(value));
    };
    return fori_loop(0, m, substitute, zeros_of(g, {dim{m}}));
  }
  /// The basis with its next vector, orthogonalised twice, and the new column of the small system.
  template <class Product>
  static constexpr auto extended(const Product& product, const tracer& basis, const tracer& j) {
    const tracer image = product(basis[j]);
    const tracer first = dot(basis, image);
    const tracer once = image - dot(first, basis);
    const tracer second = dot(basis, once);
    const tracer twice = once - dot(second, basis);
    const tracer square = dot(twice, twice);
    const tracer length = sqrt(square);
    const tracer next = where(length > 0., twice / length, 0. * twice);
    const tracer column = first + second;
    const tracer grown = basis.at(j + 1).set(next), whole = column.at(j + 1).set(length);
    return std::pair{grown, whole};
  }
  /// The correction of x that makes the residual smallest, in the space of `m` products.
  template <class Product> static constexpr tracer correction(const Product& product, const tracer& residual, int m) {
    const dim n = residual.dimension(0), rows{m + 1};
    const tracer square = dot(residual, residual);
    const tracer norm = sqrt(square);
    const tracer none = zeros_of(residual, {rows, n}), no_target = zeros_of(residual, {rows});
    const tracer basis = none.at(0).set(residual / norm), target = no_target.at(0).set(norm);
    const tracer ones = build::broadcast_to(build::like(norm, 1), {dim{m}});
    const auto step = [product, m](const tracer& j, const auto& carry) {
      const tracer cosines = std::get<2>(carry), sines = std::get<3>(carry), g = std::get<4>(carry);
      const auto grown = extended(product, std::get<0>(carry), j);
      const tracer column = rotated(grown.second, cosines, sines, m);
      const tracer above = column[j], below = column[j + 1];
      const tracer radius = root_of_squares(above, below);
      const tracer c = where(radius > 0., above / radius, 1.), s = where(radius > 0., below / radius, 0.);
      const tracer without = column.at(j + 1).set(0.);
      const tracer turned = without.at(j).set(radius);
      const tracer columns = std::get<1>(carry).at(j).set(turned);
      const tracer left = g[j];
      const tracer moved = g.at(j + 1).set(-s * left);
      const tracer next_g = moved.at(j).set(c * left);
      const tracer next_cosines = cosines.at(j).set(c), next_sines = sines.at(j).set(s);
      return std::tuple{grown.first, columns, next_cosines, next_sines, next_g};
    };
    const auto made = fori_loop(
        0, m, step, std::tuple{basis, zeros_of(residual, {dim{m}, rows}), ones, zeros_of(residual, {dim{m}}), target});
    const tracer y = substituted(std::get<1>(made), std::get<4>(made), m);
    return dot(y, slice_in_dim(std::get<0>(made), 0, m));
  }
};

} // namespace detail

/// The solution x of `matrix x = b` by restarted GMRES (Saad and Schultz, 1986), for any matrix that has an inverse: an
/// array or a function of trees like `b`. Derivatives solve such systems again. Inside traced functions.
/// JAX: scipy.sparse.linalg.gmres, which returns (x, None)
template <class A, class B, class First = none_t>
constexpr auto gmres(const A& matrix, const B& b, const gmres_options& options = {}, const First& first = {}) {
  gmres_options checked = options;
  if constexpr (detail::any_traced<B>()) {
    if (options.restart < 1) {
      detail::trace_of_trees(b).fail(detail::message() << "gmres: restart is " << options.restart
                                                       << "; give 1 or more, the number of products between restarts");
      checked.restart = 1;
    }
  }
  return detail::solved_by(detail::generalised_minimal_residual{checked}, matrix, b, first);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
