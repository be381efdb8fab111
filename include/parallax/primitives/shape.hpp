// Changes of shape that move no data by themselves: broadcasting, reshaping, transposing, slicing.
#pragma once

#include <parallax/primitives/build.hpp>

namespace parallax::primitives {

struct view {
  static constexpr primitive_kind kind = primitive_kind::view;

 protected:
  static constexpr tracer append(const batch_application& a, tracer x, std::span<const std::int64_t> parameters) {
    return emit(a.trace, a.operation, std::span<const tracer>(&x, 1), parameters);
  }
};

/// Parameters: rank, extents, and for each operand axis the result axis it becomes (ascending).
struct broadcast_in_dim : view {
  static constexpr std::string_view name = "broadcast_in_dim";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    int rank = static_cast<int>(a.parameters[0]);
    result.shape = {};
    for (int i = 0; i < rank; ++i) result.shape.push_back(a.parameters[static_cast<std::size_t>(1 + i)]);
    for (int i = 0; i < a.operands[0].rank(); ++i) {
      dim from = a.operands[0].shape[i],
          to = result.shape[static_cast<int>(a.parameters[static_cast<std::size_t>(1 + rank + i)])];
      if (from != 1)
        unify(a.trace, name, from, to, a.operands[0], result, "each extent stays or was 1", guard::broadcast_extents);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    tracer x = build::move_axis(a.operands[0].value, a.operands[0].axis, 0);
    std::size_t rank = static_cast<std::size_t>(a.parameters[0]);
    small_vector<std::int64_t, 2 * max_rank + 1> parameters{static_cast<std::int64_t>(rank) + 1, a.size};
    for (std::int64_t extent : a.parameters.subspan(1, rank)) parameters.push_back(extent);
    parameters.push_back(0);
    for (std::int64_t axis : a.parameters.subspan(1 + rank)) parameters.push_back(axis + 1);
    return {append(a, x, {parameters.data(), static_cast<std::size_t>(parameters.size())}), 0};
  }
  static constexpr void vjp(vjp_application& a) {
    tracer x = a.operand(0);
    int rank = static_cast<int>(a.parameters[0]);
    small_vector<int, max_rank> repeated;
    bool stretched = false;
    for (int i = 0; i < rank; ++i) {
      int source = -1;
      for (int k = 0; k < x.rank(); ++k)
        if (a.parameters[static_cast<std::size_t>(1 + rank + k)] == i) source = k;
      bool stretch = source >= 0 && x.dimension(source) == 1 && a.parameters[static_cast<std::size_t>(1 + i)] != 1;
      stretched = stretched || stretch;
      if (source < 0 || stretch) repeated.push_back(i);
    }
    tracer sum = build::sum(a.cotangent, {repeated.data(), static_cast<std::size_t>(repeated.size())});
    a.give(0, stretched ? build::reshape(sum, x.extents()) : sum);
  }
};

/// The same elements in row-major order under another shape. Parameters: extents.
struct reshape : view {
  static constexpr std::string_view name = "reshape";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result{a.operands[0].type, a.operands[0].weak, {}};
    for (std::int64_t extent : a.parameters) result.shape.push_back(extent);
    dim before = a.trace.extents.product(a.operands[0].shape), after = a.trace.extents.product(result.shape);
    if (before != after) unify(a.trace, "reshape", before, after, a.operands[0], result);
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    tracer x = build::move_axis(a.operands[0].value, a.operands[0].axis, 0);
    small_vector<std::int64_t, max_rank> parameters{a.size};
    for (std::int64_t extent : a.parameters) parameters.push_back(extent);
    return {append(a, x, {parameters.data(), static_cast<std::size_t>(parameters.size())}), 0};
  }
  static constexpr void vjp(vjp_application& a) { a.give(0, build::reshape(a.cotangent, a.operand(0).extents())); }
};

