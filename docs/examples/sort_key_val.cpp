// sort_key_val
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto by_key = [](auto keys, auto values) { return plx::sort_key_val(keys, values); };

int main() {
  plx::array<int, 1> keys{3, 1, 2};
  plx::array<float, 1> values{0.3f, 0.1f, 0.2f};
  auto [sorted, moved] = plx::jit(by_key)(keys, values);
  std::cout << sorted << ' ' << moved << '\n';
}
// [1 2 3] [0.1 0.2 0.3]
