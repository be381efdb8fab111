// Products that do the work of the loops behind them: what is called, and that results are the host's.
#include "cuda/programs/calls.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/simulator/machine.hpp"
#include "test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace epilogues_test {

namespace plx = parallax;

namespace {

using plx::product_activation;
using enum plx::product_activation;

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

plx::array<float, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1U << 24) - 0.5f;
  }
  return {{rows, columns}, values};
}
plx::array<float, 1> vector(std::int64_t size, unsigned seed) {
  const auto row = matrix(1, size, seed);
  return {{size}, row.values()};
}

void check_close(const std::vector<float>& actual, const std::vector<float>& expected) {
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

bool is_gradient(const std::string& call) { return call.find("gradient") != call.npos; }

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

constexpr auto layer = [](auto x, auto w, auto b) { return plx::dot(x, w) + b; };
constexpr auto relu_layer = [](auto x, auto w, auto b) { return plx::relu(plx::dot(x, w) + b); };
constexpr auto gelu_layer = [](auto x, auto w, auto b) { return plx::gelu(b + plx::dot(x, w)); };

template <class Activation>
constexpr auto loss = [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
  auto hidden = Activation{}(plx::dot(x, w1) + b1);
  return plx::mean(plx::square(plx::dot(hidden, w2) + b2 - t));
};
constexpr auto relu_loss = loss<decltype(plx::relu)>;
constexpr auto gelu_loss = loss<decltype(plx::gelu)>;

/// All gradients of two layers, and the loss.
template <class Loss>
constexpr auto gradients = [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
  return plx::value_and_grad(Loss{}, plx::argnums<0, 1, 2, 3>)(w1, b1, w2, b2, x, t);
};

} // namespace

TEST_CASE("a bias and an activation are the product's epilogue") {
  const auto x = matrix(24, 17, 1), w = matrix(17, 40, 2);
  const auto b = vector(40, 3);
  check({"product bias"}, layer, x, w, b);
  check({"product bias relu"}, relu_layer, x, w, b);
  check({"product bias gelu"}, gelu_layer, x, w, b);
  check({"product relu"}, [](auto a, auto c) { return plx::relu(plx::dot(a, c)); }, x, w);
  check(
      {"product bias"},
      [](auto a, auto c, auto d) { return plx::dot(a, c) + plx::index_in_dim(plx::reshape(d, {5, 40}), 3); }, x, w,
      vector(200, 4));
}

TEST_CASE("what no epilogue computes stays a loop") {
  const auto x = matrix(24, 17, 1), w = matrix(17, 40, 2);
  const auto b = vector(40, 3);
  check({"product", "loop"}, [](auto a, auto c, auto d) { return plx::tanh(plx::dot(a, c) + d); }, x, w, b);
  // a bias of rows
  check(
      {"product", "loop"}, [](auto a, auto c, auto d) { return plx::dot(a, c) + plx::expand_dims(d, 1); }, x, w,
      vector(24, 5));
  // the product itself is a result
  check(
      {"product", "loop"},
      [](auto a, auto c, auto d) {
        auto product = plx::dot(a, c);
        return std::tuple(product, plx::relu(product + d));
      },
      x, w, b);
  // two loops read it
  check(
      {"product", "loop", "loop"},
      [](auto a, auto c, auto d) {
        auto product = plx::dot(a, c);
        return std::tuple(plx::relu(product + d), plx::sum(product, 0));
      },
      x, w, b);
  // what comes out of the bias is wanted beside the relu
  check(
      {"product", "loop"},
      [](auto a, auto c, auto d) {
        auto before = plx::dot(a, c) + d;
        return std::tuple(before, plx::relu(before));
      },
      x, w, b);
}

TEST_CASE("gradients of layers with relu are epilogues of products") {
  with_layers([](const auto&... given) {
    check({"product bias relu auxiliary", "product", "loop", "loop", "loop", "loop",
           "product relu gradient auxiliary sums", "product sums of right", "product"},
          gradients<decltype(relu_loss)>, given...);
  });
}

TEST_CASE("a sum that another product's epilogue wants before stays where it is") {
  const auto x = matrix(24, 17, 1), w = matrix(17, 40, 2), u = matrix(9, 30, 3), v = matrix(30, 40, 4);
  check(
      {"loop", "product bias relu", "product"},
      [](auto a, auto c, auto d, auto e) {
        auto total = plx::sum(e, 0);
        auto product = plx::dot(a, c);
        auto other = plx::dot(d, e);
        return std::tuple(other, plx::relu(product + total));
      },
      x, w, u, v);
}

