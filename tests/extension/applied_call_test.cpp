// A new member of the family of calls works under every transformation, and in any nesting with pmap.
#include "extension/applied_call.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <tuple>

namespace plx = parallax;

namespace {

constexpr auto step = [](auto x) { return plx::sin(x) * 1.5f; };
constexpr auto thrice = [](auto x) { return applied<3>(step, x); };
constexpr auto total = [](auto x) { return plx::sum(thrice(x)); };

double expected(double x) {
  for (int time = 0; time < 3; ++time) x = std::sin(x) * 1.5;
  return x;
}
double slope(double x) {
  double factor = 1;
  for (int time = 0; time < 3; ++time) {
    factor *= 1.5 * std::cos(x);
    x = std::sin(x) * 1.5;
  }
  return factor;
}

void check(const plx::array<float, 2>& found, const std::vector<float>& at, double (*f)(double)) {
  const std::vector<float> values = found.to_vector();
  REQUIRE(values.size() == at.size());
  for (std::size_t i = 0; i < at.size(); ++i) CHECK(values[i] == Approx(f(static_cast<double>(at[i]))).margin(1e-6));
}

const plx::array<float, 2> x{{0.1f, 0.2f, 0.3f}, {-0.4f, 0.5f, 1.6f}};

static_assert(plx::expression(thrice, plx::shaped<float, 4>) ==
              R"({ lambda a:float32[4] . let
    b:float32[4] = applied[times=3 body={ lambda a:float32[4] . let
        b:float32[4] = sin a
        c:float32[4] = mul b 1.5
      in (c,) }] a
  in (b,) })");

} // namespace

TEST_CASE("a new call has values, gradients and second derivatives") {
  check(plx::jit(thrice)(x), x.to_vector(), expected);
  check(plx::jit(plx::grad(total))(x), x.to_vector(), slope);
  constexpr auto steepness = plx::grad([](auto v) { return plx::sum(plx::grad(total)(v)); });
  check(plx::jit(steepness)(x), x.to_vector(), [](double at) {
    constexpr double h = 1e-5;
    return (slope(at + h) - slope(at - h)) / (2 * h);
  });
}

TEST_CASE("a new call has forward mode, and pullbacks") {
  const plx::array<float, 2> ones{{1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}};
  check(plx::jvp(thrice, std::tuple{x}, std::tuple{ones}).second, x.to_vector(), slope);
  check(std::get<0>(plx::vjp(thrice, x).second(ones)), x.to_vector(), slope);
  check(plx::linearize(thrice, x).second(ones), x.to_vector(), slope);
  check(plx::jvp(plx::vmap(thrice), std::tuple{x}, std::tuple{ones}).second, x.to_vector(), slope);
}

TEST_CASE("a new call is batched, alone and with its gradient") {
  check(plx::vmap(thrice)(x), x.to_vector(), expected);
  check(plx::jit(plx::vmap(plx::grad(total)))(x), x.to_vector(), slope);
}

TEST_CASE("a new call runs inside of pmap, differentiated inside and outside") {
  check(plx::pmap(thrice)(x).gather(), x.to_vector(), expected);
  check(plx::pmap(plx::grad(total))(x).gather(), x.to_vector(), slope);
  check(plx::jit(plx::grad([](auto v) { return plx::sum(plx::pmap(thrice)(v)); }))(x), x.to_vector(), slope);
}
