// A function of LAPACK as an operation of array programs: eigenvalues and eigenvectors of symmetric matrices, with
// their derivatives. It is what `custom_call` is for on the host.
#include <parallax/parallax.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "support/test.hpp"

extern "C" void dsyev_(const char* job, const char* triangle, const int* n, double* a, const int* stride,
                       double* values, double* work, const int* work_size, int* info);

namespace lapack_call_test {

namespace {

namespace plx = parallax;

/// The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors as columns. NumPy: linalg.eigh
struct eigh {
  static void host(plx::ffi_buffer<const double, 2> a, plx::ffi_buffer<double, 1> values,
                   plx::ffi_buffer<double, 2> vectors) {
    const int n = static_cast<int>(a.extent(0)), size = 34 * n;
    std::vector<double> column_major(a.data(), a.data() + a.size()), work(static_cast<std::size_t>(size));
    int info = 0;
    dsyev_("V", "U", &n, column_major.data(), &n, values.data(), work.data(), &size, &info);
    if (info != 0) std::abort();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) vectors(i, j) = column_major[static_cast<std::size_t>(j * n + i)];
  }
  static constexpr auto shape(auto a) { return std::pair{plx::index_in_dim(a, 0), a}; }

  /// V (diag(values') + F * V^T V') V^T with F_ij = 1 / (value_j - value_i), made symmetric. M. Giles, An extended
  /// collection of matrix derivative results, 2008.
  static constexpr auto vjp(auto, auto result, auto cotangents) {
    auto [values, vectors] = result;
    auto n = values.shape(0);
    auto row = plx::broadcast_to(plx::reshape(values, {1, n}), {n, n}), transposed = plx::transpose(vectors);
    auto apart = row - plx::transpose(row);
    auto is_diagonal = apart == 0.;
    auto inner =
        plx::where(is_diagonal, 0., plx::matmul(transposed, cotangents.second) / plx::where(is_diagonal, 1., apart));
    auto places = plx::iota<int>(n);
    auto by_values = plx::zeros_like(apart).at(places, places).set(cotangents.first);
    auto whole = plx::matmul(plx::matmul(vectors, by_values + inner), transposed);
    return std::tuple{0.5 * (whole + plx::transpose(whole))};
  }
};

using matrix = plx::array<double, plx::extents<4, 4>>;
matrix some_matrix() {
  matrix a;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      a.mutable_data()[4 * i + j] =
          std::sin(static_cast<double>(3 * (i + j) + i * j)) + (i == j ? static_cast<double>(i) : 0.);
  return a;
}
constexpr auto decompose = [](auto a) { return plx::custom_call<eigh>(a); };
/// Of values and vectors: a function whose signs of vectors do not matter.
constexpr auto loss = [](auto a) {
  auto [values, vectors] = plx::custom_call<eigh>(a);
  auto weights = plx::arange<double>(4) + 1.;
  return plx::sum(plx::sin(values) * weights) + plx::sum(plx::square(plx::index_in_dim(vectors, 1)) * weights);
};
/// The slope of f where both halves of a matrix change alike.
template <class F> std::vector<double> slopes(const F& f, const matrix& a, double step) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      double value[2];
      for (int side = 0; side < 2; ++side) {
        matrix moved = a;
        const double by = side == 0 ? -step : step;
        moved.mutable_data()[4 * i + j] += by / 2;
        moved.mutable_data()[4 * j + i] += by / 2;
        value[side] = f(moved);
      }
      result.push_back((value[1] - value[0]) / (2 * step));
    }
  return result;
}

} // namespace

TEST_CASE("a function of LAPACK: what it finds are eigenvalues and eigenvectors") {
  const matrix a = some_matrix();
  const auto [values, vectors] = plx::jit(decompose)(a);
  for (std::int64_t k = 0; k < 4; ++k)
    for (std::int64_t i = 0; i < 4; ++i) {
      double product = 0;
      for (std::int64_t j = 0; j < 4; ++j) product += a(i, j) * vectors(j, k);
      CHECK(std::abs(product - values(k) * vectors(i, k)) < 1e-14);
    }
  CHECK(std::is_sorted(values.values().begin(), values.values().end()));
}

TEST_CASE("a function of LAPACK: derivatives of first and second order, in batches") {
  const matrix a = some_matrix();
  const auto gradient = plx::jit(plx::grad(loss))(a);
  const auto expected = slopes([](const matrix& m) { return plx::jit(loss)(m).item(); }, a, 1e-5);
  for (std::size_t k = 0; k < 16; ++k) CHECK(std::abs(gradient.values()[k] - expected[k]) < 1e-8);

  static constexpr auto steepness = [](auto m) { return plx::sum(plx::square(plx::grad(loss)(m))); };
  const auto second = plx::jit(plx::grad(steepness))(a);
  const auto by_differences = slopes([](const matrix& m) { return plx::jit(steepness)(m).item(); }, a, 1e-5);
  for (std::size_t k = 0; k < 16; ++k)
    CHECK(std::abs(second.values()[k] - by_differences[k]) < 1e-6 * (1 + std::abs(by_differences[k])));

  const auto batch = plx::jit([](auto m) { return plx::stack({m, 2. * m, m + 1.}); })(a);
  const auto all = plx::jit(plx::vmap(plx::grad(loss)))(batch);
  const matrix others[] = {a, 2. * a, a + 1.};
  for (std::size_t b = 0; b < 3; ++b) {
    const auto one = plx::jit(plx::grad(loss))(others[b]);
    for (std::size_t k = 0; k < 16; ++k) CHECK(std::abs(all.values()[16 * b + k] - one.values()[k]) < 1e-13);
  }
}

} // namespace lapack_call_test
