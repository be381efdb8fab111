// Rows that are held in shared memory, of one block or of a cluster: on devices of several sizes, of all lengths around
// what fits.
#include "cuda/kernels/simulated_kernels.hpp"

#include <cstdint>
#include <tuple>

namespace shared_rows_test {

namespace plx = parallax;
using simulated::numbers;
using simulated::setup;

namespace {

constexpr auto softmax = plx::jit([](auto x) {
  auto e = plx::exp(x - plx::max(x, 1, plx::keepdims));
  return e / plx::sum(e, 1, plx::keepdims);
});
/// Two operands are needed in all passes, a third in the last; three results.
constexpr auto centred = plx::jit([](auto x, auto y, auto z) {
  auto d = x * y;
  auto mean = plx::mean(d, 1, plx::keepdims);
  auto square = plx::sum(plx::square(d - mean), 1);
  return std::tuple{(d - mean) * z, square, plx::max(d, 1)};
});

template <class Function, class... Arguments>
using kernel_of =
    typename plx::compiled::program_kernel<plx::detail::program<Function, plx::detail::abstract_t<Arguments>...>,
                                           0>::type;
using softmax_kernel = kernel_of<decltype(softmax), plx::array<float, 2>>;
static_assert(plx::cuda::shared_rows<softmax_kernel>::element_bytes == sizeof(float));
static_assert(plx::cuda::shared_rows<kernel_of<decltype(softmax), plx::array<plx::bfloat16, 2>>>::element_bytes == 2);

struct outcome {
  int launches;
  std::size_t bytes_read;
  unsigned cluster;
};
/// Checks the values, and says how they were computed.
template <class Function, class... Arguments>
outcome run(const setup& device, const Function& f, double tolerance, const Arguments&... arguments) {
  using simulated::api;
  api::current = device;
  api::launches = 0;
  api::bytes_read = 0;
  INFO("clusters of up to " << device.largest_cluster << ", " << device.shared_bytes << " bytes");
  simulated::require_close(f(arguments...), simulated::call(f, arguments...), tolerance);
  return {api::launches, api::bytes_read, api::last.cluster};
}

/// The longest row of a softmax that so many blocks hold.
std::int64_t longest(const setup& device, int cluster) {
  std::int64_t low = 1, high = std::int64_t{1} << 30;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (plx::cuda::detail::cut_row<softmax_kernel>(middle, cluster, device.shared_bytes).cluster != 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

} // namespace

TEST_CASE("a row as long as a block's shared memory is read once, and a longer one twice") {
  // GPUs of compute capability 8.6, 8.0 and 9.0, and what every GPU has
  for (std::size_t kib : {48U, 99U, 163U, 227U}) {
    const setup device{.multiprocessors = 1, .shared_bytes = kib << 10};
    const std::int64_t most = longest(device, 1);
    CHECK(static_cast<std::size_t>(most) > (kib << 10) / sizeof(float) - 160);
    const std::size_t bytes = static_cast<std::size_t>(most) * sizeof(float);
    const outcome fits = run(device, softmax, 1e-6, numbers<float, 2>({1, most}));
    CHECK(fits.launches == 1);
    CHECK(fits.bytes_read == bytes);
    const outcome longer = run(device, softmax, 1e-6, numbers<float, 2>({1, most + 16}));
    CHECK(longer.launches == 2);
    CHECK(longer.bytes_read > 2 * bytes);
  }
}

TEST_CASE("a row as long as the shared memory of a cluster is read once") {
  for (int largest : {2, 8, 16}) {
    const setup device{.multiprocessors = 1, .shared_bytes = 20 << 10, .largest_cluster = largest};
    const std::int64_t most = longest(device, largest);
    const outcome fits = run(device, softmax, 1e-6, numbers<float, 2>({2, most}));
    CHECK(fits.launches == 1);
    CHECK(fits.cluster == static_cast<unsigned>(largest));
    CHECK(fits.bytes_read == static_cast<std::size_t>(2 * most) * sizeof(float));
    CHECK(run(device, softmax, 1e-6, numbers<float, 2>({1, most + largest * 16})).launches == 2);
  }
}

TEST_CASE("rows of 900000 floats fit a cluster of 16 blocks") {
  plx::cuda::device_properties hopper;
  hopper.multiprocessors = 132;
  hopper.shared_bytes_per_block = 227 << 10;
  hopper.largest_cluster = 16;
  const auto blocks = [&](std::int64_t length, std::int64_t rows) {
    return plx::cuda::detail::best_cut<softmax_kernel>(length, rows, hopper).cluster;
  };
  CHECK(blocks(900000, 64) == 16);
  CHECK(blocks(1 << 20, 64) == 0);
  CHECK(blocks(400000, 64) == 8);
  // two blocks fit a multiprocessor
  CHECK(blocks(20000, 1000) == 1);
  CHECK(blocks(50000, 1000) == 2);
  CHECK(blocks(100000, 1000) == 4);
  // few rows go over more multiprocessors; not where most of them would have nothing to do all the same
  CHECK(blocks(50000, 20) == 4);
  CHECK(blocks(400000, 4) == 0);
  hopper.largest_cluster = 1;
  CHECK(blocks(50000, 1000) == 1);
  CHECK(blocks(100000, 1000) == 0);
}

TEST_CASE("where no cluster of the size that suits runs, a smaller one does, or rows are read in each pass") {
  const setup device{.multiprocessors = 64, .shared_bytes = 48 << 10, .largest_cluster = 8};
  const auto x = numbers<float, 2>({4, 20000});
  for (auto [fitting, launches, cluster] : {std::tuple{16, 1, 8U}, {4, 1, 4U}, {2, 1, 2U}, {1, 2, 1U}}) {
    simulated::api::fitting_cluster = fitting;
    const outcome found = run(device, softmax, 1e-6, x);
    CHECK(found.launches == launches);
    CHECK(found.cluster == cluster);
  }
  simulated::api::fitting_cluster = 16;
}

TEST_CASE("a cluster holds one row after another") {
  static constexpr auto below = plx::jit([](auto x) { return x - plx::max(x, 1, plx::keepdims); });
  const setup device{.multiprocessors = 1, .shared_bytes = 4 << 10, .largest_cluster = 16};
  const auto x = numbers<float, 2>({7, 9000}), y = numbers<float, 2>({7, 9000}, 2);
  CHECK(run(device, below, 0, x).cluster == 16);
  CHECK(simulated::api::last.blocks == 32);
  run(device, softmax, 1e-6, y);
}

TEST_CASE("a row that begins elsewhere than the one before it waits until that is stored") {
  // vectors begin 0, 3, 2 and 1 elements behind the beginnings of rows, so that other threads have them
  static constexpr auto below = plx::jit([](auto x) { return x - plx::max(x, 1, plx::keepdims); });
  const setup clusters{.multiprocessors = 1, .shared_bytes = 4 << 10, .largest_cluster = 16};
  CHECK(run(clusters, below, 0, numbers<float, 2>({7, 9001})).cluster == 16);
  CHECK(simulated::api::last.blocks == 2 * 16);

  static constexpr auto below_in_parts = plx::jit([](auto x) {
    auto parts = plx::slice_in_dim(x, 0, 5, 1, 1);
    return parts - plx::max(parts, 2, plx::keepdims);
  });
  const setup blocks{.multiprocessors = 1, .shared_bytes = 48 << 10};
  CHECK(run(blocks, below_in_parts, 0, numbers<float, 3>({7, 6, 9001})).cluster == 1);
  CHECK(simulated::api::last.blocks == 32);
}

TEST_CASE("several operands of several types, rows that begin anywhere, and pieces without elements") {
  for (int largest : {1, 4, 16})
    for (std::size_t bytes : {std::size_t{227 << 10}, std::size_t{24 << 10}}) {
      if (largest == 1 && bytes < 100000) continue;
      const setup device{.multiprocessors = 1, .shared_bytes = bytes, .largest_cluster = largest};
      for (std::int64_t n : {9001, 9002, 9004, 12288}) {
        const auto x = numbers<float, 2>({3, n}), y = numbers<float, 2>({3, n}, 2), z = numbers<float, 2>({3, n}, 3);
        if (largest == 1 || largest == 16 || bytes > 100000) {
          const outcome found = run(device, centred, 1e-4, x, y, z);
          CHECK(found.bytes_read == static_cast<std::size_t>(9 * n) * sizeof(float));
        }
        run(device, softmax, 1e-3, numbers<plx::bfloat16, 2>({3, 2 * n}));
        run(device, softmax, 1e-12, numbers<double, 2>({2, n}));
      }
    }
}

TEST_CASE("operands that begin where no vectors do, together and apart, and transposed ones") {
  static constexpr auto together = plx::jit([](auto x) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1);
    return plx::sum(plx::square(z - plx::max(z, 1, plx::keepdims)), 1);
  });
  static constexpr auto apart = plx::jit([](auto x, auto y) {
    auto z = plx::slice_in_dim(x, 1, plx::none, 1, 1) + y;
    return z - plx::max(z, 1, plx::keepdims);
  });
  static constexpr auto transposed = plx::jit([](auto x) {
    auto y = plx::transpose(x);
    return y * plx::sum(plx::square(y), 1, plx::keepdims);
  });
  for (const setup& device : {setup{.multiprocessors = 1, .shared_bytes = 99 << 10},
                              setup{.multiprocessors = 1, .shared_bytes = 24 << 10, .largest_cluster = 8}}) {
    // whose memory has no elements to spare
    CHECK(run(device, together, 1e-6, numbers<float, 2>({2, 9009})).launches == 1);
    CHECK(run(device, apart, 1e-6, numbers<float, 2>({2, 9001}), numbers<float, 2>({2, 9000}, 2)).launches == 1);
    CHECK(run(device, transposed, 1e-4, numbers<float, 2>({9000, 3})).launches == 1);
  }
}

} // namespace shared_rows_test
