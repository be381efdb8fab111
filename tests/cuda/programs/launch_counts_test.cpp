// How many calls a step of training is on a device: as kernels and products, as a graph's nodes, as allocations.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/numbers.hpp"
#include "cuda/programs/training_models.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace launch_counts_test {

namespace plx = parallax;
using simulated::numbers;
using namespace training_models;

namespace {

/// How often what is called; copies of arguments and results are not among the kernels.
struct tally {
  int kernels = 0, products = 0, copies = 0, allocations = 0, graphs = 0;
  int nodes = 0;                ///< kernels and products of a graph
  unsigned largest_cluster = 0; ///< of a kernel's blocks
};
struct counting_api : simulator::api {
  static inline tally made;

  static plx::cuda::status end_capture(stream on, graph& of) {
    made.nodes = made.kernels + made.products - before_capture;
    return simulator::api::end_capture(on, of);
  }
  static plx::cuda::status begin_capture(stream on) {
    before_capture = made.kernels + made.products;
    return simulator::api::begin_capture(on);
  }

  template <class Kernel>
  static plx::cuda::status launch(Kernel kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename Kernel::arguments& arguments) {
    static_assert(sizeof arguments <= 4096);
    ++(std::is_same_v<Kernel, plx::cuda::copy_pieces> ? made.copies : made.kernels);
    made.largest_cluster = std::max(made.largest_cluster, shape.cluster);
    return simulator::api::launch(kernel, shape, on, arguments);
  }
  static plx::cuda::status multiply(const plx::cuda::matrix_product& product, int device, stream on) {
    ++made.products;
    return simulator::api::multiply(product, device, on);
  }
  static plx::cuda::status fill_zero(void* to, std::size_t bytes, stream on) {
    ++made.copies;
    return simulator::api::fill_zero(to, bytes, on);
  }
  static plx::cuda::status copy_between(void* to, int target, const void* from, int source, std::size_t bytes,
                                        stream on) {
    ++made.copies;
    return simulator::api::copy_between(to, target, from, source, bytes, on);
  }
  static plx::cuda::status allocate(void*& pointer, std::size_t bytes, stream on) {
    ++made.allocations;
    return simulator::api::allocate(pointer, bytes, on);
  }
  static plx::cuda::status launch_graph(graph of, stream on) {
    ++made.graphs;
    return simulator::api::launch_graph(of, on);
  }

