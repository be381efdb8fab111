// Cases that are matrix products, one or many.
#include "case.hpp"
#include "families.hpp"

#include <cblas.h>

#include <cstdint>
#include <memory>
#include <string>

namespace bench {
namespace {

#ifdef PARALLAX_BENCH_EIGEN
using eigen_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
#endif

work of_product(double batch, double rows, double columns, double depth) {
  return {.read = 4 * batch * (rows + columns) * depth,
          .written = 4 * batch * rows * columns,
          .operations = 2 * batch * rows * columns * depth};
}

/// [rows, depth] times [depth, columns].
void add_product(const std::string& name, std::int64_t rows, std::int64_t depth, std::int64_t columns) {
  const suite_case product(
      name, of_product(1, static_cast<double>(rows), static_cast<double>(columns), static_cast<double>(depth)));
  const auto x = waves<matrix>({rows, depth}, 0), y = waves<matrix>({depth, columns}, 1);
  product.add("parallax", [=] { return matrix(plx::jit([](auto a, auto b) { return plx::matmul(a, b); })(x, y)); });
  auto to = std::make_shared<matrix>(waves<matrix>({rows, columns}, 0));
  product.add("openblas", [=] {
    const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(columns), k = static_cast<blasint>(depth);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x.data(), k, y.data(), n, 0, to->mutable_data(),
                n);
    return *to;
  });
#ifdef PARALLAX_BENCH_EIGEN
  auto kept = std::make_shared<eigen_matrix>(rows, columns);
  product.add("eigen", [=] {
    kept->noalias() = Eigen::Map<const eigen_matrix>(x.data(), rows, depth) *
                      Eigen::Map<const eigen_matrix>(y.data(), depth, columns);
    return kept;
  });
#endif
}

void add_matrix_vector(std::int64_t n) {
  const double size = static_cast<double>(n);
  const suite_case product("matrix times vector " + std::to_string(n),
                           {.read = 4 * size * (size + 1), .written = 4 * size});
  const auto x = waves<matrix>({n, n}, 0);
  const auto y = waves<vector>({n}, 1);
  product.add("parallax", [=] { return vector(plx::jit([](auto a, auto b) { return plx::matmul(a, b); })(x, y)); });
  auto to = std::make_shared<vector>(waves<vector>({n}, 0));
  product.add("openblas", [=] {
    const auto m = static_cast<blasint>(n);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, m, 1, x.data(), m, y.data(), 1, 0, to->mutable_data(), 1);
    return *to;
  });
#ifdef PARALLAX_BENCH_EIGEN
  auto kept = std::make_shared<Eigen::VectorXf>(n);
  product.add("eigen", [=] {
    kept->noalias() = Eigen::Map<const eigen_matrix>(x.data(), n, n) * Eigen::Map<const Eigen::VectorXf>(y.data(), n);
    return kept;
  });
#endif
}

void add_matrix_times_vectors(std::int64_t n) {
  constexpr std::int64_t batch = 256;
  const suite_case product("256 vectors, matrix of " + std::to_string(n),
                           of_product(1, batch, static_cast<double>(n), static_cast<double>(n)));
  const auto x = waves<matrix>({n, n}, 0), y = waves<matrix>({batch, n}, 1);
  product.add("parallax", [=] {
    return matrix(plx::vmap([](auto a, auto v) { return plx::matmul(a, v); }, plx::in_axes<plx::none, 0>)(x, y));
  });
}

template <std::int64_t N> void add_small_products(std::int64_t batch) {
  const suite_case product(std::to_string(batch) + " products " + std::to_string(N) + "x" + std::to_string(N),
                           of_product(static_cast<double>(batch), N, N, N));
  using small = plx::array<float, plx::extents<plx::dyn, N, N>>;
  const auto x = waves<small>({batch, N, N}, 0), y = waves<small>({batch, N, N}, 1);
  product.add("parallax", [=] { return small(plx::vmap([](auto a, auto b) { return plx::matmul(a, b); })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
  auto to = std::make_shared<small>(waves<small>({batch, N, N}, 0));
  product.add("eigen", [=] {
    using fixed = Eigen::Matrix<float, N, N, Eigen::RowMajor>;
    for (std::int64_t i = 0; i < batch; ++i)
      Eigen::Map<fixed>(to->mutable_data() + N * N * i).noalias() =
          Eigen::Map<const fixed>(x.data() + N * N * i) * Eigen::Map<const fixed>(y.data() + N * N * i);
    return *to;
  });
#endif
}

void add_dots() {
  constexpr std::int64_t count = 4096, length = 64;
  const suite_case dots("4096 dots of 64", {.read = 8. * count * length, .written = 4. * count});
  const auto x = waves<matrix>({count, length}, 0), y = waves<matrix>({count, length}, 1);
  dots.add("parallax", [=] { return vector(plx::vmap([](auto a, auto b) { return plx::dot(a, b); })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
  dots.add("eigen", [=] {
    const Eigen::Map<const eigen_matrix> a(x.data(), count, length), b(y.data(), count, length);
    return Eigen::VectorXf(a.cwiseProduct(b).rowwise().sum());
  });
#endif
}

} // namespace

void add_products() {
  for (std::int64_t n : {8, 16, 32, 64, 128, 256, 1024}) add_product("matmul " + std::to_string(n), n, n, n);
  add_product("matmul 100000x16x16", 100000, 16, 16);
  add_product("matmul 32x8192x1024", 32, 8192, 1024);
  add_product("matmul 8192x32x1024", 8192, 32, 1024);
  add_product("matmul 32x65536x32", 32, 65536, 32);
  for (std::int64_t n : {64, 256, 1024, 4096}) add_matrix_vector(n);
  add_matrix_times_vectors(256);
  add_small_products<4>(1024);
  add_small_products<8>(1024);
  add_small_products<16>(1024);
  add_small_products<32>(256);
  add_dots();
}

} // namespace bench
