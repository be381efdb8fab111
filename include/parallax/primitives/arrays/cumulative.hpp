// Cumulative operations: along one axis, every element is combined with those before it, or with those behind it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/assembly.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// A member combines the preceding elements' result and an element by `evaluate(before, element)`; `neutral<T>()` is
/// the result before the first element.
struct cumulative {
  static constexpr primitive_kind kind = primitive_kind::cumulative;
  struct parameters {
    int axis = 0;
    bool reverse = false; ///< from the last element to the first
    static constexpr void describe(auto& p, auto& member) {
      member("axis", p.axis);
      member("reverse", p.reverse);
    }
  };

  static constexpr abstract_value shape(const shape_application& a, const parameters&) {
    abstract_value result = a.operands[0];
    result.weak = false;
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const int mapped = a.operands[0].axis;
    return {a.with(a.operands[0].value, parameters{p.axis >= mapped ? p.axis + 1 : p.axis, p.reverse}), mapped};
  }

 protected:
  /// `later`: `x` without the first element; `earlier`: without the last one. First and last are in the direction of
  /// `p`.
  static constexpr tracer later(tracer x, const parameters& p) { return without_one(x, p.axis, !p.reverse); }
  static constexpr tracer earlier(tracer x, const parameters& p) { return without_one(x, p.axis, p.reverse); }
  /// `x`, the values of all elements but the first, with `value` for the first.
  static constexpr tracer behind(tracer x, const parameters& p, dim size, double value) {
    return with_one(x, p.axis, size, !p.reverse, value);
  }
  /// `x`, the values of all elements but the last, with `value` for the last.
  static constexpr tracer before(tracer x, const parameters& p, dim size, double value) {
    return with_one(x, p.axis, size, p.reverse, value);
  }
  /// The cotangent of the operand, if result[i] depends on operand[i] with slope `own` and on result[i - 1] with slope
  /// `kept`: cotangents are passed on from the last result to the first. Both slopes are of all elements but the first.
  static constexpr tracer backward(const vjp_application& a, const parameters& p, tracer own, tracer kept,
                                   double own_of_first);

 private:
  static constexpr dim one_of(tracer x, dim size) { return x.owner->extents.smaller(dim{1}, size); }
  static constexpr tracer without_one(tracer x, int axis, bool first) {
    const dim size = x.dimension(axis), one = one_of(x, size);
    return first ? build::slice_axis(x, axis, one, size)
                 : build::slice_axis(x, axis, dim{}, x.owner->extents.subtract(size, one));
  }
  static constexpr tracer with_one(tracer x, int axis, dim size, bool first, double value) {
    pad_parameters around;
    for (int i = 0; i < x.rank(); ++i) {
      around.low.push_back(i == axis && first ? one_of(x, size) : dim{});
      around.high.push_back(i == axis && !first ? one_of(x, size) : dim{});
      around.interior.push_back(0);
    }
    return emit<pad>({x, build::like(x, value)}, around);
  }
};

/// h[i] = factor[i] * h[i - 1] + term[i]. It carries the cotangents of the operations here.
struct linear_recurrence : cumulative {
  static constexpr std::string_view name = "linear_recurrence";

  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const tracer factor = build::mapped_at(a.operands[0], 0, a.size), term = build::mapped_at(a.operands[1], 0, a.size);
    return {emit<linear_recurrence>({factor, term}, {p.axis + 1, p.reverse}), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const dim size = a.result.dimension(p.axis);
    const tracer next = before(later(a.operand(0), p), p, size, 0);
    const tracer carried = emit<linear_recurrence>({next, a.cotangent}, {p.axis, !p.reverse});
    a.give(1, carried);
    if (a.wants(0)) a.give(0, carried * behind(earlier(a.result, p), p, size, 0));
  }
  template <class V> static PARALLAX_HD V evaluate(V last, V factor, V term) {
    return math::add(math::mul(last, factor), term);
  }
  template <class T> static PARALLAX_HD constexpr T neutral() { return T{}; }
};

constexpr tracer cumulative::backward(const vjp_application& a, const parameters& p, tracer own, tracer kept,
                                      double own_of_first) {
  const dim size = a.result.dimension(p.axis);
  const element_type type = a.result.type(), wide = is_half_precision(type) ? element_type::float32 : type;
  const tracer next = build::convert(before(kept, p, size, 0), wide);
  const tracer carried = emit<linear_recurrence>({next, build::convert(a.cotangent, wide)}, {p.axis, !p.reverse});
  return build::convert(carried * build::convert(behind(own, p, size, own_of_first), wide), type);
}

/// JAX: lax.cumsum
struct cumsum : cumulative {
  static constexpr std::string_view name = "cumsum";
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    a.give(0, emit<cumsum>({a.cotangent}, {p.axis, !p.reverse}));
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::add(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return T{}; }
};

/// JAX: lax.cumprod
struct cumprod : cumulative {
  static constexpr std::string_view name = "cumprod";
  /// Without a division, so that elements may be 0.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    a.give(0, backward(a, p, earlier(a.result, p), later(a.operand(0), p), 1));
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::mul(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return T{1}; }
};

namespace detail {
struct extreme_cumulative : cumulative, of_ordered {
  /// An element that equals the result before it gets half of the cotangent, as in the elementwise extremes.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const tracer result = later(a.result, p), x = later(a.operand(0), p), last = earlier(a.result, p);
    a.give(0, backward(a, p, share(x, last, result), share(last, x, result), 1));
  }

 private:
  static constexpr tracer share(tracer x, tracer other, tracer result) {
    const tracer whole = build::select(other == result, build::like(x, 0.5), build::like(x, 1));
    return build::select(x == result, whole, build::like(x, 0));
  }
};
} // namespace detail

/// JAX: lax.cummax
struct cummax : detail::extreme_cumulative {
  static constexpr std::string_view name = "cummax";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::max(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return math::least<T>(); }
};

/// JAX: lax.cummin
struct cummin : detail::extreme_cumulative {
  static constexpr std::string_view name = "cummin";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::min(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return math::greatest<T>(); }
};

/// JAX: lax.cumlogsumexp
struct cumlogsumexp : cumulative {
  static constexpr std::string_view name = "cumlogsumexp";
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const tracer result = later(a.result, p);
    a.give(0, backward(a, p, share(later(a.operand(0), p), result), share(earlier(a.result, p), result), 1));
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::logaddexp(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return math::least<T>(); }

 private:
  /// exp(x - result); for equal infinities exp(0).
  static constexpr tracer share(tracer x, tracer result) {
    return emit<exp>({build::select(x == result, build::like(x, 0), x - result)});
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