 private:
  static inline int before_capture = 0;
};
/// The same with an extent that is known while compiling.
template <std::int64_t... E> auto fixed(unsigned seed) {
  return plx::array<float, plx::extents<E...>>({E...}, numbers<sizeof...(E)>({E...}, seed).values());
}

/// What three calls make: the first one goes step by step, the second one captures a graph, which the third one
/// launches. Results are the host's.
template <class Function, class... Arguments>
std::array<tally, 3> calls_on(simulator::machine_options machine, const Function& function, double tolerance,
                              const Arguments&... given) {
  const std::vector<float> expected = simulated::numbers_of(simulated::results_on_host(function, given...));
  std::array<tally, 3> calls;
  machine.devices = 1;
  for (machine.seed = 1; machine.seed <= 3; ++machine.seed) {
    simulator::machine on(machine);
    {
      const simulated::running_backend<counting_api> here;
      for (tally& call : calls) {
        counting_api::made = {};
        const std::vector<float> found = simulated::numbers_of(simulated::results_of<counting_api>(function, given...));
        call = counting_api::made;
        REQUIRE(found.size() == expected.size());
        double farthest = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
          farthest = std::max(farthest, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
        CHECK(farthest < tolerance);
      }
    }
    on.finish();
  }
  return calls;
}
template <class Function, class... Arguments>
std::array<tally, 3> calls_of(const Function& function, double tolerance, const Arguments&... given) {
  return calls_on({}, function, tolerance, given...);
}
void check_calls(const std::array<tally, 3>& calls, int kernels, int products, int outside_of_graphs = 0) {
  for (int call : {0, 1}) { // enqueued, then captured
    CHECK(calls[static_cast<std::size_t>(call)].kernels == kernels);
    CHECK(calls[static_cast<std::size_t>(call)].products == products);
  }
  CHECK(calls[1].nodes == kernels + products - outside_of_graphs);
  CHECK(calls[1].copies == 3); // one loads the kernel, then of arguments and results
  CHECK(calls[2].kernels + calls[2].products == 0);
  CHECK(calls[2].graphs == 1);
  CHECK(calls[2].allocations == 1);
}

auto perceptron(unsigned seed) {
  return std::tuple{layer{numbers<2>({48, 24}, seed), numbers<1>({24}, seed + 1)},
                    layer{numbers<2>({24, 32}, seed + 2), numbers<1>({32}, seed + 3)},
                    layer{numbers<2>({32, 10}, seed + 4), numbers<1>({10}, seed + 5)}};
}
const auto images = numbers<2>({20, 48}, 21), targets = numbers<2>({20, 10}, 22);

auto squared(const auto& tree) {
  return plx::tree_map(
      [](auto leaf) {
        for (std::int64_t i = 0; i < leaf.size(); ++i) leaf.mutable_data()[i] *= leaf.data()[i];
        return leaf;
      },
      tree);
}

constexpr block_sizes one_sequence{.batch = 1}, three_sequences{.batch = 3}, eight_sequences{.batch = 8};
constexpr int sequence = one_sequence.sequence, width = one_sequence.width;

auto block() {
  constexpr int hidden = 2 * width;
  return transformer_block{fixed<width>(1),        fixed<width>(2),          fixed<width, width>(3),
                           fixed<width, width>(4), fixed<width, width>(5),   fixed<width, width>(6),
                           fixed<width>(7),        fixed<width>(8),          fixed<width, hidden>(9),
                           fixed<hidden>(10),      fixed<hidden, width>(11), fixed<width>(12)};
}

} // namespace

// 3 products forward and 5 back, with the biases and what becomes of them; the cross-entropy with its gradient, the sum
// of the losses, the mean with what is one number in Adam, and the update of all parameters and both means
TEST_CASE("a perceptron's step of Adam is twelve calls, a graph and an allocation") {
  const auto mu = perceptron(31), nu = squared(perceptron(41));
  const auto state = std::tuple{plx::optim::adam_state{plx::array<std::int32_t, 0>(3), mu, nu}, std::tuple<>{}};
  check_calls(calls_of(adam_step, 1e-6, perceptron(1), state, images, targets), 4, 8);
}
TEST_CASE("with gradient descent it is as many") {
  check_calls(calls_of(sgd_step, 1e-6, perceptron(1), images, targets, 0.1f), 4, 8);
}

TEST_CASE("with a rate that is known the library updates the weights") {
  check_calls(calls_of(fixed_rate_step, 1e-6, perceptron(1), images, targets), 4, 8);
}

// 8 products forward and 16 back, of all heads of all sequences; two normalisations, a softmax and their gradients,
// what the loss is made of and its derivative, its sum and mean, and two pairs of sums for scales and shifts. Of
// several sequences heads lie apart: where their matrices are is written by one launch, which graphs do without
TEST_CASE("a transformer block forward and back is 35 calls, and one more for any number of sequences") {
  check_calls(calls_of(block_step<one_sequence>, 1e-5, block(), fixed<1, sequence, width>(13)), 11, 24);
  check_calls(calls_of(block_step<three_sequences>, 1e-5, block(), fixed<3, sequence, width>(13)), 12, 24, 1);
  check_calls(calls_of(block_step<eight_sequences>, 1e-5, block(), fixed<8, sequence, width>(13)), 12, 24, 1);
}

TEST_CASE("a softmax of long rows is one launch where a cluster holds them, in graphs too, and two where none does") {
  static constexpr auto weighted =
      plx::jit([](auto x, auto y, auto z) { return plx::dot(plx::tanh(plx::dot(plx::softmax(x), y)), z); });
  for (auto [largest, kernels] : {std::pair{1, 3}, {4, 2}}) { // one is the tanh
    const auto calls =
        calls_on({.multiprocessors = 4, .shared_bytes_per_block = 16 << 10, .largest_cluster = largest}, weighted, 1e-5,
                 numbers<2>({3, 12000}, 51), numbers<2>({12000, 8}, 52), numbers<2>({8, 5}, 53));
    for (std::size_t call : {0U, 1U}) { // enqueued, then captured
      CHECK(calls[call].kernels == kernels);
      CHECK(calls[call].largest_cluster == static_cast<unsigned>(largest));
    }
    CHECK(calls[2].kernels == 0);
    CHECK(calls[2].graphs == 1);
  }
}

} // namespace launch_counts_test
