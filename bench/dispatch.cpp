// What a call costs beyond its work: tiny programs beside the same by hand, and beside Eigen's fixed sizes. Results are
// checked before anything is timed. `allocations` counts calls of `operator new` in one steady call.
#include "support/random_values.hpp"

#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {
std::atomic<std::int64_t> allocation_count{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
} // namespace

// Not inlined: g++ would take `free` for what does not belong to `new`.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

/// Times `call`, which returns its results; `is_right` judges them before.
template <class Call, class Check> void time(benchmark::State& state, const Call& call, const Check& is_right) {
  if (!is_right(call())) return state.SkipWithError("wrong result");
  for (int i = 0; i < 3; ++i) benchmark::DoNotOptimize(call());
  const std::int64_t before = allocation_count.load();
  benchmark::DoNotOptimize(call());
  state.counters["allocations"] = static_cast<double>(allocation_count.load() - before);
  for (auto _ : state) {
    auto result = call();
    benchmark::DoNotOptimize(result);
  }
}

constexpr auto plus_one = [](auto x) { return x + 1.0f; };

void scalar(benchmark::State& state) {
  const plx::array<float, 0> x(2.0f);
  time(state, [&] { return plx::jit(plus_one)(x); }, [](const auto& y) { return y.item() == 3.0f; });
}
BENCHMARK(scalar)->Name("jit/x+1/scalar");

template <auto Shape> void sixteen(benchmark::State& state) {
  const plx::array<float, Shape> x{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
  time(state, [&] { return plx::jit(plus_one)(x); }, [](const auto& y) { return y(15) == 16.0f; });
}
BENCHMARK(sixteen<1>)->Name("jit/x+1/16 dynamic");
BENCHMARK(sixteen<plx::extents<16>>)->Name("jit/x+1/16 static");

void sixteen_by_hand(benchmark::State& state) {
  std::vector<float> x(16, 1.0f);
  time(
      state,
      [&] {
        std::vector<float> y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1.0f;
        return y;
      },
      [](const auto& y) { return y[15] == 2.0f; });
}
BENCHMARK(sixteen_by_hand)->Name("by hand/x+1/16, new vector");

/// 16 numbers from memory to memory: what a call without a runtime costs, and the loop by itself.
template <class Call> void in_place(benchmark::State& state, const Call& call) {
  std::vector<float> x(16, 1.0f), y(16);
  call(x, y);
  if (y[15] != 2.0f) return state.SkipWithError("wrong result");
  for (auto _ : state) {
    benchmark::DoNotOptimize(x.data());
    call(x, y);
    benchmark::ClobberMemory();
  }
}
void sixteen_compiled(benchmark::State& state) {
  in_place(state, [](const std::vector<float>& x, std::vector<float>& y) {
    constexpr plx::compiled_function<plus_one, plx::shaped<float, 16>> function;
    function(std::span<const float, 16>(x), std::span<float, 16>(y));
  });
}
BENCHMARK(sixteen_compiled)->Name("compiled function/x+1/16");
void sixteen_in_place(benchmark::State& state) {
  in_place(state, [](const std::vector<float>& x, std::vector<float>& y) {
    for (std::size_t i = 0; i < 16; ++i) y[i] = x[i] + 1.0f;
  });
}
BENCHMARK(sixteen_in_place)->Name("by hand/x+1/16, in place");

constexpr auto total = [](auto... x) { return (x + ...); };

template <int Count, auto Shape> void arguments(benchmark::State& state) {
  const auto x = plx::array<float, Shape>(plx::full<float>({16}, 1.0f));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    time(
        state, [&] { return plx::jit(total)((static_cast<void>(I), x)...); },
        [](const auto& y) { return y(3) == float{Count}; });
  }(std::make_index_sequence<std::size_t{Count}>{});
}
BENCHMARK((arguments<2, 1>))->Name("jit/sum of 2 arguments/16 dynamic");
BENCHMARK((arguments<10, 1>))->Name("jit/sum of 10 arguments/16 dynamic");
BENCHMARK((arguments<2, plx::extents<16>>))->Name("jit/sum of 2 arguments/16 static");
BENCHMARK((arguments<10, plx::extents<16>>))->Name("jit/sum of 10 arguments/16 static");

