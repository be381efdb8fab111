// float16 and bfloat16 when nvcc compiles them: the type itself on the device, fused kernels, products and reductions.
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace float16_test {

namespace plx = parallax;

namespace {

constexpr auto layer = [](auto x, auto w) { return plx::tanh(plx::dot(x, w)) * 0.5f + x; };
constexpr auto sums = [](auto x) { return plx::sum(plx::exp(x), 1); };

template <class T> plx::array<T, 2> samples(std::int64_t n, double scale) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n * n; ++i) values.push_back(T(std::sin(static_cast<double>(i) * 0.7) * scale));
  return plx::array<T, 2>({n, n}, values);
}

/// Against doubles, within a few roundings.
template <class T> void check_layer() {
  constexpr std::int64_t n = 67;
  const auto x = samples<T>(n, 1), w = samples<T>(n, 0.25);
  const auto y = plx::jit(layer)(x, w);
  const auto s = plx::jit(sums)(x);
  const double place = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::int64_t k = 0; k < n; ++k) product += static_cast<double>(x(i, k)) * static_cast<double>(w(k, j));
      const double expected = std::tanh(product) * 0.5 + static_cast<double>(x(i, j));
      REQUIRE(std::abs(static_cast<double>(y(i, j)) - expected) <= 4 * place);
      sum += std::exp(static_cast<double>(x(i, j)));
    }
    REQUIRE(std::abs(static_cast<double>(s(i)) - sum) <= place * sum);
  }
}

/// Converts bits to a float and back on the device, and rounds floats of all upper halves and some lower ones.
struct convert_all {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;
  struct arguments {
    std::uint16_t* round_trips;
    std::uint16_t* rounded;
    std::uint32_t low;
    bool is_float16;
  };
  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    if (a.is_float16) run_as<plx::float16>(block, a);
    else run_as<plx::bfloat16>(block, a);
  }
  template <class T, class Block> static PARALLAX_DEVICE void run_as(const Block& block, const arguments& a) {
    const auto i = static_cast<std::uint32_t>(block.block() * block.threads() + block.thread());
    block.store(a.round_trips + i, T(static_cast<float>(T::from_bits(static_cast<std::uint16_t>(i)))).bits());
    block.store(a.rounded + i, T(__builtin_bit_cast(float, i << 16 | a.low)).bits());
  }
};

template <class T> void check_conversions(std::uint32_t low) {
  std::uint16_t* memory = nullptr;
  constexpr std::size_t count = 0x10000;
  REQUIRE(cudaMalloc(&memory, 2 * count * sizeof *memory) == cudaSuccess);
  const convert_all::arguments a{memory, memory + count, low, std::is_same_v<T, plx::float16>};
  plx::cuda::check(plx::cuda::device_launches::launch(convert_all{}, {count / 256, 256, 0}, nullptr, a));
  std::vector<std::uint16_t> results(2 * count);
  REQUIRE(cudaMemcpy(results.data(), memory, 2 * count * sizeof *memory, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaFree(memory);
  auto same = [](T x, T y) { return x.bits() == y.bits() || (x != x && y != y); };
  for (std::uint32_t i = 0; i < count; ++i) {
    const T x = T::from_bits(static_cast<std::uint16_t>(i));
    REQUIRE(same(T::from_bits(results[i]), x));
    REQUIRE(same(T::from_bits(results[count + i]), T(__builtin_bit_cast(float, i << 16 | low))));
  }
}

} // namespace

TEST_CASE("the host backend computes 16-bit programs when nvcc compiles it") {
  const plx::use_backend here(plx::backend::host);
  check_layer<plx::float16>();
  check_layer<plx::bfloat16>();
}

TEST_CASE("16-bit programs on a device", "[gpu]") {
  const plx::use_backend here(plx::backend::cuda);
  check_layer<plx::float16>();
  check_layer<plx::bfloat16>();
}

TEST_CASE("a device converts 16-bit numbers as the host does", "[gpu]") {
  for (std::uint32_t low : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x2FFFU, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
    check_conversions<plx::float16>(low);
    check_conversions<plx::bfloat16>(low);
  }
}

} // namespace float16_test
