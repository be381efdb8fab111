// Plans as text.
#include "compile/lowered.hpp"
#include "support/test.hpp"

#include <parallax/compile/print_plan.hpp>

#include <string_view>

namespace print_plan_test {

namespace {

namespace plx = parallax;

template <class... Arguments> constexpr auto printed(const auto& function, const Arguments&... given) {
  plx::detail::text_buffer<2048> text;
  plx::detail::print_plan(text, lowered::program(function, given...));
  return text;
}

} // namespace

TEST_CASE("a plan is printed by what its records list") {
  constexpr auto scaled_sum = [](auto x, auto y) { return plx::sum(x * 2 + plx::transpose(y), 0); };
  static constexpr auto text = printed(scaled_sum, plx::shaped<float, 4, 3>, plx::shaped<float, 3, 4>);
  CHECK(text.view() == R"(section 0
  kernel (0 (1) [4 3] [(2 0 [0 1]) (0 0 [3 1]) (1 0 [1 4])] [(0 float32 4611686018427387904 0 -1)])
kernel 0
  (load_vector float32 none 0 1 [])
  (load_constant float32 none 0 0 [])
  (compute float32 mul 0 0 [0 1])
  (load_strided float32 none 0 2 [])
  (compute float32 add 0 0 [2 3])
)");
}
TEST_CASE("exchanges and mapped sections are printed by their names") {
  constexpr auto total = [](auto x) { return plx::psum<"i">(x); };
  static constexpr auto text = printed(plx::pmap<"i">(total), plx::shaped<float, 8, 3>);
  CHECK(text.view() == R"(section 0
  mapped_section (1 [(0 [(0 0 1)])] [1] [])
section 1
  exchange (all_reduce 1 0 (1) 0 1 1 [] pairs 0 [] [] 0 0)
)");
}
TEST_CASE("a finished plan prints as it did while it was made") {
  constexpr auto softmax = [](auto x) { return plx::softmax(x); };
  using argument = plx::detail::abstract_array<float, plx::extents_t<-1, -1>, false>;
  static constexpr auto made = printed(softmax, argument{});
  plx::detail::text_buffer<2048> done;
  plx::detail::print_plan(done, plx::detail::program<decltype(softmax), argument>::plan);
  CHECK(done.view() == made.view());
  CHECK(done.view().find("extent ") != std::string_view::npos);
}

} // namespace print_plan_test