/// Result axis k is operand axis parameter[k].
struct transpose : view {
  static constexpr std::string_view name = "transpose";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result{a.operands[0].type, a.operands[0].weak, {}};
    for (std::int64_t axis : a.parameters) result.shape.push_back(a.operands[0].shape[static_cast<int>(axis)]);
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    int axis = a.operands[0].axis;
    small_vector<std::int64_t, max_rank> permutation{axis};
    for (std::int64_t source : a.parameters) permutation.push_back(source >= axis ? source + 1 : source);
    return {append(a, a.operands[0].value, {permutation.data(), static_cast<std::size_t>(permutation.size())}), 0};
  }
  static constexpr void vjp(vjp_application& a) {
    small_vector<int, max_rank> inverse(static_cast<int>(a.parameters.size()), 0);
    for (int i = 0; i < inverse.size(); ++i) inverse[static_cast<int>(a.parameters[static_cast<std::size_t>(i)])] = i;
    a.give(0, build::transpose(a.cotangent, {inverse.data(), static_cast<std::size_t>(inverse.size())}));
  }
};

/// Elements start, start + stride, ... below limit of each axis. Parameters: starts, limits, strides. JAX: lax.slice.
struct slice : view {
  static constexpr std::string_view name = "slice";

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    std::size_t rank = static_cast<std::size_t>(result.rank());
    dim_table& t = a.trace.extents;
    for (std::size_t i = 0; i < rank; ++i) {
      dim start = a.parameters[i], limit = a.parameters[rank + i], stride = a.parameters[2 * rank + i];
      dim size = a.operands[0].shape[static_cast<int>(i)];
      if ((is_static(start) && is_static(limit) && start > limit) ||
          (is_static(limit) && is_static(size) && limit > size)) {
        message text;
        text << "slice: from ";
        print_extent(text, t, start);
        text << " to ";
        print_extent(text, t, limit);
        text << " is not within axis " << static_cast<int>(i) << " of ";
        print_value(text, t, a.operands[0]);
        a.trace.fail(text << "; give 0 <= start <= limit <= extent");
        return result;
      }
      // bounds counted from the end of a dynamic extent may lie before its start
      if (!is_static(start)) require_order(a.trace, 0, start, a.operands[0]);
      if (start != 0 || limit != size) require_order(a.trace, start, limit, a.operands[0]);
      if (limit != 0) require_order(a.trace, limit, size, a.operands[0]);
      dim length = t.subtract(limit, start);
      result.shape[static_cast<int>(i)] = stride == 1 ? length : t.divide(t.add(length, stride - 1), stride);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    int axis = a.operands[0].axis;
    std::size_t rank = a.parameters.size() / 3;
    small_vector<std::int64_t, 3 * max_rank> parameters;
    const std::int64_t whole[] = {0, a.size, 1};
    for (std::size_t part = 0; part < 3; ++part)
      for (std::size_t i = 0; i <= rank; ++i) {
        if (i == static_cast<std::size_t>(axis)) parameters.push_back(whole[part]);
        if (i < rank) parameters.push_back(a.parameters[part * rank + i]);
      }
    return {append(a, a.operands[0].value, {parameters.data(), static_cast<std::size_t>(parameters.size())}), axis};
  }
  static constexpr void vjp(vjp_application& a) {
    // zeros before, between and after
    std::size_t rank = a.parameters.size() / 3;
    dim_table& t = a.trace.extents;
    small_vector<std::int64_t, 3 * max_rank> parameters(static_cast<int>(3 * rank), 0);
    for (std::size_t i = 0; i < rank; ++i) {
      int k = static_cast<int>(i), r = static_cast<int>(rank);
      dim start = a.parameters[i], stride = a.parameters[2 * rank + i];
      dim length = a.cotangent.dimension(k);
      dim covered = stride == 1 || length == 0 ? length : t.add(t.multiply(t.subtract(length, 1), stride), 1);
      parameters[k] = start;
      parameters[r + k] = t.subtract(a.operand(0).dimension(k), t.add(start, covered));
      parameters[2 * r + k] = stride - 1;
    }
    tracer operands[] = {a.cotangent, build::like(a.cotangent, 0)};
    a.give(0, emit<pad>(a.trace, operands, {parameters.data(), static_cast<std::size_t>(parameters.size())}));
  }

 private:
  static constexpr void require_order(context& trace, dim small, dim large, const abstract_value& value) {
    if (large == small || (is_static(large) && is_static(small))) return;
    require(trace, guard::at_least, name, large, small, value);
  }
};

} // namespace parallax::primitives
