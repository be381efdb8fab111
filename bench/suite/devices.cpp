// Cases with several devices: what a call of them costs, and collectives.
#include "case.hpp"
#include "families.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace bench {

void add_devices() {
  constexpr auto spread_out = plx::pmap([](auto x) { return x * 1.f; });
  constexpr auto sum = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });
  for (std::int64_t devices : {2, 8}) {
    const std::string count = ", " + std::to_string(devices) + " devices";
    const auto few = spread_out(waves<matrix>({devices, 16}, 0));
    suite_case("pmap x + 1" + count).add("parallax", [=] { return plx::pmap([](auto x) { return x + 1.f; })(few); });
    for (auto [size, name] :
         {std::pair{std::int64_t{1}, "4 B"}, {std::int64_t{1} << 10, "4 KB"}, {std::int64_t{1} << 20, "4 MB"}}) {
      const auto spread = spread_out(waves<matrix>({devices, size}, 0));
      suite_case(std::string("psum of ") + name + count).add("parallax", [=] { return sum(spread); });
    }
  }
}

} // namespace bench
