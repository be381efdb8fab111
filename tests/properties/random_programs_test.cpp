// Drawn programs, with loops inside vmap inside grad inside pmap and in all other orders, give what a plain interpreter
// of them gives.
#include "support/interpreter/test_drawn.hpp"

namespace random_programs_test {

using namespace properties;

TEST_CASE("drawn programs compute what they say") {
  auto on_host = [](traced_program& traced, const std::vector<program_argument>& arguments, int calls,
                    const auto& compare) {
    for (int call = 0; call < calls; ++call)
      compare(call, traced.run(arguments, [](auto&& values) {
        return plx::host::run<program_of_the_moment>(std::forward<decltype(values)>(values));
      }));
  };
#ifdef __OPTIMIZE__
  constexpr std::uint64_t programs = 2000;
#else
  constexpr std::uint64_t programs = 100;
#endif
  drawn_test(2, on_host).try_programs(programs);
}

} // namespace random_programs_test
