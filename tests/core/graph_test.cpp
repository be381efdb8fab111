// The graph: equal nodes are one node, wherever its hash table has grown to.
#include "test.hpp"

#include <parallax/core/context.hpp>

#include <array>

using parallax::abstract_value, parallax::context, parallax::element_type, parallax::graph;

namespace {

constexpr int negate = 1, multiply = 2;
constexpr abstract_value vector_of(parallax::dim extent, element_type type = element_type::float32) {
  return {type, false, {extent}};
}

// the same content is the same node; whatever differs makes another
static_assert([] {
  graph g;
  int x = g.add(context::input_operation, {}, vector_of(4), {}, true);
  int y = g.add(context::input_operation, {}, vector_of(4), {}, true);
  std::array one{x}, other{y};
  std::array both{x, y}, swapped{y, x};
  std::array<std::int64_t, 1> three{3}, four{4};
  int a = g.add(negate, one, vector_of(4), {});
  return x != y && g.add(negate, one, vector_of(4), {}) == a && g.add(negate, other, vector_of(4), {}) != a &&
         g.add(multiply, one, vector_of(4), {}) != a && g.add(negate, one, vector_of(5), {}) != a &&
         g.add(negate, one, vector_of(4, element_type::float64), {}) != a &&
         g.add(negate, one, {element_type::float32, true, {4}}, {}) != a &&
         g.add(negate, one, vector_of(4), three) != a &&
         g.add(negate, one, vector_of(4), three) != g.add(negate, one, vector_of(4), four) &&
         g.add(multiply, both, vector_of(4), {}) != g.add(multiply, swapped, vector_of(4), {});
}());

// a distinct node is never found again
static_assert([] {
  graph g;
  int a = g.add(negate, {}, vector_of(4), {}, true), b = g.add(negate, {}, vector_of(4), {}, true);
  return a != b && g.add(negate, {}, vector_of(4), {}) != a && g.size() == 3;
}());

// what a node holds
static_assert([] {
  graph g;
  int x = g.add(context::input_operation, {}, {element_type::int32, true, {2, 3}}, {}, true);
  std::array operands{x, x};
  std::array<std::int64_t, 2> parameters{7, -8};
  int a = g.add(multiply, operands, {element_type::float64, false, {3}}, parameters);
  return g.at(a).operation == multiply && g.operand(a, 1) == x && g.operands(a).size() == 2 &&
         g.parameter(a, 1) == -8 && g.shape(x) == parallax::dims{2, 3} && g.value(x).weak && !g.value(a).weak &&
         g.extent(a, 0) == 3 && g.value(a).type == element_type::float64;
}());

// outputs need what they are computed from, and nothing else
static_assert([] {
  graph g;
  int x = g.add(context::input_operation, {}, vector_of(4), {}, true);
  std::array one{x};
  int used = g.add(negate, one, vector_of(4), {});
  int unused = g.add(multiply, one, vector_of(4), {});
  std::array two{used};
  g.outputs = {g.add(multiply, two, vector_of(4), {})};
  auto needed = g.needed();
  return needed[0] && needed[static_cast<std::size_t>(used)] && !needed[static_cast<std::size_t>(unused)];
}());

// closing over a value makes one input at every level between
static_assert([] {
  context trace;
  int x = trace.current().add(context::input_operation, {}, vector_of(4), {}, true);
  int outer = trace.open_graph();
  int inner = trace.open_graph();
  int here = trace.import(0, x), again = trace.import(0, x);
  return here == again && trace.at(inner).captures.size() == 1 && trace.at(outer).captures.size() == 1 &&
         trace.at(outer).captures[0].outer == x &&
         trace.at(inner).captures[0].outer == trace.at(outer).captures[0].inner &&
         trace.at(inner).value(here).shape == parallax::dims{4};
}());

// the innermost binder of a name wins
static_assert([] {
  context trace;
  int outer = trace.bind_axis("i", 2), other = trace.bind_axis("j", 3), inner = trace.bind_axis("i", 4);
  bool shadowed = trace.find_axis("i") == inner && trace.find_axis("j") == other && trace.find_axis("k") < 0;
  trace.unbind_axis();
  return shadowed && trace.find_axis("i") == outer && trace.axis_size(outer) == 2;
}());

// the first error counts
static_assert([] {
  context trace;
  trace.fail(parallax::message() << "first");
  trace.fail(parallax::message() << "second");
  return trace.failed && trace.error.view() == "first";
}());

} // namespace

TEST_CASE("nodes are found again after the table has grown", "[core]") {
  graph g;
  std::vector<int> ids;
  for (std::int64_t i = 0; i < 1000; ++i) ids.push_back(g.add(negate, {}, vector_of(i), std::span(&i, 1)));
  CHECK(g.size() == 1000);
  for (std::int64_t i = 0; i < 1000; ++i)
    CHECK(g.add(negate, {}, vector_of(i), std::span(&i, 1)) == ids[static_cast<std::size_t>(i)]);
  CHECK(g.size() == 1000);
}
