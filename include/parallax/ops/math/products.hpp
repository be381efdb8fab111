// Products of arrays: dot, matmul, vdot, outer, dot_general.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/math/elementwise.hpp>
#include <parallax/primitives/arrays/dot_general.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

constexpr void product_mismatch(std::string_view name, tracer a, tracer b, std::string_view advice) {
  context& trace = *a.owner;
  message text;
  text << name << ": shapes ";
  print_value(text, trace.extents, a.value());
  text << " and ";
  print_value(text, trace.extents, b.value());
  trace.fail(text << " do not agree: " << advice);
}

/// Checks that the contracted extents are not provably different; extents that only the call knows get guards.
constexpr bool contracts(std::string_view name, tracer a, int a_axis, tracer b, int b_axis) {
  dim left = a.dimension(a_axis), right = b.dimension(b_axis);
  if (!is_static(left) || !is_static(right) || left == right) {
    unify(*a.owner, name, left, right, a.value(), b.value());
    return true;
  }
  message advice;
  advice << "extent " << left.number() << " of axis " << a_axis << " must equal extent " << right.number()
         << " of axis " << b_axis;
  product_mismatch(name, a, b, advice.view());
  return false;
}

constexpr tracer multiply_out(tracer a, tracer b, primitives::dot_parameters axes, product_precision precision) {
  build::promote_types(a, b);
  axes.precision = precision;
  return emit<primitives::dot_general>({a, b}, axes);
}

/// `Derived::multiply(a, b, precision)` multiplies; this adds calls with and without a precision.
template <class Derived> struct product_operation : operation<Derived> {
  static constexpr tracer apply(context&, tracer a, tracer b) {
    return Derived::multiply(a, b, product_precision::full);
  }
  template <product_precision Precision>
  static constexpr tracer apply(context&, tracer a, tracer b, precision_t<Precision>) {
    return Derived::multiply(a, b, Precision);
  }
};

/// NumPy's dot: the last axis of the left operand with the second to last (or only) one of the right. Shapes: the axes
/// that are left, those of a first; that of the other operand if one is a number. Errors: extents along which products
/// are summed that differ.
struct dot_operation : product_operation<dot_operation> {
  static constexpr tracer multiply(tracer a, tracer b, product_precision precision) {
    if (a.rank() == 0 || b.rank() == 0) return a * b;
    int right = b.rank() == 1 ? 0 : b.rank() - 2;
    if (!contracts("dot", a, a.rank() - 1, b, right)) return a;
    return multiply_out(a, b, {{a.rank() - 1}, {right}, {}, {}}, precision);
  }
};

/// NumPy's matmul: matrices in the last two axes, the axes before them broadcast. Shapes: (..., m, k) and (..., k, n)
/// give (..., m, n), without the axis that a vector lacks. Errors: numbers as operands; extents that are to be equal
/// and differ.
struct matmul_operation : product_operation<matmul_operation> {
  static constexpr tracer multiply(tracer a, tracer b, product_precision precision) {
    if (a.rank() == 0 || b.rank() == 0) {
      product_mismatch("matmul", a, b, "scalars are not allowed; use *");
      return a;
    }
    int left = a.rank() - 1, right = b.rank() == 1 ? 0 : b.rank() - 2;
    if (!contracts("matmul", a, left, b, right)) return a;
    if (a.rank() <= 2 && b.rank() <= 2) return multiply_out(a, b, {{left}, {right}, {}, {}}, precision);
    // Batch axes that one side lacks, or has with extent 1, become free axes of the other; only shared ones are batch
    // axes.
    int left_batch = a.rank() > 2 ? a.rank() - 2 : 0, right_batch = b.rank() > 2 ? b.rank() - 2 : 0;
    dims left_shape = a.extents(), right_shape = b.extents();
    int common = left_batch < right_batch ? left_batch : right_batch;
    for (int i = 1; i <= common; ++i) {
      dim &l = left_shape[left_batch - i], &r = right_shape[right_batch - i];
      if (l == 1) {
        l = r;
      } else if (r == 1) {
        r = l;
      } else if (is_static(l) && is_static(r) && !(l == r)) {
        product_mismatch("matmul", a, b, "batch extents must be equal, or one of them 1");
        return a;
      }
    }
    a = build::broadcast_to(a, left_shape);
    b = build::broadcast_to(b, right_shape);
    primitives::dot_parameters axes{{left}, {right}, {}, {}};
    for (int i = common; i >= 1; --i) {
      axes.left_batch.push_back(left_batch - i);
      axes.right_batch.push_back(right_batch - i);
    }
    tracer product = multiply_out(a, b, axes, precision);
    // product: common batch, left's own batch, rows, right's own batch, columns
    int own_left = left_batch - common, own_right = right_batch - common;
    int rows = a.rank() > 1 ? 1 : 0;
    axis_list permutation;
    for (int i = 0; i < own_left; ++i) permutation.push_back(common + i);
    for (int i = 0; i < own_right; ++i) permutation.push_back(common + own_left + rows + i);
    for (int i = 0; i < common; ++i) permutation.push_back(i);
    if (rows > 0) permutation.push_back(common + own_left);
    for (int i = common + own_left + rows + own_right; i < product.rank(); ++i) permutation.push_back(i);
    return build::transpose(product, permutation);
  }
};

