// Elementwise operations, and what only moves elements, on CUDA devices as on the host.
#include "same_as_host.hpp"

#include <initializer_list>
#include <tuple>

namespace gpu {
namespace {

constexpr auto functions = plx::jit([](auto x) {
  return std::tuple{plx::exp(x),      plx::log(x),    plx::log1p(x),    plx::expm1(x),    plx::tanh(x),
                    plx::relu(x),     plx::gelu(x),   plx::sin(x),      plx::cos(x),      plx::tan(x),
                    plx::sqrt(x),     plx::rsqrt(x),  plx::logistic(x), plx::erf(x),      plx::erf_inv(x),
                    plx::abs(x),      plx::sign(x),   plx::floor(x),    plx::negative(x), plx::reciprocal(x),
                    plx::isfinite(x), plx::square(x), plx::pow(x, 3)};
});
constexpr auto arithmetic = plx::jit([](auto x, auto y) {
  return std::tuple{x + y,
                    x - y,
                    x * y,
                    x / y,
                    plx::rem(x, y),
                    plx::pow(plx::abs(x), y),
                    plx::maximum(x, y),
                    x == y,
                    x != y,
                    x<y, x <= y, x>
                        y,
                    x >= y,
                    plx::minimum(x, y),
                    plx::where(x < y, x, 2 * y),
                    plx::clip(x, -1, 1),
                    plx::logical_and(x > 0, y > 0)};
});
constexpr auto whole_numbers = plx::jit([](auto x, auto y) {
  return std::tuple{x + y,
                    x - y,
                    x * y,
                    x & y,
                    x | y,
                    x ^ y,
                    ~x,
                    x << (y & 7),
                    x >> (y & 7),
                    plx::maximum(x, y),
                    x < y,
                    plx::rem(x, y | 1),
                    plx::where(x == y, x, y)};
});
constexpr auto truths = plx::jit([](auto x, auto y) {
  return std::tuple{plx::logical_or(x, y), plx::logical_xor(x, y), plx::logical_not(x), x & y, x != y};
});
constexpr auto conversions = plx::jit([](auto x) {
  return std::tuple{plx::astype<float>(x),
                    plx::astype<double>(x),
                    plx::astype<std::int32_t>(x),
                    plx::astype<std::int64_t>(x),
                    plx::astype<std::uint32_t>(plx::abs(x)),
                    plx::astype<std::uint8_t>(plx::abs(x)),
                    plx::astype<bool>(x)};
});
constexpr auto bits_of =
    plx::jit([](auto x) { return plx::bitcast<float>(plx::bitcast<std::uint32_t>(x) ^ 0x80000000U); });

constexpr auto moves = plx::jit([](auto x, auto y) {
  auto rows = plx::slice_in_dim(x, 1, -1);
  return std::tuple{plx::transpose(x) + y,
                    plx::slice_in_dim(x, 0, plx::none, 2, 1),
                    plx::index_in_dim(x, 0, 1),
                    plx::concatenate({rows, plx::transpose(y)}),
                    plx::pad(x, 0.5f, {{1, 2, 0}, {0, 1, 1}}),
                    plx::reshape(x, {-1}),
                    plx::broadcast_to(plx::index_in_dim(x, 0, 0), {3, 70}) * 2.f};
});
constexpr auto indices = plx::jit([](auto x) {
  auto lower = plx::broadcasted_iota<int, 0>({9, 9}) >= plx::broadcasted_iota<int, 1>({9, 9});
  return std::tuple{plx::where(lower, x, 0), plx::arange<float>(9) + x, plx::zeros_like(x)};
});

/// Lengths around those of vectors, warps and blocks.
constexpr std::initializer_list<std::int64_t> lengths = {1, 3, 31, 257, 4099};

template <class T> void check_functions() {
  for (std::int64_t n : lengths) {
    const auto x = samples<T, 1>({n}, 3), y = samples<T, 1>({n}, 3, 2);
    same_as_host("functions", std::is_same_v<T, float> ? 4e-6 : 1e-13, functions, x);
    same_as_host("arithmetic", std::is_same_v<T, float> ? 4e-6 : 1e-13, arithmetic, x, y);
  }
}
template <class T> void check_whole_numbers() {
  for (std::int64_t n : lengths)
    same_as_host("whole numbers", 0, whole_numbers, samples<T, 1>({n}, 200), samples<T, 1>({n}, 9, 2));
}
void check_all_whole_numbers() {
  check_whole_numbers<std::int32_t>();
  check_whole_numbers<std::int64_t>();
  check_whole_numbers<std::uint32_t>();
  check_whole_numbers<std::uint8_t>();
  for (std::int64_t n : lengths) same_as_host("truths", 0, truths, samples<bool, 1>({n}), samples<bool, 1>({n}, 1, 2));
}
void check_conversions() {
  same_as_host("from float", 0, conversions, samples<float, 1>({300}, 100));
  same_as_host("from double", 1e-7, conversions, samples<double, 1>({300}, 100));
  same_as_host("from int32", 0, conversions, samples<std::int32_t, 1>({300}, 100));
  same_as_host("bits", 0, bits_of, samples<float, 1>({300}, 100));
}
void check_moves() {
  same_as_host("moves", 0, moves, samples<float, 2>({30, 70}), samples<float, 2>({70, 30}, 1, 2));
  same_as_host("indices", 0, indices, samples<float, 2>({9, 9}));
}

constexpr check all[] = {{"programs: elementwise, float", check_functions<float>},
                         {"programs: elementwise, double", check_functions<double>},
                         {"programs: elementwise, whole numbers", check_all_whole_numbers},
                         {"programs: conversions", check_conversions},
                         {"programs: slices, transposes, concatenation", check_moves}};

} // namespace

std::span<const check> elementwise_programs() { return all; }

} // namespace gpu
