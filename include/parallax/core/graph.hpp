// The graph of one function: nodes in the order of their creation, each named once, found again by hashing.
#pragma once

#include <parallax/core/dims.hpp>
#include <parallax/core/element_type.hpp>
#include <parallax/core/hash_index.hpp>

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace parallax {

/// What is known of a value inside a program: element type, shape, and whether it is a weakly typed scalar or made of
/// such, which takes on the type of the arrays it meets.
struct abstract_value {
  element_type type = element_type::float32;
  bool weak = false;
  dims shape;

  constexpr int rank() const { return shape.size(); }
};

/// One operation. Operands, extents and parameters are ranges of the graph's pools.
struct node {
  int operation = 0;
  element_type type = element_type::float32;
  bool weak = false;
  int first_operand = 0, operand_count = 0;
  int first_extent = 0, rank = 0;
  int first_parameter = 0, parameter_count = 0;
};

/// A value of the enclosing graph that a nested function closes over, and the input that stands for it inside.
struct capture {
  int outer = 0;
  int inner = 0;
};

class graph {
 public:
  std::vector<node> nodes;
  std::vector<int> operand_pool;
  std::vector<dim> extent_pool;
  std::vector<std::int64_t> parameter_pool;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<capture> captures;
  int parent = -1;

  constexpr const node& at(int id) const { return nodes[static_cast<std::size_t>(id)]; }
  constexpr int size() const { return static_cast<int>(nodes.size()); }

  constexpr std::span<const int> operands(int id) const {
    const node& n = at(id);
    return {operand_pool.data() + n.first_operand, static_cast<std::size_t>(n.operand_count)};
  }
  constexpr int operand(int id, int i) const {
    return operand_pool[static_cast<std::size_t>(at(id).first_operand + i)];
  }
  constexpr std::span<const std::int64_t> parameters(int id) const {
    const node& n = at(id);
    return {parameter_pool.data() + n.first_parameter, static_cast<std::size_t>(n.parameter_count)};
  }
  constexpr std::int64_t parameter(int id, int i) const {
    return parameter_pool[static_cast<std::size_t>(at(id).first_parameter + i)];
  }
  constexpr dim extent(int id, int axis) const {
    return extent_pool[static_cast<std::size_t>(at(id).first_extent + axis)];
  }
  constexpr dims shape(int id) const {
    const node& n = at(id);
    const dim* extents = extent_pool.data() + n.first_extent;
    dims result;
    for (int i = 0; i < n.rank; ++i) result.push_back(extents[i]);
    return result;
  }
  constexpr abstract_value value(int id) const { return {at(id).type, at(id).weak, shape(id)}; }

  /// The node with exactly this content; a new one if there is none yet or if it must stay apart (`distinct`).
  constexpr int add(int operation, std::span<const int> operands, const abstract_value& value,
                    std::span<const std::int64_t> parameters, bool distinct = false) {
    std::uint64_t content = distinct ? 0 : hash(operation, operands, value, parameters);
    if (!distinct)
      if (int known = index.find(content, [&](int id) { return same(id, operation, operands, value, parameters); });
          known >= 0)
        return known;
    node added{.operation = operation,
               .type = value.type,
               .weak = value.weak,
               .first_operand = static_cast<int>(operand_pool.size()),
               .operand_count = static_cast<int>(operands.size()),
               .first_extent = static_cast<int>(extent_pool.size()),
               .rank = value.shape.size(),
               .first_parameter = static_cast<int>(parameter_pool.size()),
               .parameter_count = static_cast<int>(parameters.size())};
    for (int operand : operands) operand_pool.push_back(operand);
    for (dim extent : value.shape) extent_pool.push_back(extent);
    for (std::int64_t parameter : parameters) parameter_pool.push_back(parameter);
    nodes.push_back(added);
    int id = static_cast<int>(nodes.size()) - 1;
    if (!distinct) index.add(content, id);
    return id;
  }

  /// For each node whether an output depends on it.
  constexpr std::vector<char> needed() const {
    std::vector<char> live(nodes.size(), 0);
    for (int output : outputs) live[static_cast<std::size_t>(output)] = 1;
    char* flags = live.data();
    for (int id = size() - 1; id >= 0; --id) {
      if (!flags[id]) continue;
      const node& n = at(id);
      const int* operand = operand_pool.data() + n.first_operand;
      for (int i = 0; i < n.operand_count; ++i) flags[operand[i]] = 1;
    }
    return live;
  }

 private:
  hash_index index; ///< of the nodes that are not distinct

  template <class T> static constexpr bool equal(const T* a, const T* b, int count) {
    for (int i = 0; i < count; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  static constexpr std::uint64_t hash(int operation, std::span<const int> operands, const abstract_value& value,
                                      std::span<const std::int64_t> parameters) {
    std::uint64_t result = mix(static_cast<std::uint64_t>(operation), static_cast<std::uint64_t>(value.type));
    result = mix(result, operands.data(), operands.size());
    result = mix(result, value.shape.data(), static_cast<std::size_t>(value.shape.size()));
    return mix(result, parameters.data(), parameters.size());
  }
  constexpr bool same(int id, int operation, std::span<const int> operands, const abstract_value& value,
                      std::span<const std::int64_t> parameters) const {
    const node& n = at(id);
    if (n.operation != operation || n.type != value.type || n.weak != value.weak) return false;
    if (n.operand_count != static_cast<int>(operands.size()) || n.rank != value.shape.size() ||
        n.parameter_count != static_cast<int>(parameters.size()))
      return false;
    return equal(operand_pool.data() + n.first_operand, operands.data(), n.operand_count) &&
           equal(extent_pool.data() + n.first_extent, value.shape.data(), n.rank) &&
           equal(parameter_pool.data() + n.first_parameter, parameters.data(), n.parameter_count);
  }
};

} // namespace parallax