/// Shapes: a number. Errors: arrays of different numbers of elements.
struct vdot_operation : product_operation<vdot_operation> {
  static constexpr tracer multiply(tracer a, tracer b, product_precision precision) {
    context& trace = *a.owner;
    a = build::reshape(a, {trace.extents.product(a.extents())});
    b = build::reshape(b, {trace.extents.product(b.extents())});
    return dot_operation::multiply(a, b, precision);
  }
};

/// Shapes: the number of elements of a, and that of b. Errors: none.
struct outer_operation : product_operation<outer_operation> {
  static constexpr tracer multiply(tracer a, tracer b, product_precision precision) {
    context& trace = *a.owner;
    a = build::reshape(a, {trace.extents.product(a.extents())});
    b = build::reshape(b, {trace.extents.product(b.extents())});
    return multiply_out(a, b, {}, precision);
  }
};

/// The four axis lists of a general product.
struct dot_dimensions {
  std::initializer_list<int> left_contract, right_contract, left_batch = {}, right_batch = {};
};

/// Shapes: the batch axes, then those of a that are left, then those of b. Errors: an axis that an operand does not
/// have, or that is named twice; lists of different lengths; extents that differ.
struct dot_general_operation {
  constexpr tracer operator()(tracer a, tracer b, dot_dimensions dimensions) const {
    return multiply(a, b, dimensions, product_precision::full);
  }
  template <product_precision Precision>
  constexpr tracer operator()(tracer a, tracer b, dot_dimensions dimensions, precision_t<Precision>) const {
    return multiply(a, b, dimensions, Precision);
  }

 private:
  static constexpr tracer multiply(tracer a, tracer b, dot_dimensions dimensions, product_precision precision) {
    context& trace = *a.owner;
    primitives::dot_parameters axes{normalize_axes(trace, "dot_general", dimensions.left_contract, a.rank()),
                                    normalize_axes(trace, "dot_general", dimensions.right_contract, b.rank()),
                                    normalize_axes(trace, "dot_general", dimensions.left_batch, a.rank()),
                                    normalize_axes(trace, "dot_general", dimensions.right_batch, b.rank())};
    if (trace.failed) return a;
    if (axes.left_contract.size() != axes.right_contract.size() || axes.left_batch.size() != axes.right_batch.size()) {
      product_mismatch("dot_general", a, b, "name as many axes of the left operand as of the right");
      return a;
    }
    for (int i = 0; i < axes.left_contract.size(); ++i)
      if (!contracts("dot_general", a, axes.left_contract[i], b, axes.right_contract[i])) return a;
    for (int i = 0; i < axes.left_batch.size(); ++i)
      if (!contracts("dot_general", a, axes.left_batch[i], b, axes.right_batch[i])) return a;
    return multiply_out(a, b, axes, precision);
  }
};

} // namespace detail

/// NumPy's dot: the last axis of a with the second to last, or only, one of b. Products take their precision as a
/// further argument: `dot(a, b, precision::tf32)`. JAX: numpy.dot
inline constexpr detail::dot_operation dot{};
/// NumPy's matmul: products of the matrices in the last two axes; leading axes broadcast. A vector is a row on the left
/// and a column on the right. JAX: numpy.matmul
inline constexpr detail::matmul_operation matmul{};
/// The inner product of two arrays as flat vectors. JAX: numpy.vdot
inline constexpr detail::vdot_operation vdot{};
/// All products of an element of one array and one of another, as a matrix. JAX: numpy.outer
inline constexpr detail::outer_operation outer{};
/// `dot_general(a, b, {left_contract, right_contract, left_batch, right_batch})`, and a precision. JAX: lax.dot_general
inline constexpr detail::dot_general_operation dot_general{};

} // namespace parallax::PARALLAX_INLINE_VERSION
