// Fused elementwise loops and reductions against the loops one writes by hand. Every case checks its result against
// double precision before it is timed.
#include "support/checked_loops.hpp"
#include "support/random_values.hpp"

#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace plx = parallax;

namespace {

using bench::random_matrix, bench::random_vector, bench::time;

// ---- A chain of eight operations ------------------------------------------------------------------

constexpr auto chain = [](auto x, auto y) {
  auto a = x * y + x;
  auto b = a * a - y;
  return (b + 0.5f) * a - x * 0.25f;
};

void chain_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit(chain);
  std::int64_t n = state.range(0);
  plx::array<float, 1> x = random_vector(n, 1), y = random_vector(n, 2), z;
  auto at = [](const auto& v, std::size_t i) { return static_cast<double>(v.values()[i]); };
  time(
      state, n, 12 * n, 1e-5, [&] { return (z = compiled(x, y)).values(); },
      [&](std::size_t i) { return chain(at(x, i), at(y, i)); });
}
void chain_by_hand(benchmark::State& state) {
  std::int64_t n = state.range(0);
  std::vector<float> x = bench::random_values(n, 1, 2), y = bench::random_values(n, 2, 2), z(x.size());
  time(
      state, n, 12 * n, 1e-5,
      [&] {
        const float *from = x.data(), *other = y.data();
        float* __restrict to = z.data();
        for (std::int64_t i = 0; i < n; ++i) to[i] = chain(from[i], other[i]);
        return std::span<const float>(z);
      },
      [&](std::size_t i) { return chain(static_cast<double>(x[i]), static_cast<double>(y[i])); });
}

// ---- One function ---------------------------------------------------------------------------------

template <class F, class Expected> void unary(benchmark::State& state, const F& compiled, Expected expected) {
  std::int64_t n = state.range(0);
  plx::array<float, 1> x = random_vector(n, 1), z;
  time(
      state, n, 8 * n, 1e-6, [&] { return (z = compiled(x)).values(); },
      [&](std::size_t i) { return expected(static_cast<double>(x.values()[i])); });
}
template <class F, class Expected> void unary_by_hand(benchmark::State& state, F function, Expected expected) {
  std::int64_t n = state.range(0);
  std::vector<float> x = bench::random_values(n, 1, 2), z(x.size());
  time(
      state, n, 8 * n, 1e-6,
      [&] {
        for (std::size_t i = 0; i < x.size(); ++i) z[i] = function(x[i]);
        return std::span<const float>(z);
      },
      [&](std::size_t i) { return expected(static_cast<double>(x[i])); });
}
double exp_of(double x) { return std::exp(x); }
double tanh_of(double x) { return std::tanh(x); }

void exp_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::exp(x); });
  unary(state, compiled, exp_of);
}
void exp_libm(benchmark::State& state) {
  unary_by_hand(state, [](float x) { return std::exp(x); }, exp_of);
}
void tanh_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::tanh(x); });
  unary(state, compiled, tanh_of);
}
void tanh_libm(benchmark::State& state) {
  unary_by_hand(state, [](float x) { return std::tanh(x); }, tanh_of);
}

// ---- Sums and softmax of a matrix -----------------------------------------------------------------

void sum_rows_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::sum(x, 1); });
  std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns);
  plx::array<float, 1> z;
  time(
      state, rows * columns, 4 * rows * columns, 1e-4, [&] { return (z = compiled(x)).values(); },
      [&](std::size_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j)
          sum += static_cast<double>(x.values()[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)]);
        return sum;
      });
}
void sum_columns_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::sum(x, 0); });
  std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns);
  plx::array<float, 1> z;
  time(
      state, rows * columns, 4 * rows * columns, 1e-4, [&] { return (z = compiled(x)).values(); },
      [&](std::size_t j) {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i)
          sum += static_cast<double>(x.values()[static_cast<std::size_t>(i * columns) + j]);
        return sum;
      });
}

/// Sums by hand with sixteen partial sums, which a compiler keeps in one register.
void sum_rows_by_hand(benchmark::State& state) {
  std::int64_t rows = state.range(0), columns = state.range(1);
  std::vector<float> x = bench::random_values(rows * columns, 1, 2), z(static_cast<std::size_t>(rows));
  time(
      state, rows * columns, 4 * rows * columns, 1e-4,
      [&] {
        for (std::int64_t i = 0; i < rows; ++i) {
          const float* row = x.data() + i * columns;
          float partial[64] = {}, sum = 0;
          for (std::int64_t j = 0; j + 64 <= columns; j += 64)
            for (int k = 0; k < 64; ++k) partial[k] += row[j + k];
          for (float each : partial) sum += each;
          z[static_cast<std::size_t>(i)] = sum;
        }
        return std::span<const float>(z);
      },
      [&](std::size_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j)
          sum += static_cast<double>(x[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)]);
        return sum;
      });
}
void sum_columns_by_hand(benchmark::State& state) {
  std::int64_t rows = state.range(0), columns = state.range(1);
  std::vector<float> x = bench::random_values(rows * columns, 1, 2), z(static_cast<std::size_t>(columns));
  time(
      state, rows * columns, 4 * rows * columns, 1e-4,
      [&] {
        std::fill(z.begin(), z.end(), 0.f);
        float* __restrict to = z.data();
        for (std::int64_t i = 0; i < rows; ++i) {
          const float* row = x.data() + i * columns;
          for (std::int64_t j = 0; j < columns; ++j) to[j] += row[j];
        }
        return std::span<const float>(z);
      },
      [&](std::size_t j) {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i)
          sum += static_cast<double>(x[static_cast<std::size_t>(i * columns) + j]);
        return sum;
      });
}

