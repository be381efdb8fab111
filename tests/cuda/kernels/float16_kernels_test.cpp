// The device's kernels of 16-bit types, eight of whose elements are a vector, compute what the host's do.
#include "cuda/kernels/simulated_kernels.hpp"

#include <limits>
#include <tuple>

namespace float16_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;

TEMPLATE_TEST_CASE("chains of 16-bit numbers of all lengths, aligned and not", "", plx::float16, plx::bfloat16) {
  using T = TestType;
  static constexpr auto chain = plx::jit([](auto x, auto y) { return (2.f * x + y) * (x - 0.1f) / (y * y + 1); });
  static constexpr auto neighbours = plx::jit(
      [](auto x, auto y) { return plx::slice_in_dim(x, 1, plx::none) * 2.f - plx::slice_in_dim(y, plx::none, -1); });
  for (std::int64_t n = 0; n <= 40; ++n) {
    compare(chain, 0, numbers<T, 1>({n}), numbers<T, 1>({n}, 2));
    if (n > 0) compare(neighbours, 0, numbers<T, 1>({n}), numbers<T, 1>({n}, 2));
  }
  compare(chain, 0, numbers<T, 1>({5003}), numbers<T, 1>({5003}, 2));
  static constexpr auto functions = plx::jit([](auto x) { return plx::tanh(x) + plx::exp(x); });
  compare(functions, 2 * static_cast<double>(std::numeric_limits<T>::epsilon()), numbers<T, 1>({1000}));
}

TEST_CASE("16-bit numbers beside others, transposed and indexed") {
  static constexpr auto mixed = plx::jit([](auto h, auto b, auto f, auto mask) {
    return std::tuple{h * f,
                      plx::astype<plx::float16>(f) + h,
                      plx::where(mask, b, -b),
                      plx::astype<std::uint8_t>(h * h),
                      plx::maximum(b, 0) > 1.f,
                      h + plx::arange<plx::float16>(16)};
  });
  for (std::int64_t m : {1, 3, 40})
    compare(mixed, 0, numbers<plx::float16, 2>({m, 16}), numbers<plx::bfloat16, 2>({m, 16}, 2),
            numbers<float, 2>({m, 16}, 3), numbers<bool, 2>({m, 16}, 4));
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x, {1, 0}) - 3.f * y; });
  for (std::int64_t m : {1, 33, 64})
    for (std::int64_t n : {4, 70})
      compare(transposed, 0, numbers<plx::float16, 2>({m, n}), numbers<plx::float16, 2>({n, m}, 2));
}

TEMPLATE_TEST_CASE("sums, extremes and their positions of 16-bit numbers", "", plx::float16, plx::bfloat16) {
  using T = TestType;
  static constexpr auto reductions = plx::jit([](auto x) {
    return std::tuple{plx::sum(x, 0), plx::sum(x, 1),    plx::sum(x * x),   plx::max(x, 0),
                      plx::min(x, 1), plx::argmax(x, 1), plx::argmin(x, 0), plx::mean(x, 1)};
  });
  for (auto [m, n] : {std::pair{1, 1}, {2, 3}, {1, 40}, {7, 64}, {33, 8}, {40, 1030}, {700, 3}})
    compare(reductions, 1.1 * static_cast<double>(std::numeric_limits<T>::epsilon()), numbers<T, 2>({m, n}));
}

} // namespace float16_kernels_test
