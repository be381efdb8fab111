// expression
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = [](auto x) { return plx::sum(x * x); };
constexpr auto x = plx::shaped<float, 3>;

int main() { std::cout << plx::expression(f, x) << '\n' << plx::expression(plx::grad(f), x) << '\n'; }
// { lambda a:float32[3] . let
//     b:float32[3] = mul a a
//     c:float32[] = reduce_sum[axes=(0)] b
//   in (c,) }
// { lambda a:float32[3] . let
//     b:float32[3] = broadcast_in_dim[shape=(3)] 1.0
//     c:float32[3] = mul b a
//     d:float32[3] = add c c
//   in (d,) }
