// gmres: linear systems by the smallest residual in the space of products with their matrix.
#pragma once

#include <parallax/ops/indexing.hpp>
#include <parallax/transforms/krylov.hpp>
#include <parallax/transforms/loops.hpp>
#include <parallax/transforms/ravel_pytree.hpp>

#include <tuple>
#include <utility>

namespace parallax {

/// For `gmres`: `maxiter` counts restarts, each after so many products at most.
struct gmres_options : solver_options {
  int restart = 20;
};

namespace detail {

struct generalised_minimal_residual {
  gmres_options options;

  template <class Matvec, class Tree>
  constexpr Tree operator()(const Matvec& matrix, const Tree& b, const Tree& first) const {
    const auto [right, tree_of] = ravel_pytree(b);
    const auto product = [matrix, tree_of](const tracer& x) { return ravel_pytree(matrix(tree_of(x))).first; };
    const iteration_bounds bounds = iteration_bounds::of(b, options);
    const tracer begin = ravel_pytree(first).first;
    const auto goes_on = [bounds](const auto& carry) {
      const tracer residual = std::get<1>(carry);
      return logical_and(dot(residual, residual) > bounds.square, std::get<2>(carry) < bounds.rounds);
    };
    const int restart = options.restart;
    const auto round = [product, right, restart](const auto& carry) {
      const tracer x = std::get<0>(carry) + correction(product, std::get<1>(carry), restart);
      return std::tuple{x, right - product(x), std::get<2>(carry) + 1};
    };
    const tracer none_yet = build::integer_literal(*right.owner, element_type::int32, 0);
    return tree_of(std::get<0>(while_loop(goes_on, round, std::tuple{begin, right - product(begin), none_yet})));
  }

 private:
  /// What makes a residual smallest, of `m` products: Arnoldi's basis is orthogonalised twice, and Givens rotations
  /// turn the small system into an upper triangle.
  template <class Product> static constexpr tracer correction(const Product& product, const tracer& residual, int m) {
    context& trace = *residual.owner;
    const dim n = residual.dimension(0), rows{m + 1};
    const auto zeros_of = [&](const dims& shape) { return build::zeros(trace, {residual.type(), false, shape}); };
    const tracer norm = sqrt(dot(residual, residual));
    const tracer basis = zeros_of({rows, n}).at(0).set(residual / norm);
    const tracer target = zeros_of({rows}).at(0).set(norm);
    const tracer ones = build::broadcast_to(build::like(norm, 1), {dim{m}});
    const auto step = [product, m](const tracer& j, const auto& carry) {
      const auto& [v, triangle, cosines, sines, g] = carry;
      tracer w = product(v[j]);
      tracer column = dot(v, w);
      w = w - dot(column, v);
      const tracer again = dot(v, w);
      w = w - dot(again, v);
      column = column + again;
      const tracer length = sqrt(dot(w, w));
      const tracer next = v.at(j + 1).set(where(length > 0., w / length, 0. * w));
      const auto turn = [cosines, sines](const tracer& i, const tracer& h) {
        const tracer upper = cosines[i] * h[i] + sines[i] * h[i + 1];
        return h.at(i + 1).set(cosines[i] * h[i + 1] - sines[i] * h[i]).at(i).set(upper);
      };
      const tracer turned = fori_loop(0, m, turn, column.at(j + 1).set(length));
      const tracer radius = sqrt(turned[j] * turned[j] + turned[j + 1] * turned[j + 1]);
      const tracer c = where(radius > 0., turned[j] / radius, 1.), s = where(radius > 0., turned[j + 1] / radius, 0.);
      return std::tuple{next, triangle.at(j).set(turned.at(j + 1).set(0.).at(j).set(radius)), cosines.at(j).set(c),
                        sines.at(j).set(s), g.at(j + 1).set(-s * g[j]).at(j).set(c * g[j])};
    };
    // row j of `columns` is column j of the triangle
    const auto [v, columns, cosines, sines, g] =
        fori_loop(0, m, step, std::tuple{basis, zeros_of({dim{m}, rows}), ones, zeros_of({dim{m}}), target});
    const auto substitute = [columns, g, m](const tracer& k, const tracer& y) {
      const tracer i = m - 1 - k;
      const tracer pivot = columns[i][i];
      const tracer row = transpose(columns)[i];
      return y.at(i).set(where(pivot > 0., (g[i] - dot(row, y)) / pivot, 0.));
    };
    const tracer y = fori_loop(0, m, substitute, zeros_of({dim{m}}));
    return dot(y, slice_in_dim(v, 0, m));
  }
};

} // namespace detail

/// The solution x of `matrix x = b` by restarted GMRES (Saad and Schultz, 1986), for any matrix that has an inverse: an
/// array or a function of trees like `b`. Derivatives solve such systems again. Inside traced functions.
/// JAX: scipy.sparse.linalg.gmres, which returns (x, None)
template <class A, class B, class First = none_t>
constexpr auto gmres(const A& matrix, const B& b, const gmres_options& options = {}, const First& first = {}) {
  return detail::solved_by(detail::generalised_minimal_residual{options}, matrix, b, first);
}

} // namespace parallax