TEST_CASE("signs are left in rows, which another product may not have") {
  const plx::array<float, 3> x = plx::reshape(matrix(6 * 16, 20, 1), {6, 16, 20});
  const plx::array<float, 3> v = plx::reshape(matrix(16 * 24, 10, 2), {16, 24, 10});
  const auto w = matrix(20, 24, 3);
  const auto b = vector(24, 4);
  static constexpr auto whole = [](auto weight, auto bias, auto given, auto other) {
    auto hidden = plx::relu(plx::dot(given, weight) + bias);
    return plx::sum(plx::square(plx::dot_general(hidden, other, {{1, 2}, {0, 1}, {}, {}})));
  };
  check({"product bias relu", "product", "loop", "product", "loop", "product sums of right"},
        plx::grad(whole, plx::argnums<0, 1>), w, b, x, v);
}

TEST_CASE("where the library's signs are not those of relu's gradient, the gradient is a loop") {
  with_layers([](const auto&... given) {
    noting_api::has_signs = false;
    const outcome found = run(gradients<decltype(relu_loss)>, given...);
    noting_api::has_signs = true;
    check_close(found.numbers, on_host(gradients<decltype(relu_loss)>, given...));
    CHECK(found.made.front() == "product bias relu");
    CHECK(std::ranges::none_of(found.made, is_gradient));
  });
}

TEST_CASE("products of depth 1 have no epilogues of gradients") {
  with_layers(
      [](const auto&... given) {
        const outcome found = run(gradients<decltype(relu_loss)>, given...);
        check_close(found.numbers, on_host(gradients<decltype(relu_loss)>, given...));
        CHECK(found.made.front() == "product bias relu auxiliary");
        CHECK(std::ranges::none_of(found.made, is_gradient));
      },
      1, 1);
}

TEST_CASE("a failing call of an epilogue is reported, and nothing is left behind") {
  const auto made = simulator::try_every_failure({.devices = 1, .seed = 3}, [] {
    const simulated::running_backend<noting_api> here;
    with_layers([](const auto&... given) { on_devices(gradients<decltype(relu_loss)>, given...); });
    plx::cuda::backend<noting_api>::shut_down();
  });
  CHECK(made > 20);
}

TEST_CASE("graphs replay epilogues on new arguments") {
  plx::cuda::backend_options options;
  options.graph_steps = 2;
  noting_api::launched_graphs = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    simulator::machine on(simulator::machine_options{.devices = 1, .seed = seed});
    {
      const simulated::running_backend<noting_api> here(options);
      for (unsigned call = 0; call < 4; ++call)
        with_layers(
            [](const auto&... given) {
              check_close(on_devices(gradients<decltype(relu_loss)>, given...),
                          on_host(gradients<decltype(relu_loss)>, given...));
            },
            10 + call);
    }
    on.finish();
  }
  CHECK(noting_api::launched_graphs == 5 * 3);
}

TEST_CASE("a branch that is taken first in a graph may be the first to ask the library, and to use it") {
  constexpr auto train = [](auto goes, auto w, auto b, auto v, auto x) {
    return plx::cond(
        goes,
        plx::grad([](auto w1, auto b1, auto w2,
                     auto given) { return plx::sum(plx::square(plx::dot(plx::relu(plx::dot(given, w1) + b1), w2))); },
                  plx::argnums<0, 1, 2>),
        [](auto w1, auto b1, auto w2, auto) { return std::tuple(w1 * 0.f, b1 * 0.f, w2 * 0.f); }, w, b, v, x);
  };
  constexpr auto multiply = [](auto goes, auto w, auto x) {
    return plx::cond(
        goes, [](auto w1, auto given) { return plx::dot(given, w1); }, [](auto, auto given) { return given * 0.f; }, w,
        x);
  };
  const auto w = matrix(32, 32, 1), v = matrix(32, 32, 2), x = matrix(64, 32, 3);
  const auto b = vector(32, 4);
  const auto call_thrice = [](const char* in_the_branch, const auto& f, const auto&... given) {
    simulator::machine on({.devices = 1});
    {
      const simulated::running_backend<noting_api> here;
      noting_api::launched_graphs = 0;
      for (const bool goes : {false, false, true}) {
        const plx::array<bool, 0> chosen(goes);
        noting_api::calls.clear();
        check_close(on_devices(f, chosen, given...), on_host(f, chosen, given...));
        const bool is_captured = !goes && noting_api::launched_graphs == 1;
        CHECK(std::ranges::count(noting_api::calls, in_the_branch) == (is_captured ? 1 : 0));
      }
      CHECK(noting_api::launched_graphs == 2);
    }
    on.finish();
  };
  call_thrice("product bias relu auxiliary", train, w, b, v, x);
  call_thrice("product", multiply, w, x);
}

