// Cases that are loops over elements: chains of operations, transposed and broadcast operands.
#include "case.hpp"
#include "families.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#if __has_include(<xtensor/xtensor.hpp>)
#if __has_include(<xsimd/xsimd.hpp>)
#define XTENSOR_USE_XSIMD
#endif
#include <xtensor/xadapt.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#define PARALLAX_BENCH_XTENSOR
#endif

namespace bench {
namespace {

#ifdef PARALLAX_BENCH_EIGEN
using eigen_row = Eigen::Array<float, 1, Eigen::Dynamic, Eigen::RowMajor>;
#endif
#ifdef PARALLAX_BENCH_XTENSOR
template <int Rank> auto as_xtensor(const plx::array<float, Rank>& x) {
  std::array<std::size_t, std::size_t{Rank}> shape;
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = static_cast<std::size_t>(x.shape()[d]);
  xt::xtensor<float, std::size_t{Rank}> result(shape);
  std::copy_n(x.data(), x.size(), result.data());
  return result;
}
#endif

void add_chain(std::int64_t n) {
  const suite_case chain("chain " + std::to_string(n),
                         {.read = 12. * static_cast<double>(n), .written = 4. * static_cast<double>(n)});
  const auto x = waves<vector>({n}, 0), y = waves<vector>({n}, 1), z = waves<vector>({n}, 2);
  chain.add("parallax",
            [=] { return vector(plx::jit([](auto a, auto b, auto c) { return a * b + c * 2.f - b; })(x, y, z)); });
  auto to = std::make_shared<vector>(waves<vector>({n}, 0));
  chain.add("by hand", [=] {
    const float *a = x.data(), *b = y.data(), *c = z.data();
    float* __restrict out = to->mutable_data();
    for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + c[i] * 2.f - b[i];
    return *to;
  });
#ifdef PARALLAX_BENCH_EIGEN
  using map = Eigen::Map<const Eigen::ArrayXf>;
  auto kept = std::make_shared<Eigen::ArrayXf>(n);
  chain.add("eigen", [=] {
    const map a(x.data(), n), b(y.data(), n), c(z.data(), n);
    *kept = a * b + c * 2.f - b;
    return kept;
  });
#endif
#ifdef PARALLAX_BENCH_XTENSOR
  const auto a = as_xtensor(x), b = as_xtensor(y), c = as_xtensor(z);
  auto filled = std::make_shared<xt::xtensor<float, 1>>(a);
  chain.add("xtensor", [=] {
    xt::noalias(*filled) = a * b + c * 2.f - b;
    return filled;
  });
#endif
}

void add_transposed(std::int64_t n) {
  const double bytes = 4. * static_cast<double>(n * n);
  const suite_case sum("transposed sum " + std::to_string(n), {.read = 2 * bytes, .written = bytes});
  const auto x = waves<matrix>({n, n}, 0), y = waves<matrix>({n, n}, 1);
  sum.add("parallax", [=] { return matrix(plx::jit([](auto a, auto b) { return plx::transpose(a) + b; })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
  auto kept = std::make_shared<eigen_rows>(n, n);
  sum.add("eigen", [=] {
    *kept = Eigen::Map<const eigen_rows>(x.data(), n, n).transpose() + Eigen::Map<const eigen_rows>(y.data(), n, n);
    return kept;
  });
#endif
#ifdef PARALLAX_BENCH_XTENSOR
  const auto a = as_xtensor(x), b = as_xtensor(y);
  auto filled = std::make_shared<xt::xtensor<float, 2>>(a);
  sum.add("xtensor", [=] {
    xt::noalias(*filled) = xt::transpose(a) + b;
    return filled;
  });
#endif
}

void add_broadcast(std::int64_t rows, std::int64_t columns) {
  const double bytes = 4. * static_cast<double>(rows * columns);
  const suite_case sum("row broadcast", {.read = bytes, .written = bytes});
  const auto x = waves<matrix>({rows, columns}, 0);
  const auto row = waves<vector>({columns}, 1);
  sum.add("parallax", [=] { return matrix(plx::jit([](auto a, auto b) { return a + b; })(x, row)); });
#ifdef PARALLAX_BENCH_EIGEN
  auto kept = std::make_shared<eigen_rows>(rows, columns);
  sum.add("eigen", [=] {
    *kept = Eigen::Map<const eigen_rows>(x.data(), rows, columns).rowwise() +
            Eigen::Map<const eigen_row>(row.data(), columns);
    return kept;
  });
#endif
#ifdef PARALLAX_BENCH_XTENSOR
  const auto a = as_xtensor(x);
  const auto b = as_xtensor(row);
  auto filled = std::make_shared<xt::xtensor<float, 2>>(a);
  sum.add("xtensor", [=] {
    xt::noalias(*filled) = a + b;
    return filled;
  });
#endif
}

} // namespace

void add_elementwise() {
  for (std::int64_t n : {256, 4096, 1 << 16, 1 << 20, 1 << 22, 1 << 25}) add_chain(n);
  for (std::int64_t n : {1024, 4096}) add_transposed(n);
  add_broadcast(4096, 1024);
  const plx::array<float, 0> one = 1.f;
  suite_case("x + 1").add("parallax",
                          [=] { return plx::array<float, 0>(plx::jit([](auto a) { return a + 1.f; })(one)); });
}

} // namespace bench
