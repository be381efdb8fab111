// Which algorithm of the library a product is made by, where they are measured.
#include "cuda/programs/noted_products.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace product_algorithms_test {

namespace plx = parallax;
using namespace noted_products;

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

} // namespace product_algorithms_test