TEST_CASE("training steps on several devices reduce gradients that epilogues leave") {
  static constexpr auto step = plx::pmap<"i">(
      [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
        auto [value, slopes] = plx::value_and_grad(gelu_loss, plx::argnums<0, 1, 2, 3>)(w1, b1, w2, b2, x, t);
        return std::pair(plx::pmean<"i">(value), plx::pmean<"i">(slopes));
      },
      plx::in_axes<plx::none, plx::none, plx::none, plx::none, 0, 0>);
  const auto x = plx::reshape(matrix(48, 20, 1), {4, 12, 20}), t = plx::reshape(matrix(48, 9, 2), {4, 12, 9});
  const plx::array<float, 3> images = x, targets = t;
  const auto w1 = matrix(20, 24, 3), w2 = matrix(24, 9, 4);
  const auto b1 = vector(24, 5), b2 = vector(9, 6);
  const auto host = on_host(step, w1, b1, w2, b2, images, targets);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    simulator::machine on(simulator::machine_options{.devices = 4, .seed = seed});
    {
      const simulated::running_backend<noting_api> here;
      noting_api::calls.clear();
      check_close(on_devices(step, w1, b1, w2, b2, images, targets), host);
      CHECK(std::ranges::count(noting_api::calls, "product gelu gradient auxiliary sums") == 4);
    }
    on.finish();
  }
}

TEST_CASE("gradients of layers with gelu are epilogues of products") {
  with_layers([](const auto&... given) {
    check({"product bias gelu auxiliary", "product", "loop", "loop", "loop", "loop",
           "product gelu gradient auxiliary sums", "product sums of right", "product"},
          gradients<decltype(gelu_loss)>, given...);
  });
}

namespace {

/// Three calls of a function where algorithms are measured: step by step, captured, as a graph. Returns how many kinds
/// of products there are.
template <class Function, class... Arguments> std::size_t check_measured(const Function& f, const Arguments&... given) {
  const std::vector<float> host = on_host(f, given...);
  simulator::machine on(simulator::machine_options{.devices = 1, .seed = 3});
  noting_api::chosen.clear();
  noting_api::timed.clear();
  {
    const simulated::running_backend<noting_api> here(plx::cuda::backend_options{.measured_products = true});
    for (int call = 0; call < 3; ++call) check_close(on_devices(f, given...), host);
    CHECK(noting_api::timed.size() == noting_api::chosen.size() * noting_api::times.size()); // once each
  }
  on.finish();
  return noting_api::chosen.size();
}

/// An update of a matrix.
constexpr auto descended = [](auto w, auto x, auto t) { return w - 0.1f * plx::dot(plx::transpose(x), t); };

/// A product that is added where it is written: once, however often it is measured.
void check_in_place() {
  using backend = plx::cuda::backend<noting_api>;
  simulator::machine machine(simulator::machine_options{.devices = 1, .seed = 3});
  noting_api::chosen.clear();
  {
    const simulated::running_backend<noting_api> here(plx::cuda::backend_options{.measured_products = true});
    std::lock_guard lock(backend::mutex());
    auto& owner = backend::instance();
    auto& on = owner.device_at(0);
    const auto memory = plx::cuda::allocate<noting_api>(on, 3 * 256);
    std::byte* const first = plx::cuda::address_of<noting_api>(memory);
    std::vector<float> values(3 * 64, 2.f);
    const auto bytes = [&] { return reinterpret_cast<std::byte*>(values.data()); };
    on.host_copies.to_device(first, bytes(), 3 * 256, owner.threads, owner.waiting());
    plx::cuda::matrix_product p;
    p.rows = p.columns = p.depth = p.left_row = p.right_depth = 8;
    p.left = first, p.right = first + 256, p.result = first + 512;
    p.base = p.result;
    p.workspace = on.product_workspace();
    on.activate();
    plx::cuda::check(on.multiply(p));
    plx::cuda::check(on.multiply(p));
    on.host_copies.to_host(bytes(), first, 3 * 256, owner.threads, [](const auto& wait) { wait(); }, owner.waiting());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (i < 128 ? 2.f : 66.f));
    CHECK(noting_api::chosen.size() == 1);
  }
  machine.finish();
}

