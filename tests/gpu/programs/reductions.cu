// Reductions on CUDA devices as on the host: rows, columns and all, short and long.
#include "same_as_host.hpp"

#include <tuple>

namespace gpu {
namespace {

constexpr auto of_rows = plx::jit([](auto x) {
  return std::tuple{plx::sum(x, 1), plx::max(x, 1), plx::mean(x * x, 1), plx::argmax(x, 1), plx::logsumexp(x, 1)};
});
constexpr auto of_columns = plx::jit(
    [](auto x) { return std::tuple{plx::sum(plx::abs(x), 0), plx::min(x, 0), plx::argmin(x, 0), plx::var(x, 0)}; });
constexpr auto of_all = plx::jit([](auto x) {
  return std::tuple{plx::sum(x), plx::max(x), plx::min(x), plx::argmax(x), plx::any(x > 1.9f), plx::all(x < 2.f)};
});
constexpr auto normalised = plx::jit([](auto x) {
  auto centred = x - plx::mean(x, 1, plx::keepdims);
  return std::tuple{plx::softmax(x), centred * plx::rsqrt(plx::var(x, 1, plx::keepdims) + 1e-5f)};
});
constexpr auto middle = plx::jit([](auto x) { return std::tuple{plx::sum(x, 1), plx::max(x, 1)}; });
constexpr auto whole = plx::jit([](auto x) { return std::tuple{plx::sum(x, 0), plx::max(x, 1), plx::argmax(x, 0)}; });
constexpr auto truths = plx::jit([](auto x) { return std::tuple{plx::any(x, 0), plx::all(x, 1), plx::sum(x, 0)}; });

template <class T> void check_matrices(double tolerance) {
  const std::int64_t shapes[][2] = {{1, 1}, {5, 33}, {300, 7}, {3, 5000}, {257, 130}};
  for (const auto& [rows, columns] : shapes) {
    const auto x = samples<T, 2>({rows, columns});
    same_as_host("rows", tolerance, of_rows, x);
    same_as_host("columns", tolerance, of_columns, x);
    same_as_host("softmax, layernorm", tolerance * 10, normalised, x);
  }
  same_as_host("the middle axis", tolerance, middle, samples<T, 3>({4, 50, 6}));
}
void check_float() { check_matrices<float>(4e-6); }
void check_double() { check_matrices<double>(1e-13); }
void check_long() {
  for (std::int64_t n : {1, 1000, 70'001}) same_as_host("all elements", 1e-5, of_all, samples<float, 1>({n}));
}
/// Rows that no block's registers hold: its shared memory does, or that of 2, 8 or 16 blocks where there are clusters,
/// or none, as few rows of so many elements go over all multiprocessors.
void check_long_rows() {
  const std::int64_t shapes[][2] = {{200, 12'000}, {40, 40'003}, {3, 40'003}, {9, 500'007}, {3, 300'007}};
  for (const auto& [rows, columns] : shapes)
    same_as_host("long rows", 4e-5, normalised, samples<float, 2>({rows, columns}));
  same_as_host("long rows, bfloat16", 2e-2, normalised, samples<plx::bfloat16, 2>({40, 40'003}));
  same_as_host("long rows, double", 1e-12, normalised, samples<double, 2>({3, 40'003}));
  same_as_host("long rows, sums and logsumexp", 1e-4, of_rows, samples<float, 2>({3, 40'003}));
}
void check_whole() {
  same_as_host("int32", 0, whole, samples<std::int32_t, 2>({40, 70}, 1000));
  same_as_host("int64", 0, whole, samples<std::int64_t, 2>({40, 70}, 1000));
  same_as_host("uint8", 0, whole, samples<std::uint8_t, 2>({40, 70}, 255));
  same_as_host("bool", 0, truths, samples<bool, 2>({40, 70}));
}

constexpr check all[] = {{"programs: reductions, float", check_float},
                         {"programs: reductions, double", check_double},
                         {"programs: reductions of all elements", check_long},
                         {"programs: reductions of long rows", check_long_rows},
                         {"programs: reductions, whole numbers", check_whole}};

} // namespace

std::span<const check> reduction_programs() { return all; }

} // namespace gpu
