// precision_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr plx::precision_t fast = plx::precision::tf32; // faster on GPUs, with 11 significant bits
constexpr auto product = [](auto a, auto b) { return plx::dot(a, b, fast); };

int main() { std::cout << plx::expression(product, plx::shaped<float, 2, 3>, plx::shaped<float, 3>) << '\n'; }
// { lambda a:float32[2,3] b:float32[3] . let
//     c:float32[2] = dot_general[left_contract=(1) right_contract=(0) precision=tf32] a b
//   in (c,) }
