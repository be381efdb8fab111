// The precision of a product, as an argument: it stays with the product through transformations.
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <string_view>
#include <tuple>

namespace precision_test {

namespace {

namespace plx = parallax;

constexpr auto vector = plx::shaped<float, 3>;
constexpr auto matrix = plx::shaped<float, 4, 3>;
constexpr auto batch = plx::shaped<float, 5, 3>;

constexpr auto fast = [](auto w, auto x) { return plx::dot(w, x, plx::precision::tf32); };
constexpr auto exact = [](auto w, auto x) { return plx::dot(w, x, plx::precision::highest); };
constexpr auto fast_loss = [](auto w, auto x) { return plx::sum(plx::sin(fast(w, x))); };

constexpr int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

static_assert(count(plx::expression(fast, matrix, vector), "precision=tf32") == 1);
static_assert(plx::expression(exact, matrix, vector) ==
              plx::expression([](auto w, auto x) { return plx::dot(w, x); }, matrix, vector));

// one product, of the whole batch
constexpr std::string_view mapped = plx::expression(plx::vmap(fast, plx::in_axes<plx::none, 0>), matrix, batch);
static_assert(count(mapped, "dot_general") == 1 && count(mapped, "precision=tf32") == 1);

// the product, and those of both derivatives
constexpr std::string_view gradient = plx::expression(plx::grad(fast_loss, plx::argnums<0, 1>), matrix, vector);
static_assert(count(gradient, "dot_general") == 3 && count(gradient, "precision=tf32") == 3);

constexpr auto all = [](auto a, auto b) {
  return std::tuple{plx::dot(a, b, plx::precision::tf32), plx::matmul(a, b, plx::precision::tf32),
                    plx::vdot(a, b, plx::precision::tf32), plx::outer(a, b, plx::precision::tf32),
                    plx::dot_general(a, b, {{1}, {0}}, plx::precision::tf32)};
};
constexpr auto square = plx::shaped<float, 3, 3>;
// three of them are the same operation
static_assert(count(plx::expression(all, square, square), "dot_general") == 3);
static_assert(count(plx::expression(all, square, square), "precision=tf32") == 3);

} // namespace

TEST_CASE("on the host both precisions are float32's") {
  const plx::array<float, 2> a{{0.1, 0.2, 0.3}, {1, 1e-3, 1e3}};
  const plx::array<float, 1> b{1.0 / 3, 7, 1e-3};
  const plx::use_backend here(plx::backend::host);
  CHECK(plx::array(plx::dot(a, b, plx::precision::tf32)).to_vector() == plx::array(plx::dot(a, b)).to_vector());
  CHECK(plx::jit(fast)(a, b).to_vector() == plx::jit(exact)(a, b).to_vector());
  CHECK(plx::jit([](auto x, auto y) { return plx::dot_general(x, y, {{1}, {0}}, plx::precision::tf32); })(a, b)
            .to_vector() == plx::jit(exact)(a, b).to_vector());
}

} // namespace precision_test
