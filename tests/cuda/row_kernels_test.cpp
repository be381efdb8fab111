// The device's row kernels compute what the host's do: rows that threads hold in registers, and longer ones.
#include "cuda/simulated_kernels.hpp"

#include <tuple>

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;

namespace {

constexpr auto softmax = plx::jit([](auto x) {
  auto e = plx::exp(x - plx::max(x, 1, plx::keepdims));
  return e / plx::sum(e, 1, plx::keepdims);
});
constexpr auto layernorm = plx::jit([](auto x, auto scale, auto offset) {
  auto d = x - plx::mean(x, 1, plx::keepdims);
  return d * plx::rsqrt(plx::mean(d * d, 1, plx::keepdims) + 1e-5f) * scale + offset;
});
/// What only the last pass needs is computed there.
constexpr auto residual = plx::jit([](auto x, auto y) {
  auto d = x - plx::mean(x, 1, plx::keepdims);
  return d / plx::max(plx::abs(d), 1, plx::keepdims) + plx::tanh(x * y);
});
constexpr auto statistics = plx::jit([](auto x) {
  auto mean = plx::mean(x, 1);
  auto d = x - plx::reshape(mean, {x.dimension(0), 1});
  return std::tuple{mean, plx::mean(d * d, 1), d, plx::min(x, 1)};
});

/// The number of kernels launched for a call.
template <class Function, class... Args> int launches(const Function& f, const Args&... args) {
  simulated::api::current = {};
  simulated::api::launches = 0;
  simulated::call(f, args...);
  return simulated::api::launches;
}

} // namespace

TEST_CASE("softmax of rows of all lengths") {
  for (std::int64_t n = 1; n <= 70; ++n) compare(softmax, 1e-5, numbers<float, 2>({3, n}));
  for (auto [m, n] : {std::pair{1, 1000}, {5, 1024}, {2, 4096}, {3, 4099}, {2, 9000}, {1, 20000}, {300, 40}, {0, 9}})
    compare(softmax, 1e-5, numbers<float, 2>({m, n}));
}

TEST_CASE("rows in double precision, of three dimensions, and of a part of an array") {
  static constexpr auto deep = plx::jit([](auto x) { return x - plx::max(x, 2, plx::keepdims); });
  compare(softmax, 1e-12, numbers<double, 2>({7, 130}));
  compare(deep, 1e-6, numbers<float, 3>({3, 4, 50}));
  static constexpr auto part = plx::jit([](auto x) {
    auto y = plx::slice_in_dim(x, 1, plx::none, 2, 1);
    return y - plx::max(y, 1, plx::keepdims);
  });
  static constexpr auto transposed = plx::jit([](auto x) {
    auto y = plx::transpose(x);
    return y * plx::sum(y * 2.f, 1, plx::keepdims);
  });
  compare(part, 1e-6, numbers<float, 2>({5, 77}));
  compare(transposed, 1e-5, numbers<float, 2>({40, 9}));
}

TEST_CASE("layernorm, whose scale and offset are the same for all rows") {
  for (auto [m, n] : {std::pair{4, 8}, {3, 100}, {2, 5000}, {1, 17001}})
    compare(layernorm, 2e-4, numbers<float, 2>({m, n}), numbers<float, 1>({n}, 2), numbers<float, 1>({n}, 3));
}

TEST_CASE("what only the last pass needs") {
  for (auto [m, n] : {std::pair{4, 8}, {3, 100}, {1, 17001}})
    compare(residual, 1e-5, numbers<float, 2>({m, n}), numbers<float, 2>({m, n}, 2));
}

TEST_CASE("rows with several results, of which some have one element for each row") {
  for (auto [m, n] : {std::pair{4, 8}, {33, 70}, {2, 20000}}) compare(statistics, 1e-4, numbers<float, 2>({m, n}));
}

TEST_CASE("a row group is one launch, or one for each pass where rows are long") {
  CHECK(launches(softmax, numbers<float, 2>({8, 1000})) == 1);
  CHECK(launches(layernorm, numbers<float, 2>({8, 1000}), numbers<float, 1>({1000}), numbers<float, 1>({1000})) == 1);
  CHECK(launches(statistics, numbers<float, 2>({8, 1000})) == 1);
  CHECK(launches(softmax, numbers<float, 2>({2, 20000})) == 3);
  CHECK(launches(statistics, numbers<float, 2>({2, 20000})) == 3);
}
