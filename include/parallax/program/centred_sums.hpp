// Sums along a row whose terms depend on the row's largest element or mean, but that can be formed before this is
// known.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// The terms of a centred sum: exp(x - centre), for softmax and logsumexp, or (x - centre)^2, for a variance.
enum class centred_kind { none, exponentials, squares };

/// The terms that a reduction sums. `elements` and `centre` are the numbers of statements; the centre is one value for
/// each row.
struct centred_sum {
  centred_kind kind = centred_kind::none;
  int elements = 0, centre = 0;
};

/// Finds out whether a row kernel's reduction is a centred sum. The centre of exponentials is the largest of the
/// elements, or a constant if that is not finite. The centre of squares is the elements' mean: any multiple of their
/// sum is accepted. The distances may be computed with fewer bits than the sum has.
class centred_sum_finder {
  // templates stand before their uses: clang++ does not know their bodies there otherwise
  template <class Primitive> static constexpr bool is(const kernel_statement& s) {
    return s.kind == statement_kind::compute && s.primitive == primitives::id_of<Primitive>;
  }
  template <class Primitive> static constexpr bool reduces(const kernel_statement& s) {
    return s.kind == statement_kind::reduce_row && s.primitive == primitives::id_of<Primitive>;
  }

 public:
  constexpr explicit centred_sum_finder(plain_span<const kernel_statement> kernel) : statements(kernel) {}

  constexpr centred_sum find(int reduction) const {
    const kernel_statement& sum = at(reduction);
    if (!reduces<primitives::reduce_sum>(sum) || !is_inexact(sum.type) || is_half_precision(sum.type)) return {};
    const int summand = without_widening(sum.operands[0]);
    const kernel_statement& f = at(summand);
    int distance = -1;
    if (is<primitives::exp>(f) || (is<primitives::integer_power>(f) && f.parameter == 2) ||
        (is<primitives::multiply>(f) && f.operands[0] == f.operands[1]))
      distance = f.operands[0];
    if (distance < 0 || !is<primitives::subtract>(at(distance))) return {};
    const bool exponential = is<primitives::exp>(f);
    const int elements = at(distance).operands[0], centre = at(distance).operands[1];
    if (exponential ? !is_largest(centre, elements) : !is_mean(centre, elements)) return {};
    return {exponential ? centred_kind::exponentials : centred_kind::squares, elements, centre};
  }

 private:
  plain_span<const kernel_statement> statements;

  constexpr const kernel_statement& at(int i) const { return statements[index_of(i)]; }

  /// The statement that a value comes from, before conversions to floating types with more bits.
  constexpr int without_widening(int i) const {
    while (is<primitives::convert>(at(i)) && is_inexact(at(i).type) && is_inexact(at(at(i).operands[0]).type) &&
           size_of(at(i).type) > size_of(at(at(i).operands[0]).type))
      i = at(i).operands[0];
    return i;
  }
  /// The statement that a value comes from, before conversions to floating types and `stop_gradient`.
  constexpr int without_conversions(int i) const {
    while (is<primitives::stop_gradient>(at(i)) || (is<primitives::convert>(at(i)) && is_inexact(at(i).type)))
      i = at(i).operands[0];
    return i;
  }
  template <class Primitive> constexpr bool is_reduction_of(int i, int elements) const {
    return reduces<Primitive>(at(i)) && without_widening(at(i).operands[0]) == without_widening(elements);
  }
  constexpr bool is_largest(int i, int elements) const {
    i = without_conversions(i);
    if (const kernel_statement& choice = at(i); is<primitives::select>(choice)) {
      const kernel_statement& condition = at(choice.operands[0]);
      if (!is<primitives::is_finite>(condition) || condition.operands[0] != choice.operands[1] ||
          at(choice.operands[2]).kind != statement_kind::load_constant)
        return false;
      i = without_conversions(choice.operands[1]);
    }
    return is_reduction_of<primitives::reduce_max>(i, elements);
  }
  constexpr bool is_mean(int i, int elements) const {
    i = without_conversions(i);
    const kernel_statement& mean = at(i);
    const bool divides = is<primitives::divide>(mean), multiplies = is<primitives::multiply>(mean);
    for (int side = 0; side < (multiplies ? 2 : divides ? 1 : 0); ++side) {
      if (at(mean.operands[1 - side]).kind == statement_kind::load_constant &&
          is_reduction_of<primitives::reduce_sum>(without_conversions(mean.operands[side]), elements))
        return true;
    }
    return false;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