void chain_of_256(benchmark::State& state) {
  const plx::array<float, 1> x = plx::full<float>({256}, 0.5f);
  constexpr auto f = [](auto v) { return (v * 2.0f + 1.0f) * v - 3.0f; };
  time(state, [&] { return plx::jit(f)(x); }, [](const auto& y) { return y(255) == -2.0f; });
}
BENCHMARK(chain_of_256)->Name("jit/chain/256 dynamic");

template <int N> std::vector<float> some_matrix(unsigned seed) {
  return bench::random_values(std::int64_t{N} * N, seed, 1);
}
template <int N> bool is_product(const std::vector<float>& a, const std::vector<float>& b, const float* c) {
  for (std::size_t i = 0; i < std::size_t{N}; ++i)
    for (std::size_t j = 0; j < std::size_t{N}; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < std::size_t{N}; ++k)
        sum += static_cast<double>(a[i * N + k]) * static_cast<double>(b[k * N + j]);
      if (!(std::abs(static_cast<double>(c[i * N + j]) - sum) < 1e-4)) return false;
    }
  return true;
}
template <auto Shape> plx::array<float, Shape> array_of(const std::vector<float>& values) {
  auto result = plx::array<float, Shape>();
  std::copy(values.begin(), values.end(), result.mutable_data());
  return result;
}

constexpr auto product = [](auto a, auto b) { return plx::dot(a, b); };

template <int N> void static_product(benchmark::State& state) {
  const auto a = some_matrix<N>(1), b = some_matrix<N>(2);
  const auto x = array_of<plx::extents<N, N>>(a), y = array_of<plx::extents<N, N>>(b);
  time(state, [&] { return plx::jit(product)(x, y); }, [&](const auto& z) { return is_product<N>(a, b, z.data()); });
}
BENCHMARK(static_product<4>)->Name("jit/product/4x4");
BENCHMARK(static_product<8>)->Name("jit/product/8x8");
BENCHMARK(static_product<12>)->Name("jit/product/12x12");
BENCHMARK(static_product<16>)->Name("jit/product/16x16");

template <int N> void many_products(benchmark::State& state) {
  constexpr std::int64_t count = 1024;
  const auto a = bench::random_values(count * N * N, 1, 1), b = bench::random_values(count * N * N, 2, 1);
  auto x = plx::array<float, plx::extents<plx::dyn, N, N>>::uninitialised({count, N, N}), y = x;
  std::copy(a.begin(), a.end(), x.mutable_data());
  std::copy(b.begin(), b.end(), y.mutable_data());
  const std::vector<float> last_a(a.end() - N * N, a.end()), last_b(b.end() - N * N, b.end());
  time(
      state, [&] { return plx::jit(plx::vmap(product))(x, y); },
      [&](const auto& z) { return is_product<N>(last_a, last_b, z.data() + (count - 1) * N * N); });
}
BENCHMARK(many_products<4>)->Name("jit/1024 products/4x4");
BENCHMARK(many_products<8>)->Name("jit/1024 products/8x8");

#if __has_include(<Eigen/Core>)
template <int N> using eigen_matrix = Eigen::Matrix<float, N, N, Eigen::RowMajor>;

template <int N> void eigen_product(benchmark::State& state) {
  const auto a = some_matrix<N>(1), b = some_matrix<N>(2);
  eigen_matrix<N> x = Eigen::Map<const eigen_matrix<N>>(a.data()), y = Eigen::Map<const eigen_matrix<N>>(b.data());
  time(
      state,
      [&] {
        benchmark::DoNotOptimize(x.data());
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
        return eigen_matrix<N>(x * y);
      },
      [&](const auto& z) { return is_product<N>(a, b, z.data()); });
}
BENCHMARK(eigen_product<4>)->Name("Eigen/product/4x4");
BENCHMARK(eigen_product<8>)->Name("Eigen/product/8x8");
BENCHMARK(eigen_product<16>)->Name("Eigen/product/16x16");

