// The device's row kernels compute what the host's do: rows that threads hold in registers, and longer ones.
#include "cuda/kernels/simulated_kernels.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace row_kernels_test {

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
  auto d = x - plx::reshape(mean, {x.shape(0), 1});
  return std::tuple{mean, plx::mean(d * d, 1), d, plx::min(x, 1)};
});

constexpr auto logsumexp = plx::jit([](auto x) { return plx::logsumexp(x, 1); });
constexpr auto library_softmax = plx::jit([](auto x) { return plx::softmax(x); });
constexpr auto spread = plx::jit([](auto x) { return std::pair{plx::mean(x, 1), plx::var(x, 1)}; });

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(std::size_t count) {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = normal(engine);
  return values;
}

/// Rows that are longer than what a block holds, some of whose parts have no finite elements.
std::vector<std::vector<float>> special_rows() {
  const std::size_t n = 20011;
  std::vector<std::vector<float>> rows(9, noise(n));
  for (float& x : rows[1]) x = x * 30 + 1000;
  for (std::size_t i = 0; i < n; ++i) rows[2][i] = static_cast<float>(i) * 0.01f; // the largest comes last
  rows[3].assign(n, -infinity);
  for (std::size_t i = 0; i + 1 < n; ++i) rows[4][i] = -infinity;
  rows[5][15000] = infinity;
  rows[6][0] = rows[6][n - 1] = infinity;
  rows[7][12345] = not_a_number;
  rows[8][1] = not_a_number, rows[8][2] = infinity, rows[8][n - 1] = -infinity;
  return rows;
}
/// Relative; of what is not finite, 0 only for the same.
double difference(float found, double expected) {
  if (std::isnan(found)) return std::isnan(expected) ? 0 : std::numeric_limits<double>::infinity();
  const double x = static_cast<double>(found);
  if (std::isnan(expected) || std::isinf(expected))
    return x == expected || (std::isnan(x) && std::isnan(expected)) ? 0 : infinity;
  const double least = 1e-37; // numbers below have fewer digits
  return std::abs(x - expected) / std::max(std::abs(expected), least);
}

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

/// Long rows on few multiprocessors, on many, and in the shared memory of a cluster and of one block.
const simulated::setup setups[] = {{.multiprocessors = 1},
                                   {.multiprocessors = 132},
                                   {.multiprocessors = 1, .shared_bytes = 32 << 10, .largest_cluster = 4},
                                   {.multiprocessors = 1, .shared_bytes = 99 << 10}};

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

TEST_CASE("a row group is one launch, or one for each pass where no blocks hold a row, which are few") {
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

TEST_CASE("softmax and logsumexp of long rows, element by element") {
  for (const simulated::setup& chosen : setups)
    for (const auto& row : special_rows()) {
      const std::size_t n = row.size();
      double largest = -infinity, sum = 0;
      for (float x : row) largest = x > largest || x != x ? static_cast<double>(x) : largest;
      for (float x : row) sum += std::exp(static_cast<double>(x) - largest);
      simulated::api::current = chosen;
      const plx::array<float, 2> x({1, static_cast<std::int64_t>(n)}, row);
      const auto found = simulated::call(softmax, x), wide = simulated::call(library_softmax, x);
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = std::exp(static_cast<double>(row[i]) - largest) / sum;
        worst = std::max({worst, difference(found.values()[i], expected), difference(wide.values()[i], expected)});
      }
      const double total = std::isfinite(largest) ? largest + std::log(sum) : largest;
      INFO("first " << row[0] << ", last " << row[n - 1] << ", sum " << sum);
      CHECK(worst < 3e-6);
      CHECK(difference(simulated::call(logsumexp, x)(0), total) < 1e-6);
    }
}

TEST_CASE("means and variances of long rows, around large offsets") {
  for (const simulated::setup& chosen : setups)
    for (auto [offset, scale] : {std::pair{0., 1.}, {1e4, 1.}, {1e4, 0.02}, {-3e6, 2.}, {1e-10, 1e-12}, {0., 1e15}}) {
      const std::size_t n = 20011;
      std::vector<float> row = noise(n);
      for (float& x : row) x = static_cast<float>(offset + scale * static_cast<double>(x));
      row[0] = static_cast<float>(offset + 50 * scale); // is far from the others
      double mean = 0, squares = 0;
      for (float x : row) mean += static_cast<double>(x) / static_cast<double>(n);
      for (float x : row) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
      simulated::api::current = chosen;
      const plx::array<float, 2> x({1, static_cast<std::int64_t>(n)}, row);
      const auto found = simulated::call(spread, x);
      // the mean is rounded before distances from it are taken
      const double rounding = std::abs(mean) * 3e-7;
      INFO("offset " << offset << ", scale " << scale);
      CHECK(std::abs(static_cast<double>(std::get<0>(found)(0)) - mean) <= rounding + 1e-6 * scale);
      const double expected = squares / static_cast<double>(n);
      CHECK(std::abs(static_cast<double>(std::get<1>(found)(0)) - expected) <= rounding * rounding + 2e-6 * expected);
    }
}

