// checkpoint: the same derivatives, less memory, and the work that was asked for.
#include "expected.hpp"

#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace checkpoint_test {

namespace {

using namespace conformance;
using numbers = plx::array<double, 1>;
using matrix = plx::array<double, 2>;

constexpr auto layer = [](auto w, auto x) { return plx::sin(plx::dot(w, plx::cos(x))); };
constexpr auto checkpointed_layer = plx::checkpoint(layer);
constexpr auto of_products = plx::checkpoint<plx::checkpoint_policy::products>(layer);
constexpr auto of_names = plx::checkpoint<plx::checkpoint_policy::named_values>(
    [](auto w, auto x) { return plx::sin(plx::dot(w, plx::checkpoint_name(plx::cos(x)))); });
/// A network of three layers.
template <auto& Layer> struct loss_of {
  constexpr auto operator()(auto w, auto x) const { return plx::sum(Layer(w, Layer(w, Layer(w, x)))); }
};
constexpr loss_of<layer> kept{};
constexpr loss_of<checkpointed_layer> again{};
constexpr loss_of<of_products> with_products{};
constexpr loss_of<of_names> with_names{};

const matrix w{{0.5, -0.25}, {1., 0.75}};
const numbers x{0.3, -0.7};

/// How often an operation stands in the gradient's program.
template <auto& Loss> constexpr int count(std::string_view operation) {
  const std::string_view text =
      plx::expression(plx::grad(Loss, plx::argnums<0, 1>), plx::shaped<double, 2, 2>, plx::shaped<double, 2>);
  int found = 0;
  for (std::size_t at = text.find(operation); at != text.npos; at = text.find(operation, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("checkpoint: derivatives are those of the function, in both modes and of second order") {
  const auto [by_w, by_x] = plx::grad(kept, plx::argnums<0, 1>)(w, x);
  auto check = [&](const auto& gradients) {
    check_close<double>(std::get<0>(gradients), {2, 2}, by_w.to_vector(), 1e-14);
    check_close<double>(std::get<1>(gradients), {2}, by_x.to_vector(), 1e-14);
  };
  check(plx::grad(again, plx::argnums<0, 1>)(w, x));
  check(plx::grad(with_products, plx::argnums<0, 1>)(w, x));
  check(plx::grad(with_names, plx::argnums<0, 1>)(w, x));
  const auto hessian = plx::hessian(kept, plx::argnums<1>)(w, x).to_vector();
  check_close<double>(plx::hessian(again, plx::argnums<1>)(w, x), {2, 2}, hessian, 1e-13);
  check_close<double>(plx::jvp(again, std::tuple{w, x}, std::tuple{plx::none, x}).second, {},
                      {by_x.values()[0] * 0.3 - by_x.values()[1] * 0.7}, 1e-14);
  static constexpr auto in_batches = plx::vmap(plx::grad(again, plx::argnums<1>), plx::in_axes<plx::none, 0>);
  const matrix rows{{0.3, -0.7}, {0.3, -0.7}};
  std::vector<double> twice = by_x.to_vector();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 2);
  check_close<double>(in_batches(w, rows), {2, 2}, twice, 1e-14);
  check_close<double>(plx::pmap(plx::grad(again, plx::argnums<1>), plx::in_axes<plx::none, 0>)(w, rows), {2, 2}, twice,
                      1e-14);
}

TEST_CASE("checkpoint: what is not kept is computed again") {
  // three cosines forward, whose derivatives are sines; each is computed once more where it is not kept
  CHECK(count<kept>("= cos ") < count<again>("= cos "));
  CHECK(count<with_products>("= dot_general") < count<again>("= dot_general"));
  CHECK(count<with_names>("= name ") < count<again>("= cos "));
}

TEST_CASE("checkpoint in a scan: rounds keep their carries alone") {
  static constexpr auto all_kept = [](auto m, auto v) {
    auto round = [m](auto h, auto) { return std::pair{layer(m, layer(m, h)), plx::none}; };
    return plx::sum(plx::scan(round, v, plx::none, plx::length<5>).first);
  };
  static constexpr auto computed = [](auto m, auto v) {
    auto round = [m](auto h, auto) { return std::pair{checkpointed_layer(m, checkpointed_layer(m, h)), plx::none}; };
    return plx::sum(plx::scan(round, v, plx::none, plx::length<5>).first);
  };
  static constexpr auto whole = [](auto m, auto v) {
    auto round = plx::checkpoint([m](auto h, auto) { return std::pair{layer(m, layer(m, h)), plx::none}; });
    return plx::sum(plx::scan(round, v, plx::none, plx::length<5>).first);
  };
  const auto [by_w, by_x] = plx::grad(all_kept, plx::argnums<0, 1>)(w, x);
  const auto [by_w_again, by_x_again] = plx::grad(computed, plx::argnums<0, 1>)(w, x);
  check_close<double>(by_w_again, {2, 2}, by_w.to_vector(), 1e-13);
  check_close<double>(by_x_again, {2}, by_x.to_vector(), 1e-13);
  const auto [by_w_whole, by_x_whole] = plx::grad(whole, plx::argnums<0, 1>)(w, x);
  check_close<double>(by_w_whole, {2, 2}, by_w.to_vector(), 1e-13);
  check_close<double>(by_x_whole, {2}, by_x.to_vector(), 1e-13);
  // of a round, one carry is stacked and nothing else
  const std::string_view text = plx::expression(plx::grad(whole), plx::shaped<double, 2, 2>, plx::shaped<double, 2>);
  const std::string_view forward = text.substr(0, text.find(" = scan["));
  const std::string_view results = forward.substr(forward.rfind('\n') + 1);
  int stacked = 0;
  for (std::size_t at = results.find("[5,2]"); at != results.npos; at = results.find("[5,2]", at + 1)) ++stacked;
  CHECK(stacked == 1);
}

} // namespace checkpoint_test
