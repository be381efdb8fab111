// Which products take on the loops behind them, and that extents which the guards make equal are one.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <tuple>

namespace epilogues_test {

namespace plx = parallax;
using plx::compiled::step_kind, plx::shaped;

namespace {

/// The steps of the main section; loops that are parts of an epilogue apart.
struct facts {
  int epilogues = 0, parts = 0, products = 0, loops = 0, accumulations = 0, placed = 0;
  friend constexpr bool operator==(const facts&, const facts&) = default;
};
template <class Function, class... Arguments> constexpr facts lower(const Function&, const Arguments&...) {
  facts result;
  const auto plan = lowered::program(Function{}, Arguments{}...);
  for (const auto& step : plan[lowered::main_section(plan).steps]) {
    if (step.kind == step_kind::epilogue) {
      ++result.epilogues;
      result.parts += plan.template at<plx::compiled::epilogue_step>(step.index).parts.count;
    }
    result.products += step.kind == step_kind::product;
    result.loops += step.kind == step_kind::kernel;
    result.accumulations += step.kind == step_kind::accumulation;
    result.placed += step.kind == step_kind::placed_product;
  }
  return result;
}

template <class T, int Rank> using dynamic = plx::detail::abstract_array<T, plx::detail::extents_of<Rank>, false>;

constexpr auto layer = [](auto x, auto w, auto b) { return plx::relu(plx::dot(x, w) + b); };
constexpr facts one_call{.epilogues = 1, .parts = 2}, two_steps{.products = 1, .loops = 1};

static_assert(lower(layer, shaped<float, 8, 16>, shaped<float, 16, 24>, shaped<float, 24>) == one_call);
static_assert(lower(layer, shaped<plx::float16, 8, 16>, shaped<plx::float16, 16, 24>, shaped<plx::float16, 24>) ==
              one_call);
static_assert(lower(layer, dynamic<float, 2>{}, dynamic<float, 2>{}, dynamic<float, 1>{}) == one_call);
static_assert(lower(layer, dynamic<plx::bfloat16, 3>{}, dynamic<plx::bfloat16, 2>{}, dynamic<plx::bfloat16, 1>{}) ==
              one_call);
// libraries have no epilogues for doubles, nor for several matrices
static_assert(lower(layer, shaped<double, 8, 16>, shaped<double, 16, 24>, shaped<double, 24>) == two_steps);
static_assert(lower(plx::vmap(layer), shaped<float, 5, 8, 16>, shaped<float, 5, 16, 24>, shaped<float, 5, 24>) ==
              two_steps);
// a bias for each row, or of one number
static_assert(lower([](auto x, auto w, auto b) { return plx::dot(x, w) + plx::expand_dims(b, 1); },
                    shaped<float, 8, 16>, shaped<float, 16, 24>, shaped<float, 8>) == two_steps);
static_assert(lower([](auto x, auto w) { return plx::dot(x, w) + 1.f; }, shaped<float, 8, 16>, shaped<float, 16, 24>) ==
              two_steps);
// a part of the product; what reads the product twice; the product as its own bias
static_assert(lower([](auto x, auto w) { return plx::relu(plx::index_in_dim(plx::dot(x, w), 0)); },
                    shaped<float, 8, 16>, shaped<float, 16, 24>) == two_steps);
static_assert(lower([](auto x, auto w, auto b) { return plx::relu(plx::slice_in_dim(plx::dot(x, w), 0, 2) + b); },
                    shaped<float, 8, 16>, shaped<float, 16, 24>, shaped<float, 24>) == two_steps);
static_assert(lower(
                  [](auto x, auto w) {
                    auto y = plx::dot(x, w);
                    return y + plx::slice_in_dim(y, 0, 1);
                  },
                  shaped<float, 8, 16>, shaped<float, 16, 24>) == two_steps);
// rows that look at the batch: every example's layer is one product
static_assert(lower(plx::vmap(layer, plx::in_axes<0, plx::none, plx::none>), shaped<float, 5, 16>,
                    shaped<float, 16, 24>, shaped<float, 24>) == one_call);
static_assert(lower(plx::vmap([](auto x, auto w, auto b) { return plx::gelu(plx::dot(w, x) + b); },
                              plx::in_axes<0, plx::none, plx::none>),
                    shaped<float, 5, 16>, shaped<float, 24, 16>, shaped<float, 24>) == one_call);

// what a product is added to lies in memory, though it is so cheap that other loops would compute it again
constexpr auto added_to = [](auto x, auto w, auto y) {
  auto base = plx::maximum(y * 2.f, 0.f);
  return std::tuple{0.5f * plx::dot(x, w) + base, plx::sum(plx::sin(base), 0), plx::sum(base, 1)};
};
static_assert(lower(added_to, shaped<float, 8, 16>, shaped<float, 16, 24>, shaped<float, 8, 24>).accumulations == 1);

// matrices of a batch that lie beside one another in rows
static_assert(lower([](auto x, auto w) { return plx::moveaxis(plx::matmul(x, w), 0, 1); }, shaped<float, 4, 8, 16>,
                    shaped<float, 4, 16, 24>) == facts{.placed = 1});

constexpr auto loss = [](auto w, auto b, auto v, auto x) { return plx::sum(plx::square(plx::dot(layer(x, w, b), v))); };
constexpr auto slopes = plx::grad(loss, plx::argnums<0, 1>);
// the forward product is called for its signs; what comes back is multiplied by them, and summed over rows
constexpr facts gradients =
    lower(slopes, dynamic<float, 2>{}, dynamic<float, 1>{}, dynamic<float, 2>{}, dynamic<float, 2>{});
static_assert(gradients == facts{.epilogues = 2, .parts = 5, .products = 2, .loops = 1});

// the signs of a relu that is a part of an array are not those of the array
constexpr facts of_a_part = lower(
    [](auto x, auto w, auto b, auto z, auto g, auto v) {
      auto y = plx::concatenate({layer(x, w, b), z}, 0);
      return std::pair(y, plx::where(y > 0.f, plx::dot(g, v), 0.f));
    },
    shaped<float, 8, 16>, shaped<float, 16, 24>, shaped<float, 24>, shaped<float, 100, 24>, shaped<float, 108, 5>,
    shaped<float, 5, 24>);
static_assert(of_a_part.epilogues <= 1 && of_a_part.products >= 1);

// a symbol that is as large as a product of others keeps its name
constexpr facts of_reshaped = lower(
    [](auto x, auto y) {
      auto z = x + plx::reshape(y, {x.shape(0)});
      return plx::expand_dims(z, 1) * z;
    },
    dynamic<float, 1>{}, dynamic<float, 5>{});
static_assert(of_reshaped.loops > 0);

// a gradient is of its argument's shape, which is the same for other reasons: nothing is copied for that
constexpr auto quadratic = [](auto a, auto x) { return plx::sum(plx::square(plx::dot(a, x))); };
static_assert(lower(plx::grad(quadratic), dynamic<float, 2>{}, dynamic<float, 1>{}).loops ==
              lower(plx::grad(quadratic), shaped<float, 8, 16>, shaped<float, 16>).loops);
static_assert(lower(plx::grad(quadratic, plx::argnums<1>), dynamic<float, 2>{}, dynamic<float, 1>{}).loops == 1);

// extents that are equal to a number, and to one another by way of a third
constexpr auto sums = [](auto x, auto y, auto z) { return (x + y) + (y + z); };
constexpr auto one_shape = [](auto x, auto y, auto z) {
  const auto plan = lowered::program(sums, x, y, z);
  const auto buffers = plan[lowered::main_section(plan).buffers];
  bool same = true;
  for (const auto& buffer : buffers) same = same && buffer.count == buffers[0].count;
  return same;
};
static_assert(one_shape(dynamic<float, 1>{}, dynamic<float, 1>{}, dynamic<float, 1>{}));
static_assert(one_shape(dynamic<float, 1>{}, dynamic<float, 1>{}, shaped<float, 64>));
static_assert(one_shape(shaped<float, 64>, dynamic<float, 1>{}, dynamic<float, 1>{}));

} // namespace

TEST_CASE("extents that the guards make equal are still checked at the call") {
  constexpr auto f = plx::jit(sums);
  const plx::array<float, 1> three{1, 2, 3}, four{1, 2, 3, 4};
  CHECK(f(three, three, three).to_vector() == std::vector<float>{4, 8, 12});
  CHECK_THROWS_AS(f(three, three, four), plx::error);
  CHECK_THROWS_AS(f(three, four, four), plx::error);
}

} // namespace epilogues_test
