// A collective that misspells how values are combined.
// error: a primitive of the catalogue lacks a rule, or misspells one: see .concept primitive.
// line: static_cast<void>\(plx::detail::make_rules<misspelt>\(\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct spelt : plx::primitives::collective {
  static constexpr std::string_view name = "spelt";
  static constexpr plx::detail::exchange_kind exchange = plx::detail::exchange_kind::all_reduce;
  static constexpr plx::detail::reduction_kind reduction = plx::detail::reduction_kind::max;
  static constexpr plx::detail::no_rule batch{"a test"}, vjp{"a test"};
};
struct misspelt : plx::primitives::collective {
  static constexpr std::string_view name = "misspelt";
  static constexpr plx::detail::exchange_kind exchange = plx::detail::exchange_kind::all_reduce;
  static constexpr plx::detail::reduction_kind reductoin = plx::detail::reduction_kind::max;
  static constexpr plx::detail::no_rule batch{"a test"}, vjp{"a test"};
};

int main() {
#ifdef PARALLAX_EXPECT_ERROR
  static_cast<void>(plx::detail::make_rules<misspelt>());
#else
  static_cast<void>(plx::detail::make_rules<spelt>());
#endif
}
