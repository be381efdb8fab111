// The text of a program's error, traced at run time.
#pragma once

#include <parallax/parallax.hpp>

#include <string>

/// The error of tracing a function on arguments like these; empty if there is none.
template <class Function, class... Arguments> std::string error_of(const Function&, const Arguments&...) {
  namespace detail = parallax::detail;
  return std::string(detail::trace_error<Function, detail::abstract_t<Arguments>...>(false).view());
}
