// Solves Poisson's equation on a square by conjugate gradients, which go round until the residual is small enough: no
// matrix, only its product with a vector. Once on one device, and once on strips that exchange their edges.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <tuple>

namespace plx = parallax;

namespace {

// Solves `product(x) = b` for a product with a symmetric positive definite matrix: (x, |b - product(x)|^2, rounds).
constexpr auto conjugate_gradient = [](const auto& product, const auto& inner, auto b, auto tolerance, auto most) {
  auto enough = inner(b, b) * tolerance * tolerance;
  auto unfinished = [&](const auto& carry) {
    return plx::logical_and(std::get<3>(carry) > enough, std::get<4>(carry) < most);
  };
  auto round = [&](const auto& carry) {
    auto [x, residual, direction, square, rounds] = carry;
    auto image = product(direction);
    auto length = square / inner(direction, image);
    auto left = residual - length * image;
    auto next_square = inner(left, left);
    return std::tuple{x + length * direction, left, left + next_square / square * direction, next_square, rounds + 1};
  };
  auto [x, residual, direction, square, rounds] =
      plx::while_loop(unfinished, round, std::tuple{plx::zeros_like(b), b, b, inner(b, b), 0});
  return std::tuple{x, square, rounds};
};

// Four times each element without its neighbours, of rows that have a row of others above and one below; 0 at the
// sides.
constexpr auto negative_laplacian = [](auto above, auto u, auto below) {
  auto rows = plx::concatenate({above, u, below});
  auto columns = plx::pad(u, 0, {{0, 0}, {1, 1}});
  return 4. * u - plx::slice_in_dim(rows, 0, -2) - plx::slice_in_dim(rows, 2, plx::none) -
         plx::slice_in_dim(columns, 0, -2, 1, 1) - plx::slice_in_dim(columns, 2, plx::none, 1, 1);
};

constexpr auto solve = [](auto b, auto tolerance, auto most) {
  auto product = [](auto u) {
    auto edge = plx::zeros_like(plx::slice_in_dim(u, 0, 1));
    return negative_laplacian(edge, u, edge);
  };
  return conjugate_gradient(product, [](auto u, auto v) { return plx::sum(u * v); }, b, tolerance, most);
};

// The same of a strip of rows: shifted edges are zeros at the ends, and an inner product is the sum of the strips'.
constexpr auto solve_strips = plx::pmap<"strips">(
    [](auto b, auto tolerance, auto most) {
      auto product = [](auto u) {
        auto above = plx::ppermute<"strips">(plx::slice_in_dim(u, -1, plx::none), plx::shift{1});
        auto below = plx::ppermute<"strips">(plx::slice_in_dim(u, 0, 1), plx::shift{-1});
        return negative_laplacian(above, u, below);
      };
      auto inner = [](auto u, auto v) { return plx::psum<"strips">(plx::sum(u * v)); };
      return conjugate_gradient(product, inner, b, tolerance, most);
    },
    plx::in_axes<0, plx::none, plx::none>);

/// The product by plain loops, of an array without its edges.
plx::array<double, 2> product_of(const plx::array<double, 2>& u) {
  const std::int64_t rows = u.shape(0), columns = u.shape(1);
  auto at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || i == rows || j < 0 || j == columns ? 0 : u.data()[i * columns + j];
  };
  auto result = plx::array<double, 2>::uninitialised({rows, columns});
  double* values = result.mutable_data();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      *values++ = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
  return result;
}
double norm(const plx::array<double, 2>& u) { return std::sqrt(plx::array(plx::sum(plx::square(u))).item()); }
double distance(const plx::array<double, 2>& u, const plx::array<double, 2>& v) { return norm(u - v); }

void run() {
  constexpr std::int64_t n = 128;
  constexpr double tolerance = 1e-10;
  auto wanted = plx::array<double, 2>::uninitialised({n, n});
  double* values = wanted.mutable_data();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = static_cast<double>(i + 1) / (n + 1), y = static_cast<double>(j + 1) / (n + 1);
      *values++ = x * (1 - x) * y * std::sin(3 * y) * std::exp(x);
    }
  const plx::array<double, 2> b = product_of(wanted);

  const auto [x, square, rounds] = plx::jit(solve)(b, tolerance, 10 * n);
  const double residual = distance(b, product_of(x)) / norm(b), error = distance(x, wanted) / norm(wanted);
  std::cout << n * n << " unknowns on one device: " << rounds.item() << " rounds, residual " << residual << ", error "
            << error << '\n';
  examples::claim(residual < 1.1 * tolerance, "the residual is below the tolerance");
  examples::claim(error < 1e-7, "the solution is found");
  examples::claim(rounds.item() < 10 * n, "it is found in fewer rounds than were allowed");

  const auto [early, early_square, few] = plx::jit(solve)(b, tolerance, 10);
  std::cout << "stopped after " << few.item() << " rounds: residual " << std::sqrt(early_square.item()) / norm(b)
            << '\n';
  examples::claim(few.item() == 10 && early_square.item() > square.item(), "a limit of rounds is kept");

  std::int64_t strips = std::min<std::int64_t>(plx::device_count(), n);
  while (n % strips != 0) --strips;
  const plx::array<double, 3> parts = plx::reshape(b, {strips, n / strips, n});
  const auto [part, squares, counts] = solve_strips(parts, tolerance, 10 * n);
  const plx::array<double, 2> joined = plx::reshape(part, {n, n});
  std::cout << "in " << strips << (strips == 1 ? " strip: " : " strips: ") << counts(0) << " rounds, residual "
            << distance(b, product_of(joined)) / norm(b) << ", from the solution on one device "
            << distance(joined, x) / norm(x) << '\n';
  examples::claim(std::abs(counts(0) - rounds.item()) <= 2, "strips take as many rounds, but for rounding");
  examples::claim(distance(joined, x) < 1e-7 * norm(x), "strips find the same solution");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("conjugate_gradient", argc, argv, [](std::span<const char* const>) { run(); });
}
