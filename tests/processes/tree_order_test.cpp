// The order in which values of many instances are combined.
#include <parallax/processes/tree_order.hpp>

#include "support/test.hpp"

#include <string>
#include <vector>

namespace tree_order_test {

namespace {

using parallax::processes::combine_tree;
using parallax::processes::highest_nodes;
using parallax::processes::tree_node;

/// What was combined with what, as text.
struct as_text {
  std::string spares[32];

  void copy(std::string* to, const std::string* value) const { *to = *value; }
  void combine(std::string* to, const std::string* value) const { *to = '(' + *to + ' ' + *value + ')'; }
  std::string* spare(int depth) { return &spares[depth]; }
  const std::string* view(const std::string* value) const { return value; }
};

std::string order(int count) {
  std::vector<std::string> leaves;
  for (int i = 0; i < count; ++i) leaves.push_back(std::to_string(i));
  as_text on;
  std::string result;
  combine_tree(
      &result, {0, count},
      [&](tree_node node) { return node.count == 1 ? &leaves[static_cast<std::size_t>(node.first)] : nullptr; }, on);
  return result;
}

} // namespace

TEST_CASE("pairs, and then pairs of pairs") {
  CHECK(order(1) == "0");
  CHECK(order(2) == "(0 1)");
  CHECK(order(3) == "((0 1) 2)");
  CHECK(order(6) == "(((0 1) (2 3)) (4 5))");
  CHECK(order(7) == "(((0 1) (2 3)) ((4 5) 6))");
  CHECK(order(8) == "(((0 1) (2 3)) ((4 5) (6 7)))");
}

TEST_CASE("what a process has is a few nodes, whose combination is the whole's") {
  for (int count = 1; count <= 40; ++count)
    for (int first = 0; first <= count; ++first)
      for (int last = first; last <= count; ++last) {
        // leaves of [first, last) are combined beforehand
        std::vector<tree_node> nodes;
        highest_nodes(
            {0, count}, [&](tree_node node) { return node.first >= first && node.first + node.count <= last; },
            [&](tree_node node) { nodes.push_back(node); });
        int covered = first;
        for (tree_node node : nodes) {
          CHECK(node.first == covered);
          covered += node.count;
        }
        CHECK(covered == (nodes.empty() ? first : last));
        CHECK(nodes.size() <= 12);
      }
}

} // namespace tree_order_test