void softmax_rows_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) {
    auto shifted = plx::exp(x - plx::max(x, 1, plx::keepdims));
    return shifted / plx::sum(shifted, 1, plx::keepdims);
  });
  std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns), z;
  time(
      state, rows * columns, 8 * rows * columns, 1e-5, [&] { return (z = compiled(x)).values(); },
      [&](std::size_t i) {
        auto width = static_cast<std::size_t>(columns);
        double sum = 0;
        for (std::size_t j = 0; j < width; ++j) sum += std::exp(static_cast<double>(x.values()[i / width * width + j]));
        return std::exp(static_cast<double>(x.values()[i])) / sum;
      });
}

// ---- Largest values, and where they are ------------------------------------------------------------

double largest_of_row(const plx::array<float, 2>& x, std::size_t i) {
  const auto row = x.values().subspan(i * static_cast<std::size_t>(x.shape(1)), static_cast<std::size_t>(x.shape(1)));
  return static_cast<double>(*std::max_element(row.begin(), row.end()));
}
void max_rows_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::max(x, 1); });
  const std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns);
  plx::array<float, 1> z;
  time(
      state, rows * columns, 4 * rows * columns, 0, [&] { return (z = compiled(x)).values(); },
      [&](std::size_t i) { return largest_of_row(x, i); });
}
/// The position is looked up, so that a value is what is compared.
void argmax_rows_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x) { return plx::argmax(x, 1); });
  const std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns);
  plx::array<std::int32_t, 1> z;
  std::vector<float> found(static_cast<std::size_t>(rows));
  bool is_first = true;
  time(
      state, rows * columns, 4 * rows * columns, 0,
      [&] {
        z = compiled(x);
        for (std::int64_t i = 0; is_first && i < rows; ++i) found[static_cast<std::size_t>(i)] = x(i, z(i));
        is_first = false;
        return std::span<const float>(found);
      },
      [&](std::size_t i) { return largest_of_row(x, i); });
}
void argmax_rows_by_hand(benchmark::State& state) {
  const std::int64_t rows = state.range(0), columns = state.range(1);
  plx::array<float, 2> x = random_matrix(rows, columns);
  std::vector<float> found(static_cast<std::size_t>(rows));
  time(
      state, rows * columns, 4 * rows * columns, 0,
      [&] {
        for (std::int64_t i = 0; i < rows; ++i) {
          const float* row = x.data() + i * columns;
          std::int64_t best = 0;
          for (std::int64_t j = 1; j < columns; ++j)
            if (row[j] > row[best]) best = j;
          found[static_cast<std::size_t>(i)] = row[best];
        }
        return std::span<const float>(found);
      },
      [&](std::size_t i) { return largest_of_row(x, i); });
}

// ---- A sum of a matrix and another one's transpose --------------------------------------------------

void transposed_sum_parallax(benchmark::State& state) {
  static constexpr auto compiled = plx::jit([](auto x, auto y) { return plx::transpose(x) + y; });
  const std::int64_t n = state.range(0);
  plx::array<float, 2> x = random_matrix(n, n), y = random_matrix(n, n), z;
  time(
      state, n * n, 12 * n * n, 1e-6, [&] { return (z = compiled(x, y)).values(); },
      [&](std::size_t i) {
        const auto at = static_cast<std::int64_t>(i);
        return static_cast<double>(x(at % n, at / n)) + static_cast<double>(y(at / n, at % n));
      });
}
void transposed_sum_by_hand(benchmark::State& state) {
  const std::int64_t n = state.range(0), block = 16;
  plx::array<float, 2> x = random_matrix(n, n), y = random_matrix(n, n), z = random_matrix(n, n);
  time(
      state, n * n, 12 * n * n, 1e-6,
      [&] {
        const float *from = x.data(), *other = y.data();
        float* __restrict to = z.mutable_data();
        for (std::int64_t i = 0; i < n; i += block)
          for (std::int64_t j = 0; j < n; j += block)
            for (std::int64_t k = i; k < i + block; ++k)
              for (std::int64_t l = j; l < j + block; ++l) to[k * n + l] = from[l * n + k] + other[k * n + l];
        return z.values();
      },
      [&](std::size_t i) {
        const auto at = static_cast<std::int64_t>(i);
        return static_cast<double>(x(at % n, at / n)) + static_cast<double>(y(at / n, at % n));
      });
}

#define PARALLAX_VECTORS(name) BENCHMARK(name)->RangeMultiplier(16)->Range(256, 1 << 22)->Arg(1 << 25)->UseRealTime()
#define PARALLAX_MATRICES(name)                                                                                        \
  BENCHMARK(name)->Args({128, 128})->Args({4096, 1024})->Args({1 << 18, 64})->UseRealTime()
#define PARALLAX_SQUARES(name) BENCHMARK(name)->Arg(1024)->Arg(4096)->UseRealTime()

PARALLAX_VECTORS(chain_parallax);
PARALLAX_VECTORS(chain_by_hand);
PARALLAX_VECTORS(exp_parallax);
PARALLAX_VECTORS(exp_libm);
PARALLAX_VECTORS(tanh_parallax);
PARALLAX_VECTORS(tanh_libm);
PARALLAX_MATRICES(sum_rows_parallax);
PARALLAX_MATRICES(sum_rows_by_hand);
PARALLAX_MATRICES(sum_columns_parallax);
PARALLAX_MATRICES(sum_columns_by_hand);
PARALLAX_MATRICES(max_rows_parallax);
PARALLAX_MATRICES(argmax_rows_parallax);
PARALLAX_MATRICES(argmax_rows_by_hand);
PARALLAX_MATRICES(softmax_rows_parallax);
PARALLAX_SQUARES(transposed_sum_parallax);
PARALLAX_SQUARES(transposed_sum_by_hand);

} // namespace