TEST_CASE("variances of long rows with infinite elements or NaN are NaN, and of equal ones zero") {
  for (float special : {infinity, -infinity, not_a_number})
    for (std::size_t at : {std::size_t{0}, std::size_t{7000}, std::size_t{20010}}) {
      std::vector<float> row = noise(20011);
      row[at] = special;
      simulated::api::current = {};
      const auto found = simulated::call(spread, plx::array<float, 2>({1, 20011}, row));
      INFO(special << " at " << at);
      CHECK(std::isnan(std::get<1>(found)(0)));
    }
  const auto found = simulated::call(spread, plx::array<float, 2>({1, 16384}, std::vector<float>(16384, 0.25f)));
  CHECK(std::get<1>(found)(0) == 0);
}

TEST_CASE("long rows in double precision and of 16 bits, whose sums have 32") {
  compare(softmax, 1e-12, numbers<double, 2>({2, 20000}));
  compare(spread, 1e-12, numbers<double, 2>({2, 20000}));
  compare(softmax, 1e-3, numbers<plx::float16, 2>({2, 20000}));
  compare(logsumexp, 1e-3, numbers<plx::bfloat16, 2>({2, 20000}));
  compare(spread, 1e-3, numbers<plx::float16, 2>({2, 20000}));
  CHECK(launches(softmax, numbers<plx::float16, 2>({2, 40000})) == 2);
  CHECK(launches(spread, numbers<plx::float16, 2>({2, 40000})) == 2);
}

TEST_CASE("long rows that begin where no vectors do, together and apart") {
  compare(softmax, 1e-5, numbers<float, 2>({3, 17001}));
  compare(softmax, 1e-3, numbers<plx::bfloat16, 2>({3, 17001}));
  static constexpr auto apart = plx::jit([](auto x, auto y) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1) + y;
    return z - plx::max(z, 1, plx::keepdims);
  });
  static constexpr auto together = plx::jit([](auto x) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1);
    return z - plx::max(z, 1, plx::keepdims);
  });
  for (std::int64_t n : {17001, 17004}) {
    compare(apart, 1e-6, numbers<float, 2>({2, n}), numbers<float, 2>({2, n - 1}, 2));
    compare(together, 1e-6, numbers<float, 2>({2, n}));
  }
}

TEST_CASE("gradients of long rows") {
  static constexpr auto of_softmax =
      plx::jit(plx::grad([](auto x, auto y) { return plx::sum(plx::softmax(x) * plx::tanh(y)); }));
  static constexpr auto of_spread =
      plx::jit(plx::grad([](auto x) { return plx::sum(plx::var(x, 1) + plx::logsumexp(x, 1)); }));
  compare(of_softmax, 1e-6, numbers<float, 2>({2, 17000}), numbers<float, 2>({2, 17000}, 2));
  compare(of_spread, 1e-6, numbers<float, 2>({2, 17000}));
}

TEST_CASE("sums that look like centred ones, and one around a multiple of the mean") {
  // around another row's maximum, around what is no mean, of third powers
  static constexpr auto others = plx::jit([](auto x, auto y) {
    auto d = x - plx::mean(x, 1, plx::keepdims);
    return std::tuple{plx::sum(plx::exp(x - plx::max(y, 1, plx::keepdims)), 1), //
                      plx::sum(plx::square(x - plx::min(x, 1, plx::keepdims)), 1), plx::sum(d * d * d, 1),
                      plx::sum(plx::square(x - plx::sum(x, 1, plx::keepdims) * 0.01f), 1)};
  });
  const auto y = numbers<float, 2>({2, 17000}, 2);
  std::vector<float> values = noise(2 * 17000);
  compare(others, 1e-4, plx::array<float, 2>({2, 17000}, values), y);
  values[400] = infinity;
  values[17400] = -infinity;
  compare(others, 1e-4, plx::array<float, 2>({2, 17000}, values), y);
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
