// In which orders loops, vmap, derivatives and pmap stand inside each other.
#pragma once

#include "support/interpreter/drawn_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace properties {

enum class nest_kind { loop, vmap, derivative, pmap };

/// One of each kind, the outermost one first.
using nest_order = std::array<nest_kind, 4>;

/// All 24, those of one outermost kind together.
inline std::vector<nest_order> all_nest_orders() {
  nest_order order{nest_kind::loop, nest_kind::vmap, nest_kind::derivative, nest_kind::pmap};
  std::vector<nest_order> all;
  do all.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return all;
}

inline std::string name_of(const nest_order& order) {
  constexpr std::array names{"loop", "vmap", "derivative", "pmap"};
  std::string text;
  for (nest_kind kind : order)
    text += (text.empty() ? "" : " of ") + std::string(names[static_cast<std::size_t>(kind)]);
  return text;
}

/// A loop of no rounds is none.
inline std::optional<nest_kind> kind_of(const statement& s) {
  if (s.what != operation::nest) return std::nullopt;
  switch (s.nested) {
  case nesting::fori_loop:
    if (s.number == 0 && s.operands.size() == 2) return std::nullopt;
    return nest_kind::loop;
  case nesting::scan:
  case nesting::reverse_scan:
  case nesting::while_loop:
  case nesting::map: return nest_kind::loop;
  case nesting::vmap: return nest_kind::vmap;
  case nesting::pmap: return nest_kind::pmap;
  case nesting::direction:
  case nesting::gradient:
  case nesting::both_gradients: return nest_kind::derivative;
  case nesting::cond:
  case nesting::switched:
  case nesting::checkpointed: break;
  }
  return std::nullopt;
}

/// Whether nests of these kinds, from `number` on, stand inside each other in a block, with or without others between
/// them.
inline bool has_order(const block& b, const nest_order& order, std::size_t number = 0) {
  if (number == order.size()) return true;
  return std::any_of(b.statements.begin(), b.statements.end(), [&](const statement& s) {
    const std::size_t next = number + (kind_of(s) == order[number] ? 1 : 0);
    return std::any_of(s.bodies.begin(), s.bodies.end(),
                       [&](const block& body) { return has_order(body, order, next); });
  });
}

} // namespace properties
