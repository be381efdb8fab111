// Products that do the work of the loops behind them: what is called, and that results are the host's.
#include "cuda/programs/noted_products.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <tuple>

namespace epilogues_test {

namespace plx = parallax;
using namespace noted_products;

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

TEST_CASE("gradients of layers with gelu are epilogues of products") {
  with_layers([](const auto&... given) {
    check({"product bias gelu auxiliary", "product", "loop", "loop", "loop", "loop",
           "product gelu gradient auxiliary sums", "product sums of right", "product"},
          gradients<decltype(gelu_loss)>, given...);
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

} // namespace epilogues_test
