// Cases that are loops of many small steps, and long chains of operations on a single number.
#include "case.hpp"
#include "families.hpp"
#include "support/loops_by_hand.hpp"
#include "support/matrix_chain.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

void add_matrix_chain() {
  constexpr std::int64_t steps = 1000;
  using three = plx::array<double, plx::extents<3, 3>>;
  using many = plx::array<double, plx::extents<plx::dyn, 3, 3>>;
  // near the unit matrix, so that their product neither grows nor vanishes
  auto matrices = waves<many>({steps, 3, 3}, 0);
  for (std::int64_t i = 0; i < matrices.size(); ++i)
    matrices.mutable_data()[i] = matrices.mutable_data()[i] * 0.01 + (i % 9 % 4 == 0 ? 1 : 0);
  const three first({3, 3}, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  const suite_case products("1000 products 3x3"), gradient("1000 products 3x3, gradient");
  products.add("parallax", [=] { return three(plx::jit(chain)(first, matrices)); });
  gradient.add("parallax", [=] { return many(plx::jit(chain_gradient)(first, matrices)); });
  auto by_hand = std::make_shared<matrix_chain>(matrix_chain{std::size_t{steps}});
  auto last = std::make_shared<std::array<double, 9>>();
  products.add("by hand", [=] {
    by_hand->run_only(matrices.data(), last->data());
    return std::span<const double>(*last);
  });
  gradient.add("by hand", [=] { return std::span<const double>(by_hand->gradient(matrices.data())); });
}

/// h <- tanh(W h + x[t]) for 64 steps; the derivatives of the sum of the last h by W.
void add_recurrence(std::int64_t n) {
  constexpr auto last = [](auto w, auto inputs, auto state) {
    return plx::sum(
        plx::scan([w](auto h, auto x) { return std::pair{plx::tanh(plx::matmul(w, h) + x), plx::none}; }, state, inputs)
            .first);
  };
  const suite_case gradient("recurrence of 64 steps, " + std::to_string(n) + ", gradient");
  const matrix w = plx::array<float, 2>(waves<matrix>({n, n}, 0) * 0.1f);
  const auto inputs = waves<matrix>({64, n}, 1);
  const auto state = waves<vector>({n}, 2);
  gradient.add("parallax", [=] { return matrix(plx::jit(plx::grad(last))(w, inputs, state)); });
}

/// x <- sin(x) x + 0.5, so many times.
template <int Times> constexpr auto repeat_step(auto x) {
  if constexpr (Times == 0) return x;
  else return repeat_step<Times - 1>(plx::sin(x) * x + 0.5f);
}
/// Some 100 operations of one number, and of many.
void add_scalar_gradient() {
  constexpr auto repeated = [](auto x) { return repeat_step<33>(x); };
  const suite_case one("gradient of 100 scalar operations"), many("1024 gradients of 100 scalar operations");
  const plx::array<float, 0> x = 0.3f;
  const auto xs = waves<vector>({1024}, 0);
  one.add("parallax", [=] { return plx::array<float, 0>(plx::jit(plx::grad(repeated))(x)); });
  many.add("parallax", [=] { return vector(plx::jit(plx::vmap(plx::grad(repeated)))(xs)); });
}

} // namespace

void add_loops() {
  add_matrix_chain();
  for (std::int64_t n : {16, 64}) add_recurrence(n);
  add_scalar_gradient();
}

} // namespace bench
