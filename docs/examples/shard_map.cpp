// shard_map, shard_mapped
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto grid = plx::mesh<plx::device_axis("i", 4)>;
// each device has two columns of the matrix and two elements of the vector
constexpr auto product =
    plx::shard_map([](auto m, auto v) { return plx::psum<"i">(plx::dot(m, v)); }, grid,
                   plx::in_specs<plx::spec<plx::none, "i">, plx::spec<"i">>, plx::out_specs<plx::spec<>>);

int main() {
  plx::array<float, 2> m{{1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0, 0, 0, 0, 0, 2}};
  plx::array<float, 1> v{1, 2, 3, 4, 5, 6, 7, 8};
  std::cout << product(m, v) << '\n';
}
// [36. 17.]
