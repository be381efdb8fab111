// optim::clip_by_global_norm
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto clip = plx::optim::clip_by_global_norm(5.);
constexpr auto clipped = [](auto gradient) { return clip.update(gradient, clip.init(gradient)).first; };

int main() {
  plx::array<float, 1> large{6, -8}, small{3, 0};
  std::cout << plx::jit(clipped)(large) << ' ' << plx::jit(clipped)(small) << '\n'; // the first one has length 10
}
// [ 3. -4.] [3. 0.]
