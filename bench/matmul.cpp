// Matrix products against OpenBLAS called by hand, with one thread and with two, and against Eigen. Every case checks
// its result against double precision before it is timed. `bench/compare.py` makes a table of the output.
#include "support/machine_limits.hpp"
#include "support/random_values.hpp"

#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif
#include <cblas.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace plx = parallax;

namespace {

constexpr int two_threads = 2;

/// A batch of products of n x n matrices, `count` of them; a right operand may be the same for all.
struct problem {
  std::int64_t count, rows, columns, depth;
  std::vector<float> left, right;
  bool shared_right = false;

  const float* left_of(std::int64_t i) const { return left.data() + i * rows * depth; }
  const float* right_of(std::int64_t i) const { return right.data() + (shared_right ? 0 : i * depth * columns); }
  double flops() const {
    return 2. * static_cast<double>(count) * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth);
  }
};

problem square(std::int64_t n, std::int64_t count = 1) {
  return {count, n, n, n, bench::random_values(count * n * n, 1, 1), bench::random_values(count * n * n, 2, 1)};
}

/// Whether a sample of the results is what double precision gives; ends the benchmark if not.
bool is_right(benchmark::State& state, const problem& p, std::span<const float> result) {
  std::mt19937 engine(3);
  auto below = [&](std::int64_t limit) { return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(engine); };
  for (int sample = 0; sample < 200; ++sample) {
    std::int64_t i = below(p.count), row = below(p.rows), column = below(p.columns);
    double sum = 0, size = 0;
    for (std::int64_t k = 0; k < p.depth; ++k) {
      double term = static_cast<double>(p.left_of(i)[row * p.depth + k]) *
                    static_cast<double>(p.right_of(i)[k * p.columns + column]);
      sum += term;
      size += std::abs(term);
    }
    double got = static_cast<double>(result[static_cast<std::size_t>((i * p.rows + row) * p.columns + column)]);
    if (!(std::abs(got - sum) <= 1e-6 * size + 1e-6)) {
      state.SkipWithError("wrong result");
      return false;
    }
  }
  return true;
}

void count_work(benchmark::State& state, const problem& p) {
  static const double one_core = bench::peak_gflops(1), both = bench::peak_gflops(two_threads);
  state.counters["flops"] = p.flops();
  state.counters["peak_1"] = one_core;
  state.counters["peak_2"] = both;
}

/// Times `run`, which returns the elements of the result.
template <class F> void time(benchmark::State& state, const problem& p, int threads, F run) {
  openblas_set_num_threads(threads);
  if (!is_right(state, p, run())) return;
  for (auto _ : state) benchmark::DoNotOptimize(run().data());
  count_work(state, p);
}

void blas_product(const problem& p, std::int64_t i, float* result) {
  int m = static_cast<int>(p.rows), n = static_cast<int>(p.columns), k = static_cast<int>(p.depth);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, p.left_of(i), k, p.right_of(i), n, 0,
              result + i * p.rows * p.columns, n);
}

void blas(benchmark::State& state, const problem& p, int threads) {
  std::vector<float> result(static_cast<std::size_t>(p.count * p.rows * p.columns));
  time(state, p, threads, [&] {
    for (std::int64_t i = 0; i < p.count; ++i) blas_product(p, i, result.data());
    return std::span<const float>(result);
  });
}

#if __has_include(<Eigen/Core>)
void eigen(benchmark::State& state, const problem& p) {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<float> result(static_cast<std::size_t>(p.count * p.rows * p.columns));
  time(state, p, 1, [&] {
    for (std::int64_t i = 0; i < p.count; ++i) {
      Eigen::Map<const matrix> a(p.left_of(i), p.rows, p.depth), b(p.right_of(i), p.depth, p.columns);
      Eigen::Map<matrix> c(result.data() + i * p.rows * p.columns, p.rows, p.columns);
      c.noalias() = a * b;
    }
    return std::span<const float>(result);
  });
}
#endif

// ---- One product --------------------------------------------------------------------------------

constexpr auto matmul = plx::jit([](auto a, auto b) { return plx::matmul(a, b); });

void matmul_parallax(benchmark::State& state) {
  problem p = square(state.range(0));
  plx::array<float, 2> a({p.rows, p.depth}, p.left), b({p.depth, p.columns}, p.right), c;
  time(state, p, 1, [&] { return (c = matmul(a, b)).values(); });
}
void matmul_openblas_1(benchmark::State& state) { blas(state, square(state.range(0)), 1); }
void matmul_openblas_2(benchmark::State& state) { blas(state, square(state.range(0)), two_threads); }

// ---- vmap of a matrix-vector product: 256 vectors, one matrix ------------------------------------

constexpr std::int64_t vectors = 256;
constexpr auto matvecs =
    plx::jit(plx::vmap([](auto matrix, auto vector) { return plx::dot(vector, matrix); }, plx::in_axes<plx::none, 0>));

