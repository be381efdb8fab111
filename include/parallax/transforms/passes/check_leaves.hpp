// Checks of the types and shapes that users' functions return.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/replay.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The number of the first value with another type or rank than expected; -1 if there is none. Extents of the values
/// before it are unified, which fails with `remedy`.
constexpr int first_unlike(context& trace, std::string_view name, std::string_view remedy,
                           const growing_vector<tracer>& found, const growing_vector<abstract_value>& expected) {
  for (std::size_t k = 0; k < expected.size() && !trace.failed; ++k) {
    const abstract_value value = found[k].value();
    if (value.type != expected[k].type || value.rank() != expected[k].rank()) return static_cast<int>(k);
    for (int i = 0; i < value.rank(); ++i)
      unify(trace, name, expected[k].shape[i], value.shape[i], expected[k], value, remedy);
  }
  return -1;
}

/// Checks, leaf by leaf, the types and shapes of the values that a rule returns.
constexpr bool check_alike(context& trace, std::string_view name, std::string_view what,
                           const growing_vector<tracer>& found, const growing_vector<abstract_value>& expected) {
  const int k = first_unlike(trace, name, "let the rule return what it stands for", found, expected);
  if (k < 0) return !trace.failed;
  message text;
  text << name << ": the rule returns ";
  print_value(text, trace.extents, found[index_of(k)].value());
  text << " as " << what << ' ' << k << ", which is to be ";
  print_value(text, trace.extents, expected[index_of(k)]);
  trace.fail(text << "; let it return that type and shape");
  return false;
}

/// Checks that a function returns a vector like the system's.
constexpr bool check_same_leaves(context& trace, std::string_view name, std::string_view what,
                                 const growing_vector<tracer>& found, const growing_vector<tracer>& vector) {
  const growing_vector<abstract_value> expected = vector_of(vector, [](const tracer& x) { return x.value(); });
  const int k = first_unlike(trace, name, "let it return a vector of the system", found, expected);
  if (k < 0) return !trace.failed;
  message text;
  text << name << ": " << what << " returns ";
  print_value(text, trace.extents, found[index_of(k)].value());
  text << " where the vector is ";
  print_value(text, trace.extents, expected[index_of(k)]);
  trace.fail(text << "; let it return the same type and shape");
  return false;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
