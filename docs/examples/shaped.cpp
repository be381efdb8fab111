// shaped
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto scaled = [](auto m, auto x) { return m * plx::sum(x); };

int main() { std::cout << plx::expression(scaled, plx::shaped<float, 2, 3>, plx::shaped<float, plx::dyn>) << '\n'; }
// { lambda a:float32[2,3] b:float32[n1_0] . let
//     c:float32[] = reduce_sum[axes=(0)] b
//     d:float32[2,3] = mul a c
//   in (d,) }
