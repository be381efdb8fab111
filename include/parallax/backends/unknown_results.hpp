// What stands for the results of a program with an error.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/compile/program_error.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/maps/pmap.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Stands for the results of a program with an error, which nvcc's front end does not report: they have the types of
/// the results, as far as these are known, so that the rest of the file gives no errors before the host compiler's.
template <class Array> Array unknown_result();
template <class Function, class... Trees> struct unknown_leaf {
  static constexpr auto kinds = trace_results<Function, Trees...>();
  template <class, int Number> auto operator()() const {
    constexpr value_kind kind = kinds[index_of(Number)];
    if constexpr (is_pmapped<Function>) return unknown_result<sharded<element_t<kind.type>, kind.rank>>();
    else return unknown_result<array<element_t<kind.type>, kind.rank>>();
  }
};
template <class Function, class... Trees> auto unknown_results() {
  unknown_leaf<Function, Trees...> leaf;
  return tree_build<program_result<Function, Trees...>>(leaf);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
