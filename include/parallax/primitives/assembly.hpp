// Results that are written piece by piece: concatenation and padding.
#pragma once

#include <parallax/primitives/build.hpp>

namespace parallax::primitives {

struct assembly {
  static constexpr primitive_kind kind = primitive_kind::assembly;
};

namespace detail {
/// Elements start to limit of one axis.
constexpr tracer slice_axis(tracer x, int axis, dim start, dim limit) {
  small_vector<std::int64_t, 3 * max_rank> parameters;
  for (int i = 0; i < x.rank(); ++i) parameters.push_back(i == axis ? start : 0);
  for (int i = 0; i < x.rank(); ++i) parameters.push_back(i == axis ? limit : x.dimension(i));
  for (int i = 0; i < x.rank(); ++i) parameters.push_back(1);
  return emit<slice>(*x.owner, std::span<const tracer>(&x, 1),
                     {parameters.data(), static_cast<std::size_t>(parameters.size())});
}
} // namespace detail

/// Parameter: the axis along which the operands follow each other.
struct concatenate : assembly {
  static constexpr std::string_view name = "concatenate";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    result.weak = false;
    int axis = static_cast<int>(a.parameters[0]);
    for (const abstract_value& x : a.operands.subspan(1)) {
      if (x.rank() != result.rank()) {
        message text;
        text << "concatenate: shapes ";
        print_value(text, a.trace.extents, a.operands[0]);
        text << " and ";
        print_value(text, a.trace.extents, x);
        a.trace.fail(text << " differ in rank; give arrays of one rank");
        return result;
      }
      for (int i = 0; i < x.rank(); ++i)
        result.shape[i] = i == axis ? a.trace.extents.add(result.shape[i], x.shape[i])
                                    : unify(a.trace, "concatenate", result.shape[i], x.shape[i], a.operands[0], x);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    std::vector<tracer> operands;
    for (const batched& x : a.operands)
      operands.push_back(x.axis < 0 ? build::insert_axis(x.value, 0, a.size) : build::move_axis(x.value, x.axis, 0));
    std::int64_t axis = a.parameters[0] + 1;
    return {emit(a.trace, a.operation, operands, std::span<const std::int64_t>(&axis, 1)), 0};
  }
  static constexpr void vjp(vjp_application& a) {
    int axis = static_cast<int>(a.parameters[0]);
    dim start = 0;
    for (int i = 0; i < static_cast<int>(a.operands.size()); ++i) {
      dim limit = a.trace.extents.add(start, a.operand(i).dimension(axis));
      if (a.wants(i)) a.give(i, detail::slice_axis(a.cotangent, axis, start, limit));
      start = limit;
    }
  }
};

/// Operands: the array and the padding value. Parameters: how much of it before, after and between the elements of each
/// axis, none negative. JAX: lax.pad.
struct pad : assembly {
  static constexpr std::string_view name = "pad";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    result.weak = false;
    dim_table& t = a.trace.extents;
    std::size_t rank = static_cast<std::size_t>(result.rank());
    for (std::size_t i = 0; i < rank; ++i) {
      dim size = a.operands[0].shape[static_cast<int>(i)], between = a.parameters[2 * rank + i];
      dim spread = between == 0 ? size : size == 0 ? 0 : t.add(t.multiply(t.subtract(size, 1), between + 1), 1);
      result.shape[static_cast<int>(i)] = t.add(t.add(a.parameters[i], spread), a.parameters[rank + i]);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    const batched &x = a.operands[0], &value = a.operands[1];
    std::size_t rank = a.parameters.size() / 3;
    int axis = x.axis < 0 ? 0 : x.axis;
    small_vector<std::int64_t, 3 * max_rank> parameters;
    for (std::size_t part = 0; part < 3; ++part)
      for (std::size_t i = 0; i <= rank; ++i) {
        if (i == static_cast<std::size_t>(axis)) parameters.push_back(0);
        if (i < rank) parameters.push_back(a.parameters[part * rank + i]);
      }
    std::span<const std::int64_t> padding{parameters.data(), static_cast<std::size_t>(parameters.size())};
    tracer operands[] = {x.axis < 0 ? build::insert_axis(x.value, 0, a.size) : x.value, value.value};
    if (value.axis < 0) return {emit<pad>(a.trace, operands, padding), axis};
    // A mapped padding value: pad with zeros, and choose the value where a padded array of ones has zeros.
    operands[1] = build::like(x.value, 0);
    tracer padded = emit<pad>(a.trace, operands, padding);
    tracer inside[] = {
        build::broadcast_to(build::integer_literal(a.trace, element_type::boolean, 1), operands[0].extents()),
        build::integer_literal(a.trace, element_type::boolean, 0)};
    tracer values = build::broadcast_in_dim(value.value, padded.extents(), std::span<const int>(&axis, 1));
    return {build::select(emit<pad>(a.trace, inside, padding), padded, values), axis};
  }
  static constexpr void vjp(vjp_application& a) {
    std::size_t rank = a.parameters.size() / 3;
    dim_table& t = a.trace.extents;
    small_vector<std::int64_t, 3 * max_rank> parameters;
    for (std::size_t i = 0; i < rank; ++i) parameters.push_back(a.parameters[i]);
    for (std::size_t i = 0; i < rank; ++i) {
      dim size = a.operand(0).dimension(static_cast<int>(i)), between = a.parameters[2 * rank + i];
      dim spread = between == 0 ? size : size == 0 ? 0 : t.add(t.multiply(t.subtract(size, 1), between + 1), 1);
      parameters.push_back(t.add(a.parameters[i], spread));
    }
    for (std::size_t i = 0; i < rank; ++i) parameters.push_back(a.parameters[2 * rank + i] + 1);
    tracer inside = emit<slice>(a.trace, std::span<const tracer>(&a.cotangent, 1),
                                {parameters.data(), static_cast<std::size_t>(parameters.size())});
    a.give(0, inside);
    if (a.wants(1)) a.give(1, emit<subtract>({build::sum_all(a.cotangent), build::sum_all(inside)}));
  }
};

} // namespace parallax::primitives
