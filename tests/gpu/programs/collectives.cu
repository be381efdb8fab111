// Programs on several CUDA devices as on as many of the host: collectives, nested maps, results that stay in place.
#include "same_as_host.hpp"

#include <cstdint>
#include <tuple>

namespace gpu {
namespace {

constexpr auto reduced = plx::pmap<"i">(
    [](auto x) { return std::tuple{plx::psum<"i">(x), plx::pmean<"i">(x), plx::pmax<"i">(x), plx::pmin<"i">(x)}; });
constexpr auto exchanged = plx::pmap<"i">([](auto x) {
  return std::tuple{plx::all_gather<"i">(x), plx::all_gather<"i">(x, -1),
                    plx::all_gather<"i">(x, 0, plx::gather_mode::tiled), plx::ppermute<"i">(x, plx::rotate{1}),
                    plx::ppermute<"i">(x, plx::shift{-1})};
});
constexpr auto scattered = plx::pmap<"i">([](auto x) {
  return std::tuple{plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled),
                    plx::psum_scatter<"i">(x, 1, plx::gather_mode::tiled)};
});
constexpr auto numbered =
    plx::pmap<"i">([](auto x) { return x * plx::astype<float>(plx::axis_index<"i">() + plx::axis_size<"i">()); });
constexpr auto normalised = plx::pmap<"i">([](auto x) { return plx::exp(x) / plx::psum<"i">(plx::sum(plx::exp(x))); });
constexpr auto nested = plx::pmap<"i">([](auto row) {
  return plx::pmap<"j">(
      [](auto x) { return std::tuple{x / plx::psum<"i">(x), x / plx::psum<"j">(x), x / plx::psum<"i", "j">(x)}; })(row);
});
constexpr auto many = plx::pmap<"i">(plx::vmap([](auto x) { return plx::tanh(x) - plx::pmean<"i">(x); }));
constexpr auto again = [](const auto& x) {
  auto first = reduced(x);               // stays on its devices
  return normalised(std::get<2>(first)); // is used there, and then as one array
};

void check_reductions() {
  for (std::int64_t n : {1, 7, 1000}) {
    same_as_host("float", 1e-6, reduced, samples<float, 2>({spread(), n}));
    same_as_host("double", 1e-14, reduced, samples<double, 2>({spread(), n}));
  }
}
void check_exchanges() {
  const std::int64_t devices = spread();
  same_as_host("float", 0, exchanged, samples<float, 3>({devices, 3, 5}));
  same_as_host("int32", 0, exchanged, samples<std::int32_t, 3>({devices, 4, 1}, 100));
  same_as_host("uint8", 0, exchanged, samples<std::uint8_t, 3>({devices, 2, 9}, 255));
  same_as_host("scattered", 1e-6, scattered, samples<float, 3>({devices, 4 * devices, 8}));
}
void check_programs() {
  const std::int64_t devices = spread();
  same_as_host("numbered", 0, numbered, samples<float, 2>({devices, 9}));
  same_as_host("normalised", 1e-6, normalised, samples<float, 2>({devices, 50}));
  same_as_host("vmap in pmap", 1e-6, many, samples<float, 3>({devices, 6, 11}));
  same_as_host("results in place", 1e-6, again, samples<float, 2>({devices, 20}));
  if (devices == 4) same_as_host("nested", 2e-6, nested, samples<float, 3>({2, 2, 5}, 2, 3));
}

/// Where collectives are copies, and part of CUDA graphs.
void check_one_device() {
  same_as_host("reduced", 0, reduced, samples<float, 2>({1, 300}));
  same_as_host("exchanged", 0, exchanged, samples<float, 3>({1, 3, 5}));
  same_as_host("scattered", 0, scattered, samples<float, 3>({1, 4, 8}));
  same_as_host("normalised", 1e-6, normalised, samples<float, 2>({1, 50}));
}

constexpr check all[] = {{"programs: collectives that reduce", check_reductions},
                         {"programs: collectives that exchange", check_exchanges},
                         {"programs: collectives on one device", check_one_device},
                         {"programs: on several devices", check_programs}};

} // namespace

std::span<const check> collective_programs() { return all; }

} // namespace gpu
