// Products and loops of programs, which are noted as they are called, and their results beside the host's.
#pragma once

#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace noted_products {

namespace plx = parallax;

using plx::detail::product_activation;
using enum plx::detail::product_activation;

/// Notes the epilogues of products and the launches of loops.
struct noting_api : simulator::api {
  inline static std::vector<std::string> calls;
  inline static bool has_epilogues = true, has_signs = true;
  inline static int launched_graphs = 0;

  static plx::cuda::status launch_graph(graph of, stream on) {
    ++launched_graphs;
    return simulator::api::launch_graph(of, on);
  }

  static plx::cuda::status can_multiply(const plx::cuda::matrix_product& p, int device) {
    if (!has_epilogues)
      return {plx::cuda::status::kind::unsupported, 0, "the simulator", "can_multiply", "no epilogues today"};
    if (!has_signs && p.epilogue.activation == relu && p.epilogue.auxiliary != nullptr)
      return {plx::cuda::status::kind::unsupported, 0, "the simulator", "can_multiply", "no signs today"};
    return simulator::api::can_multiply(p, device);
  }
  static plx::cuda::status multiply(const plx::cuda::matrix_product& p, int device, stream on) {
    CHECK((p.addresses == nullptr || p.addresses != timed_addresses));
    static constexpr const char* names[] = {"", " relu", " gelu", " relu gradient", " gelu gradient"};
    const auto& e = p.epilogue;
    calls.push_back(std::string("product") + (e.bias ? " bias" : "") + names[static_cast<int>(e.activation)] +
                    (e.auxiliary ? " auxiliary" : "") +
                    (e.bias_gradient ? e.sums_right ? " sums of right" : " sums" : ""));
    return simulator::api::multiply(p, device, on);
  }
  template <class Kernel>
  static plx::cuda::status launch(Kernel kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename Kernel::arguments& arguments) {
    if (!std::is_same_v<Kernel, plx::cuda::copy_pieces>) calls.push_back("loop"); // beside that of small arguments
    return simulator::api::launch(kernel, shape, on, arguments);
  }

  // Algorithms that take so long, or do not run where that is less than 0

  inline static std::vector<double> times;
  inline static std::map<std::string, int> chosen; ///< by what the products have in common
  inline static std::vector<int> timed;
  inline static bool comes_in_time = true;
  inline static void* const* timed_addresses = nullptr;
  inline static int captured = 0; ///< captures that go on

  static std::string kind_of(const plx::cuda::matrix_product& p, int device) {
    const auto& e = p.epilogue;
    std::string kind;
    for (const std::int64_t each : {std::int64_t{device},
                                    p.batch,
                                    p.rows,
                                    p.columns,
                                    p.depth,
                                    p.left_row,
                                    p.left_depth,
                                    p.right_depth,
                                    p.right_column,
                                    p.result_pitch(),
                                    p.left_batch,
                                    p.right_batch,
                                    p.result_batch,
                                    static_cast<std::int64_t>(e.activation),
                                    std::int64_t{e.bias != nullptr},
                                    std::int64_t{e.auxiliary != nullptr},
                                    std::int64_t{e.bias_gradient != nullptr},
                                    std::int64_t{e.sums_right},
                                    std::int64_t{p.base != nullptr},
                                    std::int64_t{p.addresses != nullptr}})
      kind += std::to_string(each) + ' ';
    for (const void* each : {static_cast<const void*>(p.result), static_cast<const void*>(e.auxiliary)})
      kind += std::to_string(reinterpret_cast<std::uintptr_t>(each) % 16) + ' ';
    return kind;
  }
  static plx::cuda::status begin_capture(stream on) {
    ++captured;
    return simulator::api::begin_capture(on);
  }
  static plx::cuda::status end_capture(stream on, graph& made) {
    --captured;
    return simulator::api::end_capture(on, made);
  }
  static plx::cuda::status proposed_algorithms(int& count, const plx::cuda::matrix_product& p, int device) {
    count = chosen.contains(kind_of(p, device)) ? 0 : static_cast<int>(times.size());
    return {};
  }
  static plx::cuda::status time_algorithm(double& seconds, int number, const plx::cuda::matrix_product& p, int device,
                                          stream on) {
    CHECK(captured == 0);
    CHECK_FALSE(chosen.contains(kind_of(p, device)));
    seconds = times.at(static_cast<std::size_t>(number));
    timed.push_back(number);
    timed_addresses = p.addresses;
    if (!comes_in_time) {
      plx::cuda::check(simulator::api::multiply(p, device, on));
      return {plx::cuda::status::kind::not_ready, 0, "the simulator", "time_algorithm", "it takes long"};
    }
    if (seconds < 0)
      return {plx::cuda::status::kind::unsupported, 0, "the simulator", "time_algorithm", "it does not run"};
    return simulator::api::multiply(p, device, on);
  }
  static plx::cuda::status choose_algorithm(int number, const plx::cuda::matrix_product& p, int device) {
    CHECK(chosen.emplace(kind_of(p, device), number).second);
    return {};
  }
};

