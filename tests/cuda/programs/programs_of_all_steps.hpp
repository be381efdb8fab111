// The backend on the machine that lives, and programs that call each of its functions.
#pragma once

#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"

#include <parallax/parallax.hpp>

namespace programs_of_all_steps {

namespace plx = parallax;

using backend = plx::cuda::backend<simulator::api>;

struct running_backend : simulated::running_backend<simulator::api> {
  using simulated::running_backend<simulator::api>::running_backend;
  plx::use_backend here{plx::backend::cuda};
};

inline constexpr auto every_sort_of_step = [](auto x, auto w) {
  auto y = plx::dot(plx::tanh(x), w);
  auto sum = plx::psum<"i">(y);
  auto all = plx::all_gather<"i">(x, 1);
  auto next = plx::ppermute<"i">(y, plx::rotate{1});
  auto first = plx::pbroadcast<"i">(y, 0);
  auto exchanged = plx::all_to_all<"i">(y, 1, 1);
  return plx::sum(sum * next) + plx::sum(all) + plx::sum(first * exchanged);
};

inline float run_every_sort_of_step() {
  const auto x = plx::array<float, 3>::filled({2, 3, 4}, 0.5f);
  const auto w = plx::array<float, 2>::filled({4, 2}, 0.25f);
  const plx::array<float, 1> result = plx::pmap<"i">(every_sort_of_step, plx::in_axes<0, plx::none>)(x, w);
  return result.values()[0] + result.values()[1];
}

// on a mesh of two by two devices: cliques that are split from that of all, and groups
inline constexpr auto several_cliques = plx::pmap<"i">([](auto rows) {
  return plx::pmap<"j">([](auto x) {
    return plx::psum<"i">(x) * plx::sum(plx::all_gather<"j">(x, 0, plx::gather_mode::tiled)) +
           plx::psum<"i", "j">(x, plx::axis_index_groups{{0, 3}, {1}, {2}});
  })(rows);
});
inline void run_several_cliques() {
  const plx::array<float, 3> result = several_cliques(plx::array<float, 3>::filled({2, 2, 1}, 2.f));
  static_cast<void>(result.values());
}

inline constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

} // namespace programs_of_all_steps
