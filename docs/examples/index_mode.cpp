// index_mode, index_mode_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

template <plx::index_mode Mode>
constexpr auto taken = [](auto x, auto i) { return plx::take(x, i, 0, plx::index_mode_t<Mode>{}); };

int main() {
  plx::array<float, 1> x{10, 20, 30};
  plx::array<int, 1> i{0, -1, 4};                                       // the last one is not there
  std::cout << plx::jit(taken<plx::index_mode::clipped>)(x, i) << '\n'; // plx::mode::clip for short
  std::cout << plx::jit(taken<plx::index_mode::wrapped>)(x, i) << '\n';
  std::cout << plx::jit(taken<plx::index_mode::filled>)(x, i) << '\n';
}
// [10. 30. 30.]
// [10. 30. 20.]
// [10. 30. nan]
