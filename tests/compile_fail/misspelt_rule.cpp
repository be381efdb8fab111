// A primitive with a misspelt rule.
// error: a primitive of the catalogue lacks a rule, or misspells one: see .concept primitive.
// line: static_cast<void>\(plx::detail::make_rules<misspelt>\(\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct spelt : plx::primitives::elementwise {
  static constexpr std::string_view name = "spelt";
  static constexpr void vjp(plx::detail::vjp_application&) {}
  template <class V> static V evaluate(V x) { return x; }
};
struct misspelt : plx::primitives::elementwise {
  static constexpr std::string_view name = "misspelt";
  static constexpr void vpj(plx::detail::vjp_application&) {}
  template <class V> static V evaluate(V x) { return x; }
};

int main() {

#ifdef PARALLAX_EXPECT_ERROR
  static_cast<void>(plx::detail::make_rules<misspelt>());
#else
  static_cast<void>(plx::detail::make_rules<spelt>());
#endif
}
