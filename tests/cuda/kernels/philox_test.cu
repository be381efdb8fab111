// Philox where nvcc compiles it: the words of cuRAND's own functions, and random numbers inside of fused kernels.

// cuRAND's device functions for the host too, as its headers provide for
#define QUALIFIERS static inline __host__ __device__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <curand_kernel.h>
#pragma GCC diagnostic pop

#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/host/run/program_run.hpp>
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <cstdint>
#include <vector>

namespace philox_test {

namespace plx = parallax;

namespace {

/// What a user of cuRAND's device functions gets.
std::vector<std::uint32_t> words_of_curand(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t first,
                                           std::size_t count) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, subsequence, first, &state);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = curand(&state);
  return words;
}

constexpr std::uint64_t seed = 0x0123456789ABCDEF, last_subsequence = ~std::uint64_t{0};
constexpr int count = 1003;

// the numbers, their use, and the sum: one kernel, which writes the sums alone
constexpr auto noisy = [](auto x, auto key) { return x * plx::philox::uniform(key, {count}) + 1.f; };
constexpr auto bits = [](auto key) {
  return plx::slice(plx::philox::bits(key, {count + 3}), {3}, {count + 3}) ^ plx::random::bits(key, {count});
};

using key_argument = plx::detail::abstract_array<std::uint32_t, plx::extents_t<2>>;
using vector_argument = plx::detail::abstract_array<float, plx::extents_t<count>>;
template <class Function, class... Arguments>
using program = plx::detail::program<plx::jitted<std::remove_const_t<Function>>, Arguments...>;
using noisy_program = program<decltype(noisy), vector_argument, key_argument>;
using bits_program = program<decltype(bits), key_argument>;
static_assert(plx::compiled::kernel_count<noisy_program> == 1 && plx::compiled::kernel_count<bits_program> == 1);

plx::array<float, plx::extents_t<count>{}> samples() {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) - 8;
  return {{count}, values};
}

struct launches : plx::cuda::device_launches {
  using stream = cudaStream_t;
};

/// Runs a step of the program on the device, with copies of its operands, which are whole arrays.
template <class Kernel> void run_on_device(plx::compiled::kernel_arguments& a) {
  auto bytes_of = [&](int i) { // keys are read element by element
    return static_cast<std::size_t>(a.operands[i].strides[0] == 0 ? 1 : count) * sizeof(std::uint32_t);
  };
  std::byte* result = a.operands[0].data;
  for (int i = 0; i < a.operand_count; ++i) {
    const std::byte* from = a.operands[i].data;
    if (!from) continue; // an index
    REQUIRE(cudaMalloc(&a.operands[i].data, bytes_of(i)) == cudaSuccess);
    REQUIRE(cudaMemcpy(a.operands[i].data, from, bytes_of(i), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  plx::cuda::device_properties properties;
  plx::cuda::launch_context<launches> where{nullptr, &properties, nullptr, 0};
  plx::cuda::check(plx::cuda::launch_kernel<launches, Kernel>(a, where));
  REQUIRE(cudaMemcpy(result, a.operands[0].data, bytes_of(0), cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < a.operand_count; ++i) cudaFree(a.operands[i].data);
}

template <class Program, class... Arguments> auto result_on_device(const Arguments&... arguments) {
  const plx::compiled::kernel_function kernel =
      &run_on_device<typename plx::compiled::program_kernel<Program, 0>::type>;
  plx::host::program_run run(Program::plan, &kernel, plx::host::registers_name, {plx::runtime::value_of(arguments)...});
  return plx::runtime::make_results<Program>(run.run());
}

} // namespace

TEST_CASE("philox is what cuRAND's device functions give") {
  const plx::array key = plx::philox::key(seed);
  CHECK(plx::array(plx::philox::bits(key, {count})).to_vector() == words_of_curand(seed, 0, 0, count));
  constexpr auto part = [](auto k) { return plx::slice(plx::philox::bits(k, {9000}), {1234}, {5678}); };
  CHECK(plx::jit(part)(key).to_vector() == words_of_curand(seed, 0, 1234, 4444));
  CHECK(plx::array(plx::philox::split(key, 50)).to_vector() == words_of_curand(seed, last_subsequence, 0, 100));
  for (std::uint64_t n : {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 34) - 2, last_subsequence - 9}) {
    plx::math::philox_words stream;
    for (std::uint32_t each : words_of_curand(seed, last_subsequence, n, 9)) {
      CHECK(stream.word(0x89ABCDEF, 0x01234567, static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n),
                        0xFFFFFFFF) == each);
      ++n;
    }
  }
}

TEST_CASE("our rounds are cuRAND's") {
  const std::uint32_t samples[] = {0, 1, 0xFFFFFFFF, 0x243F6A88, 0x13198A2E, 0xA4093822};
  for (std::uint32_t a : samples)
    for (std::uint32_t b : samples) {
      const uint4 expected = curand_Philox4x32_10(make_uint4(a, b, ~a, a ^ b), make_uint2(b, a));
      CHECK(plx::math::philox4x32_rounds({a, b, ~a, a ^ b}, {b, a}) ==
            plx::math::philox_block{expected.x, expected.y, expected.z, expected.w});
    }
}

TEST_CASE("random numbers are used in the kernel that makes them, on a device", "[gpu]") {
  const auto x = samples();
  const plx::array<std::uint32_t, plx::extents_t<2>{}> key = plx::philox::key(seed);
  CHECK(result_on_device<noisy_program>(x, key).to_vector() == plx::jit(noisy)(x, key).to_vector());
  CHECK(result_on_device<bits_program>(key).to_vector() == plx::jit(bits)(key).to_vector());
}

} // namespace philox_test
