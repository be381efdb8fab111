// The device's row kernels compute what the host's do: rows that threads hold in registers.
#include "cuda/kernels/row_programs.hpp"
#include "cuda/kernels/simulated_kernels.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace row_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;
using namespace row_programs;

namespace {

/// The passes of a program's only kernel over a row.
template <bool Few, class Function, class... Arguments> constexpr int passes(const Function&, const Arguments&...) {
  using program = plx::detail::program<Function, Arguments...>;
  static_assert(plx::compiled::kernel_count<program> == 1);
  return plx::compiled::row_schedule<typename plx::compiled::program_kernel<program, 0>::type, Few>::passes;
}
constexpr auto matrix = plx::shaped<float, 2, 20000>;
constexpr auto vector = plx::shaped<float, 20000>;
static_assert(passes<false>(softmax, matrix) == 3 && passes<true>(softmax, matrix) == 2);
static_assert(passes<false>(logsumexp, matrix) == 2 && passes<true>(logsumexp, matrix) == 1);
static_assert(passes<false>(layernorm, matrix, vector, vector) == 3 &&
              passes<true>(layernorm, matrix, vector, vector) == 2);
static_assert(passes<false>(spread, matrix) == 2 && passes<true>(spread, matrix) == 1);
static_assert(passes<false>(statistics, matrix) == 2 && passes<true>(statistics, matrix) == 2);

constexpr auto softmax_gradient = plx::jit(plx::grad([](auto x, auto y) { return plx::sum(plx::softmax(x) * y); }));
/// How a program's only kernel holds rows of aligned vectors.
template <class T, class Function, class... Arguments> constexpr int vectors_of(const Function&, const Arguments&...) {
  using kernel = typename plx::compiled::program_kernel<plx::detail::program<Function, Arguments...>, 0>::type;
  return plx::cuda::held_rows<kernel, 16 / sizeof(T)>::vectors;
}
constexpr auto narrow_matrix = plx::shaped<plx::bfloat16, 2, 4096>;
static_assert(vectors_of<float>(softmax, matrix) == 4 && vectors_of<plx::bfloat16>(softmax, narrow_matrix) == 4);
static_assert(vectors_of<float>(softmax_gradient, matrix, matrix) == 4);
static_assert(vectors_of<plx::bfloat16>(softmax_gradient, narrow_matrix, narrow_matrix) == 2); // of each array
constexpr auto wide_matrix = plx::shaped<double, 2, 4096>; // whose values take twice the registers
static_assert(vectors_of<double>(softmax, wide_matrix) == 8);
static_assert(vectors_of<double>(softmax_gradient, wide_matrix, wide_matrix) == 4);
/// In which pass the operands of a program's only kernel are read, one digit for each.
template <class Function, class... Arguments> constexpr int reading_passes(const Function&, const Arguments&...) {
  using kernel = typename plx::compiled::program_kernel<plx::detail::program<Function, Arguments...>, 0>::type;
  using schedule = plx::compiled::row_schedule<kernel>;
  int digits = 0;
  for (int i = 0; i < schedule::size; ++i)
    if (schedule::is_loaded(i)) digits = digits * 10 + schedule::remembered_from(i) + 1;
  return digits;
}
// at once, unless registers would have to keep more
static_assert(reading_passes(softmax_gradient, matrix, matrix) == 11);
static_assert(reading_passes(layernorm, matrix, vector, vector) == 133);
static_assert(reading_passes(residual, matrix, matrix) == 13);

using squares = plx::cuda::centred_reducer<plx::compiled::centred_kind::squares, float>;
/// Groups of threads that combine their sums.
struct sums_of_groups {
  struct arguments {
    float* sums; ///< one of each thread
    int group;
  };
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    squares::accumulator own = squares::neutral();
    for (int i = 0; i < 60 + block.thread() % 3; ++i)
      own = squares::combine(own, squares::of(static_cast<float>(block.thread() * 37 % 101 + i % 2), 0));
    own = plx::cuda::detail::combine_group<squares>(block, own, a.group);
    block.store(a.sums + block.thread(), squares::result(own, 49.f));
  }
};
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

TEST_CASE("what the first pass reads for later ones is read once") {
  for (std::int64_t n : {4, 100, 128, 2052, 4096, 8192})
    compare(softmax_gradient, 1e-5, numbers<float, 2>({3, n}), numbers<float, 2>({3, n}, 2));
  compare(softmax_gradient, 2e-2, numbers<plx::bfloat16, 2>({3, 2048}), numbers<plx::bfloat16, 2>({3, 2048}, 2));
  compare(softmax_gradient, 1e-5, numbers<float, 2>({3, 1027}), numbers<float, 2>({3, 1027}, 2));
  simulated::api::current = {.multiprocessors = 1};
  simulated::api::bytes_read = 0;
  simulated::call(softmax_gradient, numbers<float, 2>({40, 512}), numbers<float, 2>({40, 512}, 2));
  CHECK(simulated::api::bytes_read == 2 * 40 * 512 * sizeof(float));
}

TEST_CASE("rows of 16 bits of all lengths of vectors") {
  for (std::int64_t n : {8, 16, 248, 256, 264, 1024, 1032, 4096, 8184, 8192, 8200})
    compare(softmax, 1e-2, numbers<plx::bfloat16, 2>({3, n}));
  CHECK(launches(softmax, numbers<plx::bfloat16, 2>({2, 8192})) == 1);
  CHECK(simulated::api::last.threads == 256);
}

TEST_CASE("rows with several results, of which some have one element for each row") {
  for (auto [m, n] : {std::pair{4, 8}, {33, 70}, {2, 20000}}) compare(statistics, 1e-4, numbers<float, 2>({m, n}));
}

TEST_CASE("a row sweep is one launch, or one for each pass where no blocks hold a row, which are few") {
  CHECK(launches(softmax, numbers<float, 2>({8, 1000})) == 1);
  CHECK(launches(layernorm, numbers<float, 2>({8, 1000}), numbers<float, 1>({1000}), numbers<float, 1>({1000})) == 1);
  CHECK(launches(statistics, numbers<float, 2>({8, 1000})) == 1);
  // memory for partial results limits long rows only
  CHECK(launches(statistics, numbers<float, 2>({20000, 9})) == 1);
  const auto x = numbers<float, 2>({2, 20000});
  const auto y = numbers<float, 1>({20000});
  CHECK(launches(softmax, x) == 2);
  CHECK(launches(logsumexp, x) == 2);
  CHECK(launches(layernorm, x, y, y) == 2);
  CHECK(launches(statistics, x) == 2);
  // nothing is centred around what another reduction gives
  CHECK(launches(residual, x, x) == 3);
}

TEST_CASE("all threads get the same sum of squares, although sums are rounded") {
  for (int group : {8, 32, 128}) {
    alignas(16) float sums[128] = {};
    simulated::operand_guard guard(sums, sizeof sums);
    const std::size_t shared_bytes = 4 * sizeof(squares::accumulator);
    simulator::run_kernel<sums_of_groups>({1, 128, shared_bytes}, {sums, group}, 1, guard);
    for (int first = 0; first < 128; first += group) {
      double expected = 0;
      for (int thread = first; thread < first + group; ++thread)
        for (int i = 0; i < 60 + thread % 3; ++i) expected += std::pow(thread * 37 % 101 + i % 2 - 49, 2);
      CHECK(sums[first] == Approx(expected).epsilon(1e-6));
      for (int thread = first; thread < first + group; ++thread) CHECK(sums[thread] == sums[first]);
    }
  }
}

} // namespace row_kernels_test
