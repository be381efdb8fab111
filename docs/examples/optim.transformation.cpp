// optim::transformation
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>
#include <utility>

namespace plx = parallax;

// updates without their mean, a transformation of one's own
struct centralize : plx::optim::transformation<centralize> {
  static constexpr auto state_of(auto&, const auto&) { return std::tuple<>{}; }
  constexpr auto step(const auto& updates, std::tuple<>, const auto&) const {
    auto centred = plx::tree_map([](auto u) { return u - plx::mean(u); }, updates);
    return std::pair{centred, std::tuple<>{}};
  }
};
constexpr auto optimiser = plx::optim::chain(centralize{}, plx::optim::sgd(0.5));
constexpr auto first = [](auto gradient) { return optimiser.update(gradient, optimiser.init(gradient)).first; };

int main() {
  plx::array<float, 1> gradient{1, 2, 6};
  std::cout << plx::jit(first)(gradient) << '\n';
}
// [ 1.   0.5 -1.5]