template <int N> void many_eigen_products(benchmark::State& state) {
  constexpr std::int64_t count = 1024;
  const auto a = bench::random_values(count * N * N, 1, 1), b = bench::random_values(count * N * N, 2, 1);
  const std::vector<float> last_a(a.end() - N * N, a.end()), last_b(b.end() - N * N, b.end());
  std::vector<float> c(a.size());
  time(
      state,
      [&] {
        for (std::int64_t i = 0; i < count; ++i)
          Eigen::Map<eigen_matrix<N>>(c.data() + i * N * N).noalias() =
              Eigen::Map<const eigen_matrix<N>>(a.data() + i * N * N) *
              Eigen::Map<const eigen_matrix<N>>(b.data() + i * N * N);
        benchmark::ClobberMemory();
        return c.data();
      },
      [&](const float* z) { return is_product<N>(last_a, last_b, z + (count - 1) * N * N); });
}
BENCHMARK(many_eigen_products<4>)->Name("Eigen/1024 products/4x4");
BENCHMARK(many_eigen_products<8>)->Name("Eigen/1024 products/8x8");
#endif

// A scalar function of 100 operations: 25 rounds of a product, a sum, a difference and a quotient.
constexpr int rounds = 25;
constexpr auto function_of_100 = [](auto x) {
  auto y = x * 0.5f;
  for (int i = 0; i < rounds; ++i) y = (y * x + 1.0f) / (x - static_cast<float>(-2 - i)) - 0.25f;
  return y;
};
/// Its value and derivative, in reverse, with all intermediate values kept.
std::pair<float, float> function_of_100_by_hand(float x) {
  std::array<float, rounds + 1> y{};
  std::array<float, std::size_t{rounds}> quotient{}, divisor{};
  y[0] = x * 0.5f;
  for (std::size_t i = 0; i < quotient.size(); ++i) {
    divisor[i] = x - static_cast<float>(-2 - static_cast<int>(i));
    quotient[i] = (y[i] * x + 1.0f) / divisor[i];
    y[i + 1] = quotient[i] - 0.25f;
  }
  float by_y = 1, by_x = 0;
  for (std::size_t i = quotient.size(); i-- > 0;) {
    const float by_numerator = by_y / divisor[i];
    by_x += by_numerator * y[i] - by_y * quotient[i] / divisor[i];
    by_y = by_numerator * x;
  }
  return {y.back(), by_x + by_y * 0.5f};
}

void gradient_of_100(benchmark::State& state) {
  plx::array<float, 0> x(1.5f);
  time(
      state,
      [&] {
        benchmark::DoNotOptimize(&x);
        benchmark::ClobberMemory();
        return plx::jit(plx::grad(function_of_100))(x);
      },
      [](const auto& y) { return std::abs(y.item() - function_of_100_by_hand(1.5f).second) < 1e-5f; });
}
BENCHMARK(gradient_of_100)->Name("jit/gradient of 100 operations");

void gradient_by_hand(benchmark::State& state) {
  float x = 1.5f;
  time(
      state,
      [&] {
        benchmark::DoNotOptimize(&x);
        benchmark::ClobberMemory();
        return function_of_100_by_hand(x).second;
      },
      [](float y) {
        const double step = 1e-3;
        auto f = [](double v) {
          double w = v * 0.5;
          for (int i = 0; i < rounds; ++i) w = (w * v + 1) / (v + 2 + i) - 0.25;
          return w;
        };
        return std::abs(static_cast<double>(y) - (f(1.5 + step) - f(1.5 - step)) / (2 * step)) < 1e-4;
      });
}
BENCHMARK(gradient_by_hand)->Name("by hand/gradient of 100 operations");

template <int Devices> void pmapped(benchmark::State& state) {
  const plx::array<float, 2> x = plx::full<float>({Devices, 16}, 1.0f);
  const auto spread = plx::pmap(plus_one)(x);
  time(state, [&] { return plx::pmap(plus_one)(spread); }, [](const auto& y) { return y(1, 15) == 3.0f; });
}
BENCHMARK(pmapped<2>)->Name("pmap/x+1/2 devices");

} // namespace
