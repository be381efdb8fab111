// The cases of `scripts/bench` that are one operation each: in Parallax, in Eigen where it has a word for them, and by
// hand.
#include "support/suite_case.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace plx = parallax;

namespace {

using bench::add, bench::waves, bench::vector, bench::matrix;

// ---- Elementwise --------------------------------------------------------------------------------------

void add_chains() {
  for (std::int64_t n : {std::int64_t{4096}, std::int64_t{1} << 16, std::int64_t{1} << 20, std::int64_t{1} << 22,
                         std::int64_t{1} << 25}) {
    const std::string name = "chain " + std::to_string(n);
    const double bytes = 16. * static_cast<double>(n);
    const auto x = waves<vector>({n}, 0), y = waves<vector>({n}, 1), z = waves<vector>({n}, 2);
    add(name + "/parallax", bytes,
        [=] { return vector(plx::jit([](auto a, auto b, auto c) { return a * b + c * 2.f - b; })(x, y, z)); });
    auto to = std::make_shared<vector>(waves<vector>({n}, 0));
    add(name + "/by hand", bytes, [=] {
      const float *a = x.data(), *b = y.data(), *c = z.data();
      float* __restrict out = to->mutable_data();
      for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + c[i] * 2.f - b[i];
      return *to;
    });
#ifdef PARALLAX_BENCH_EIGEN
    using map = Eigen::Map<const Eigen::ArrayXf>;
    auto kept = std::make_shared<Eigen::ArrayXf>(n);
    add(name + "/eigen", bytes, [=] {
      const map a(x.data(), n), b(y.data(), n), c(z.data(), n);
      *kept = a * b + c * 2.f - b;
      return kept;
    });
#endif
  }
}

template <class Function, class Peer>
void add_function(const std::string& name, Function function, [[maybe_unused]] Peer peer) {
  constexpr std::int64_t n = 1 << 20;
  const auto x = waves<vector>({n}, 0);
  add(name + "/parallax", 8. * n, [=] { return vector(function(x)); });
#ifdef PARALLAX_BENCH_EIGEN
  add(name + "/eigen", 8. * n, [=] {
    Eigen::ArrayXf result = peer(Eigen::Map<const Eigen::ArrayXf>(x.data(), n));
    return result;
  });
#endif
}
void add_functions() {
  add_function("exp", plx::jit([](auto x) { return plx::exp(x); }), [](auto x) { return x.exp(); });
  add_function("tanh", plx::jit([](auto x) { return plx::tanh(x); }), [](auto x) { return x.tanh(); });
  add_function("log", plx::jit([](auto x) { return plx::log(x + 2.f); }), [](auto x) { return (x + 2.f).log(); });
  add_function("sin", plx::jit([](auto x) { return plx::sin(x); }), [](auto x) { return x.sin(); });
  add_function("logistic", plx::jit([](auto x) { return plx::logistic(x); }), [](auto x) { return x.logistic(); });
}

void add_transposed() {
  for (std::int64_t n : {1024, 4096}) {
    const std::string name = "transposed sum " + std::to_string(n);
    const double bytes = 12. * static_cast<double>(n * n);
    const auto x = waves<matrix>({n, n}, 0), y = waves<matrix>({n, n}, 1);
    add(name + "/parallax", bytes,
        [=] { return matrix(plx::jit([](auto a, auto b) { return plx::transpose(a) + b; })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
    using rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    add(name + "/eigen", bytes, [=] {
      rows result = Eigen::Map<const rows>(x.data(), n, n).transpose() + Eigen::Map<const rows>(y.data(), n, n);
      return result;
    });
#endif
  }
  const auto x = waves<matrix>({4096, 1024}, 0);
  const auto row = waves<vector>({1024}, 1);
  add("row broadcast/parallax", 8. * 4096 * 1024,
      [=] { return matrix(plx::jit([](auto a, auto b) { return a + b; })(x, row)); });
}

// ---- Rows -------------------------------------------------------------------------------------------------

#ifdef PARALLAX_BENCH_EIGEN
using eigen_rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
#endif

void add_rows(std::int64_t rows, std::int64_t columns) {
  const std::string size = " " + std::to_string(rows) + "x" + std::to_string(columns);
  const double bytes = 4. * static_cast<double>(rows * columns);
  const auto x = waves<matrix>({rows, columns}, 0);
  add("sum rows" + size + "/parallax", bytes,
      [=] { return vector(plx::jit([](auto a) { return plx::sum(a, 1); })(x)); });
  add("sum columns" + size + "/parallax", bytes,
      [=] { return vector(plx::jit([](auto a) { return plx::sum(a, 0); })(x)); });
  add("max rows" + size + "/parallax", bytes,
      [=] { return vector(plx::jit([](auto a) { return plx::max(a, 1); })(x)); });
  add("argmax rows" + size + "/parallax", bytes,
      [=] { return plx::array<std::int32_t, 1>(plx::jit([](auto a) { return plx::argmax(a, 1); })(x)); });
  add("softmax" + size + "/parallax", 2 * bytes,
      [=] { return matrix(plx::jit([](auto a) { return plx::softmax(a, 1); })(x)); });
  add("logsumexp" + size + "/parallax", bytes,
      [=] { return vector(plx::jit([](auto a) { return plx::logsumexp(a, 1); })(x)); });
#ifdef PARALLAX_BENCH_EIGEN
  const auto mapped = [=] { return Eigen::Map<const eigen_rows>(x.data(), rows, columns); };
  add("sum rows" + size + "/eigen", bytes, [=] { return Eigen::ArrayXf(mapped().rowwise().sum()); });
  add("sum columns" + size + "/eigen", bytes, [=] { return Eigen::ArrayXf(mapped().colwise().sum()); });
  add("max rows" + size + "/eigen", bytes, [=] { return Eigen::ArrayXf(mapped().rowwise().maxCoeff()); });
  add("softmax" + size + "/eigen", 2 * bytes, [=] {
    const auto a = mapped();
    eigen_rows result(rows, columns);
    for (std::int64_t i = 0; i < rows; ++i) {
      result.row(i) = (a.row(i) - a.row(i).maxCoeff()).exp();
      result.row(i) *= 1 / result.row(i).sum();
    }
    return result;
  });
#endif
}

// ---- Products and programs --------------------------------------------------------------------------------

void add_products() {
  for (std::int64_t n : {16, 64, 256, 1024}) {
    const std::string name = "matmul " + std::to_string(n);
    const auto x = waves<matrix>({n, n}, 0), y = waves<matrix>({n, n}, 1);
    const double bytes = 12. * static_cast<double>(n * n);
    add(name + "/parallax", bytes,
        [=] { return matrix(plx::jit([](auto a, auto b) { return plx::matmul(a, b); })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
    using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    add(name + "/eigen", bytes, [=] {
      rows result = Eigen::Map<const rows>(x.data(), n, n) * Eigen::Map<const rows>(y.data(), n, n);
      return result;
    });
#endif
  }
  using small = plx::array<float, plx::extents<plx::dyn, 4, 4>>;
  const auto x = waves<small>({1024, 4, 4}, 0), y = waves<small>({1024, 4, 4}, 1);
  add("1024 matmuls of 4/parallax", 3. * 64 * 1024,
      [=] { return small(plx::vmap([](auto a, auto b) { return plx::matmul(a, b); })(x, y)); });
#ifdef PARALLAX_BENCH_EIGEN
  auto to = std::make_shared<small>(waves<small>({1024, 4, 4}, 0));
  add("1024 matmuls of 4/eigen", 3. * 64 * 1024, [=] {
    using fixed = Eigen::Matrix<float, 4, 4, Eigen::RowMajor>;
    for (std::int64_t i = 0; i < 1024; ++i)
      Eigen::Map<fixed>(to->mutable_data() + 16 * i) =
          Eigen::Map<const fixed>(x.data() + 16 * i) * Eigen::Map<const fixed>(y.data() + 16 * i);
    return *to;
  });
#endif
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add_chains();
  add_functions();
  add_transposed();
  for (auto [rows, columns] : {std::pair{128, 128}, {4096, 1024}, {1 << 18, 64}}) add_rows(rows, columns);
  add_products();
  benchmark::RunSpecifiedBenchmarks();
}