problem matvec_problem(std::int64_t n) {
  return {1, vectors, n, n, bench::random_values(vectors * n, 1, 1), bench::random_values(n * n, 2, 1)};
}
void vmap_matvec_parallax(benchmark::State& state) {
  problem p = matvec_problem(state.range(0));
  plx::array<float, 2> matrix({p.depth, p.columns}, p.right), many({p.rows, p.depth}, p.left), c;
  time(state, p, 1, [&] { return (c = matvecs(matrix, many)).values(); });
}
/// What one writes who knows that it is one product.
void vmap_matvec_openblas_1(benchmark::State& state) { blas(state, matvec_problem(state.range(0)), 1); }
void vmap_matvec_openblas_2(benchmark::State& state) { blas(state, matvec_problem(state.range(0)), two_threads); }
/// What one writes otherwise.
void vmap_matvec_sgemv_loop(benchmark::State& state) {
  problem p = matvec_problem(state.range(0));
  std::vector<float> result(static_cast<std::size_t>(p.rows * p.columns));
  int n = static_cast<int>(p.columns);
  time(state, p, 1, [&] {
    for (std::int64_t i = 0; i < p.rows; ++i)
      cblas_sgemv(CblasRowMajor, CblasTrans, n, n, 1, p.right.data(), n, p.left.data() + i * p.depth, 1, 0,
                  result.data() + i * p.columns, 1);
    return std::span<const float>(result);
  });
}

// ---- vmap of a product: 16 pairs of matrices -----------------------------------------------------

constexpr std::int64_t pairs = 16;
constexpr auto matmuls = plx::jit(plx::vmap([](auto a, auto b) { return plx::matmul(a, b); }));

void vmap_matmul_parallax(benchmark::State& state) {
  problem p = square(state.range(0), pairs);
  plx::array<float, 3> a({p.count, p.rows, p.depth}, p.left), b({p.count, p.depth, p.columns}, p.right), c;
  time(state, p, 1, [&] { return (c = matmuls(a, b)).values(); });
}
void vmap_matmul_openblas_1(benchmark::State& state) { blas(state, square(state.range(0), pairs), 1); }
void vmap_matmul_openblas_2(benchmark::State& state) { blas(state, square(state.range(0), pairs), two_threads); }

// ---- pmap of that vmap: 8 pairs on each of 2 devices, where they lie already ---------------------

constexpr auto spread_matmuls = plx::pmap(plx::vmap([](auto a, auto b) { return plx::matmul(a, b); }));
constexpr auto place = plx::pmap([](auto x) { return x; });

void pmap_vmap_matmul_parallax(benchmark::State& state) {
  problem p = square(state.range(0), pairs);
  auto a = place(plx::array<float, 4>({2, p.count / 2, p.rows, p.depth}, p.left)),
       b = place(plx::array<float, 4>({2, p.count / 2, p.depth, p.columns}, p.right));
  openblas_set_num_threads(1);
  auto c = spread_matmuls(a, b);
  if (plx::array<float, 4> whole = c; !is_right(state, p, whole.values())) return;
  for (auto _ : state) benchmark::DoNotOptimize(c = spread_matmuls(a, b));
  count_work(state, p);
}

} // namespace

#define PARALLAX_BENCHMARK(name, largest)                                                                              \
  BENCHMARK(name)->RangeMultiplier(2)->Range(8, largest)->UseRealTime()->Unit(benchmark::kMicrosecond)

PARALLAX_BENCHMARK(matmul_parallax, 2048);
PARALLAX_BENCHMARK(matmul_openblas_1, 2048);
PARALLAX_BENCHMARK(matmul_openblas_2, 2048);
PARALLAX_BENCHMARK(vmap_matvec_parallax, 2048);
PARALLAX_BENCHMARK(vmap_matvec_openblas_1, 2048);
PARALLAX_BENCHMARK(vmap_matvec_openblas_2, 2048);
PARALLAX_BENCHMARK(vmap_matvec_sgemv_loop, 2048);
PARALLAX_BENCHMARK(vmap_matmul_parallax, 512);
PARALLAX_BENCHMARK(vmap_matmul_openblas_1, 512);
PARALLAX_BENCHMARK(vmap_matmul_openblas_2, 512);
PARALLAX_BENCHMARK(pmap_vmap_matmul_parallax, 512);
#if __has_include(<Eigen/Core>)
void matmul_eigen(benchmark::State& state) { eigen(state, square(state.range(0))); }
void vmap_matvec_eigen(benchmark::State& state) { eigen(state, matvec_problem(state.range(0))); }
void vmap_matmul_eigen(benchmark::State& state) { eigen(state, square(state.range(0), pairs)); }
PARALLAX_BENCHMARK(matmul_eigen, 2048);
PARALLAX_BENCHMARK(vmap_matvec_eigen, 2048);
PARALLAX_BENCHMARK(vmap_matmul_eigen, 512);
#endif