/// Heads of several sequences, whose matrices lie at addresses.
constexpr auto heads = [](auto q, auto k) {
  return plx::transpose(plx::tanh(plx::dot_general(q, k, {{3}, {3}, {0, 2}, {0, 2}})), {0, 2, 1, 3});
};

constexpr auto twice_multiplied = [](auto x, auto y) { return plx::dot(plx::tanh(plx::dot(x, y)), x) * 2.f; };

} // namespace

TEST_CASE("the fastest algorithm is chosen for each kind of product, once, and nothing else is written") {
  noting_api::times = {3e-6, -1, 1e-6, 2e-6, 1e-6};
  const auto chosen_are = [](int number) {
    return std::ranges::all_of(noting_api::chosen, [&](const auto& each) { return each.second == number; });
  };
  with_layers([&](const auto&... given) {
    CHECK(check_measured(gradients<decltype(relu_loss)>, given...) == 5);
    CHECK(chosen_are(2)); // the first one of those
    CHECK(check_measured(gradients<decltype(gelu_loss)>, given...) == 5);
  });
  CHECK(check_measured(descended, matrix(24, 40, 1), matrix(12, 24, 2), matrix(12, 40, 3)) == 1);
  const auto q = plx::reshape(matrix(24, 24, 4), {3, 4, 6, 8}), k = plx::reshape(matrix(24, 24, 5), {3, 4, 6, 8});
  CHECK(check_measured(heads, q, k) == 1);
  CHECK(chosen_are(2));

  check_in_place();

  noting_api::times = {-1, -1}; // the library has to say by itself what is wrong
  CHECK(check_measured(descended, matrix(24, 40, 1), matrix(12, 24, 2), matrix(12, 40, 3)) == 1);
  CHECK(chosen_are(0));
  noting_api::times = {2e-6, 1e-6}; // what is met first while it is captured is not waited for
  {
    simulator::machine machine(simulator::machine_options{.devices = 1, .seed = 3});
    noting_api::chosen.clear();
    const simulated::running_backend<noting_api> here(plx::cuda::backend_options{.measured_products = true});
    const auto call = [] { static_cast<void>(on_devices(twice_multiplied, matrix(24, 24, 4), matrix(24, 24, 5))); };
    call();
    CHECK(noting_api::chosen.size() == 1);
    noting_api::chosen.clear();
    call();
    CHECK(noting_api::chosen.empty());
  }
  noting_api::times = {};
}

TEST_CASE("where there is one algorithm it is chosen without being timed, and is not asked for again") {
  noting_api::times = {1e-6};
  simulator::machine machine(simulator::machine_options{.devices = 1, .seed = 3});
  noting_api::chosen.clear();
  noting_api::timed.clear();
  {
    const simulated::running_backend<noting_api> here(plx::cuda::backend_options{.measured_products = true});
    for (int call = 0; call < 2; ++call)
      check_close(on_devices(descended, matrix(24, 40, 1), matrix(12, 24, 2), matrix(12, 40, 3)),
                  on_host(descended, matrix(24, 40, 1), matrix(12, 24, 2), matrix(12, 40, 3)));
    CHECK(noting_api::chosen.size() == 1);
    CHECK(noting_api::timed.empty());
  }
  noting_api::times = {};
}

TEST_CASE("a device that does not come to a product in time is not measured any more, and multiplies") {
  noting_api::times = {2e-6, 1e-6};
  noting_api::comes_in_time = false;
  simulator::machine machine(simulator::machine_options{.devices = 1, .seed = 3});
  noting_api::chosen.clear();
  noting_api::timed.clear();
  {
    const simulated::running_backend<noting_api> here(plx::cuda::backend_options{.measured_products = true});
    for (const std::int64_t size : {24, 32})
      check_close(on_devices(twice_multiplied, matrix(size, size, 4), matrix(size, size, 5)),
                  on_host(twice_multiplied, matrix(size, size, 4), matrix(size, size, 5)));
    CHECK(noting_api::chosen.empty());
    CHECK(noting_api::timed.size() == 1);
  }
  machine.finish();
  noting_api::comes_in_time = true;
  noting_api::times = {};
}

} // namespace epilogues_test
