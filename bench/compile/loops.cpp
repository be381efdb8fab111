// The gradient of a scan, and a loop that the data end.
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

using row = plx::array<float, 1>;

constexpr auto pendulum = [](auto start, auto forces) {
  auto round = [](auto state, auto force) {
    auto [angle, speed] = state;
    auto next = speed + 0.01f * (force - plx::sin(angle));
    return std::pair{std::pair{angle + 0.01f * next, next}, angle};
  };
  return plx::sum(plx::square(plx::scan(round, std::pair{start, 0 * start}, forces).second));
};
constexpr auto halvings = [](auto x) {
  return plx::while_loop([](auto v) { return plx::max(v) > 1; }, [](auto v) { return v / 2; }, x);
};

auto slopes(float start, const row& forces) { return plx::jit(plx::grad(pendulum, plx::argnums<0, 1>))(start, forces); }
auto halved(const row& x) { return plx::jit(halvings)(x); }
