// The cases of `scripts/bench` that are whole programs. Where there are several devices, those with collectives
// instead.
#include "support/loops_by_hand.hpp"
#include "support/matrix_chain.hpp"
#include "support/perceptron.hpp"
#include "support/suite_case.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

using bench::add, bench::waves, bench::vector, bench::matrix;

matrix weight(std::int64_t rows, std::int64_t columns, double phase) {
  return plx::array<float, 2>(waves<matrix>({rows, columns}, phase) * 0.05f);
}

// ---- Training -----------------------------------------------------------------------------------------

void add_perceptron() {
  const auto weights = std::tuple{weight(784, 256, 0),     waves<vector>({256}, 1), weight(256, 256, 2),
                                  waves<vector>({256}, 3), weight(256, 10, 4),      waves<vector>({10}, 5)};
  for (std::int64_t batch : {32, 256}) {
    const auto x = waves<matrix>({batch, 784}, 6);
    const matrix target = plx::softmax(waves<matrix>({batch, 10}, 7), plx::axis<1>);
    add("perceptron step " + std::to_string(batch) + "/parallax", 0,
        [=] { return matrix(std::get<0>(bench::perceptron_step(weights, x, target))); });
  }
}

constexpr auto normalised = [](auto x) {
  auto centred = x - plx::mean(x, 1, plx::keepdims);
  return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f);
};
/// One head of attention and a perceptron, each added to what it was made of.
constexpr auto block = [](auto weights, auto x) {
  auto [query, key, value, out, up, down] = weights;
  auto h = normalised(x);
  auto scores = plx::matmul(plx::matmul(h, query), plx::transpose(plx::matmul(h, key))) * 0.125f;
  auto y = x + plx::matmul(plx::matmul(plx::softmax(scores, 1), plx::matmul(h, value)), out);
  return y + plx::matmul(plx::gelu(plx::matmul(normalised(y), up)), down);
};
constexpr auto block_step = plx::jit(plx::grad([](auto w, auto x) { return plx::mean(plx::square(block(w, x))); }));

void add_transformer() {
  for (std::int64_t n : {64, 256}) { // rows, and columns
    const auto weights = std::tuple{weight(n, n, 0), weight(n, n, 1),     weight(n, n, 2),
                                    weight(n, n, 3), weight(n, 4 * n, 4), weight(4 * n, n, 5)};
    const auto x = waves<matrix>({n, n}, 6);
    add("transformer block " + std::to_string(n) + "/parallax", 0, [=] { return matrix(plx::jit(block)(weights, x)); });
    add("transformer block " + std::to_string(n) + ", gradient/parallax", 0,
        [=] { return matrix(std::get<0>(block_step(weights, x))); });
  }
}

// ---- Loops --------------------------------------------------------------------------------------------

void add_loops() {
  constexpr std::int64_t steps = 1000;
  using three = plx::array<double, plx::extents<3, 3>>;
  using many = plx::array<double, plx::extents<plx::dyn, 3, 3>>;
  // near the unit matrix, so that their product neither grows nor vanishes
  auto matrices = waves<many>({steps, 3, 3}, 0);
  for (std::int64_t i = 0; i < matrices.size(); ++i)
    matrices.mutable_data()[i] = matrices.mutable_data()[i] * 0.01 + (i % 9 % 4 == 0 ? 1 : 0);
  const three first({3, 3}, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  add("1000 products 3x3/parallax", 0, [=] { return three(plx::jit(bench::chain)(first, matrices)); });
  add("1000 products 3x3, gradient/parallax", 0,
      [=] { return many(plx::jit(bench::chain_gradient)(first, matrices)); });
  auto by_hand = std::make_shared<bench::matrix_chain>(bench::matrix_chain{std::size_t{steps}});
  auto last = std::make_shared<std::array<double, 9>>();
  add("1000 products 3x3/by hand", 0, [=] {
    by_hand->run_only(matrices.data(), last->data());
    return std::span<const double>(*last);
  });
  add("1000 products 3x3, gradient/by hand", 0,
      [=] { return std::span<const double>(by_hand->gradient(matrices.data())); });
}

void add_calls() {
  const plx::array<float, 0> one = 1.f;
  add("x + 1/parallax", 0, [=] { return plx::array<float, 0>(plx::jit([](auto a) { return a + 1.f; })(one)); });
  const plx::array key = plx::random::key(0);
  add("normal 2^22/parallax", 4. * (1 << 22),
      [=] { return vector(plx::jit([](auto k) { return plx::random::normal(k, {1 << 22}); })(key)); });
}

// ---- Devices ------------------------------------------------------------------------------------------

void add_devices() {
  constexpr auto spread_out = plx::pmap([](auto x) { return x * 1.f; });
  const auto two = spread_out(waves<matrix>({2, 16}, 0));
  add("pmap x + 1, 2 devices/parallax", 0, [=] { return plx::pmap([](auto x) { return x + 1.f; })(two); });
  constexpr auto sum = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });
  for (auto [size, name] :
       {std::pair{std::int64_t{1}, "4 B"}, {std::int64_t{1} << 10, "4 KB"}, {std::int64_t{1} << 20, "4 MB"}}) {
    const auto spread = spread_out(waves<matrix>({8, size}, 0));
    add(std::string("psum of ") + name + ", 8 devices/parallax", 0, [=] { return sum(spread); });
  }
}

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (plx::device_count() >= 8) {
    add_devices();
  } else {
    add_perceptron();
    add_transformer();
    add_loops();
    add_calls();
  }
  benchmark::RunSpecifiedBenchmarks();
}
