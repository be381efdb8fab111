// Lists of flags, by what they are flags of: those of a call's operands cannot be taken for those of its results.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// One flag, 1 or 0, for each of several subjects, in their order. The elements are characters, since
/// growing_vector<bool> is no constant everywhere.
template <class Subject> struct flags_of : growing_vector<char> {
  using growing_vector<char>::growing_vector;

  constexpr bool any() const {
    for (std::size_t k = 0; k < count; ++k)
      if (first[k] != 0) return true;
    return false;
  }
  /// The numbers of the subjects whose flag is 1.
  constexpr growing_vector<int> numbers() const {
    growing_vector<int> found;
    for (std::size_t k = 0; k < count; ++k)
      if (first[k] != 0) found.push_back(static_cast<int>(k));
    return found;
  }
};

struct operand_subject;
struct result_subject;

/// One flag for each operand of an operation; those of a call are the inputs of the graph that is its body.
using operand_flags = flags_of<operand_subject>;
/// One flag for each result of a call, which are the outputs of the graph that is its body.
using result_flags = flags_of<result_subject>;

/// A body's results as its next operands.
constexpr operand_flags as_operands(const result_flags& results) { return {results.begin(), results.end()}; }

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
