// hash_of, program_hash
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = [](auto x) { return 2 * x; };
constexpr auto same = [](auto y) { return 2 * y; };
constexpr auto other = [](auto x) { return 3 * x; };

int main() {
  constexpr plx::program_hash hash = plx::hash_of(f, plx::shaped<float, 3>);
  std::cout << std::boolalpha << (hash == plx::hash_of(same, plx::shaped<float, 3>)) << ' '
            << (hash == plx::hash_of(other, plx::shaped<float, 3>)) << '\n';
}
// true false