using calls = std::vector<std::string>;

template <class... Arguments> std::vector<float> on_devices(const Arguments&... given) {
  return simulated::numbers_of(simulated::results_of<noting_api>(given...));
}

struct outcome {
  std::vector<float> numbers;
  calls made;
};
template <class Function, class... Arguments> outcome run(const Function& f, const Arguments&... given) {
  simulator::machine on(simulator::machine_options{.devices = 1, .seed = 7});
  outcome result;
  {
    const simulated::running_backend<noting_api> here;
    noting_api::calls.clear();
    result.numbers = on_devices(f, given...);
  }
  on.finish();
  result.made = noting_api::calls;
  return result;
}
template <class... Arguments> std::vector<float> on_host(const Arguments&... given) {
  return simulated::numbers_of(simulated::results_on_host(given...));
}

inline plx::array<float, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1U << 24) - 0.5f;
  }
  return {{rows, columns}, values};
}
inline plx::array<float, 1> vector(std::int64_t size, unsigned seed) {
  const auto row = matrix(1, size, seed);
  return {{size}, row.values()};
}

inline void check_close(const std::vector<float>& actual, const std::vector<float>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    INFO(i);
    CHECK(std::abs(actual[i] - expected[i]) <= 1e-5f * (1 + std::abs(expected[i])));
  }
}

/// Calls `use` with the weights and biases of two layers, inputs, and targets.
template <class Use> void with_layers(const Use& use, unsigned seed_of_inputs = 1, std::int64_t outputs = 9) {
  use(matrix(20, 24, 3), vector(24, 5), matrix(24, outputs, 4), vector(outputs, 6), matrix(12, 20, seed_of_inputs),
      matrix(12, outputs, 2));
}

inline bool is_gradient(const std::string& call) { return call.find("gradient") != call.npos; }

/// Checks the calls, and the results with and without epilogues.
template <class Function, class... Arguments>
void check(const calls& expected, const Function& f, const Arguments&... given) {
  const auto host = on_host(f, given...);
  const outcome fused = run(f, given...);
  CHECK(fused.made == expected);
  check_close(fused.numbers, host);
  noting_api::has_epilogues = false;
  const outcome parts = run(f, given...);
  noting_api::has_epilogues = true;
  for (const std::string& call : parts.made) CHECK((call == "product" || call == "loop"));
  check_close(parts.numbers, host);
}

inline constexpr auto layer = [](auto x, auto w, auto b) { return plx::dot(x, w) + b; };
inline constexpr auto relu_layer = [](auto x, auto w, auto b) { return plx::relu(plx::dot(x, w) + b); };
inline constexpr auto gelu_layer = [](auto x, auto w, auto b) { return plx::gelu(b + plx::dot(x, w)); };

template <class Activation>
constexpr auto loss = [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
  auto hidden = Activation{}(plx::dot(x, w1) + b1);
  return plx::mean(plx::square(plx::dot(hidden, w2) + b2 - t));
};
inline constexpr auto relu_loss = loss<decltype(plx::relu)>;
inline constexpr auto gelu_loss = loss<decltype(plx::gelu)>;

/// All gradients of two layers, and the loss.
template <class Loss>
constexpr auto gradients = [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
  return plx::value_and_grad(Loss{}, plx::argnums<0, 1, 2, 3>)(w1, b1, w2, b2, x, t);
};

} // namespace noted_products
