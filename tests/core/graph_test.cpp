// The graph: equal nodes are one node, wherever its hash table has grown to.
#include "support/test.hpp"

#include <parallax/core/trace/context.hpp>

#include <array>

namespace graph_test {

using parallax::detail::abstract_value, parallax::detail::context, parallax::detail::dim, parallax::element_type,
    parallax::detail::graph;
using parallax::detail::axis_id, parallax::detail::graph_id, parallax::detail::node_id, parallax::detail::primitive_id;

namespace {

constexpr primitive_id negate{1}, multiply{2};
constexpr abstract_value vector_of(std::int64_t extent, element_type type = element_type::float32) {
  return {type, false, {dim{extent}}};
}

// the same content is the same node; whatever differs makes another
static_assert([] {
  graph g;
  node_id x = g.add_input(vector_of(4));
  node_id y = g.add_input(vector_of(4));
  std::array one{x}, other{y};
  std::array both{x, y}, swapped{y, x};
  std::array<std::int64_t, 1> three{3}, four{4};
  node_id a = g.add(negate, one, vector_of(4), {});
  return x != y && g.add(negate, one, vector_of(4), {}) == a && g.add(negate, other, vector_of(4), {}) != a &&
         g.add(multiply, one, vector_of(4), {}) != a && g.add(negate, one, vector_of(5), {}) != a &&
         g.add(negate, one, vector_of(4, element_type::float64), {}) != a &&
         g.add(negate, one, {element_type::float32, true, {dim{4}}}, {}) != a &&
         g.add(negate, one, vector_of(4), three) != a &&
         g.add(negate, one, vector_of(4), three) != g.add(negate, one, vector_of(4), four) &&
         g.add(multiply, both, vector_of(4), {}) != g.add(multiply, swapped, vector_of(4), {});
}());

// calls are never taken for one another, and their results stand behind them
static_assert([] {
  graph g;
  node_id x = g.add_input(vector_of(4));
  std::array one{x};
  std::array values{vector_of(5), vector_of(6)};
  const node_id a = g.add_call(negate, one, {}, values), b = g.add_call(negate, one, {}, values);
  const node_id second = g.results_of(a)[1];
  return a != b && g.results_of(a).size() == 2 && g.is_result(second) && !g.is_operation(second) &&
         g.operand(second, 0) == a && g.result_number(second) == 1 && g.extent(second, 0) == 6 &&
         g.results_of(b)[0] != g.results_of(a)[0];
}());

// what a node holds
static_assert([] {
  graph g;
  node_id x = g.add_input({element_type::int32, true, {dim{2}, dim{3}}});
  std::array operands{x, x};
  std::array<std::int64_t, 2> parameters{7, -8};
  node_id a = g.add(multiply, operands, {element_type::float64, false, {dim{3}}}, parameters);
  return g.primitive(a) == multiply && g.operand(a, 1) == x && g.operands(a).size() == 2 && g.parameters(a)[1] == -8 &&
         g.shape(x) == parallax::detail::dims{dim{2}, dim{3}} && g.value(x).weak && !g.value(a).weak &&
         g.extent(a, 0) == 3 && g.value(a).type == element_type::float64;
}());

// outputs need what they are computed from, and nothing else
static_assert([] {
  graph g;
  node_id x = g.add_input(vector_of(4));
  std::array one{x};
  node_id used = g.add(negate, one, vector_of(4), {});
  node_id unused = g.add(multiply, one, vector_of(4), {});
  std::array two{used};
  g.outputs = {g.add(multiply, two, vector_of(4), {})};
  auto needed = g.needed();
  return needed.contains(x) && needed.contains(used) && !needed.contains(unused);
}());

// closing over a value makes one input at every level between
static_assert([] {
  context trace;
  node_id x = trace.current().add_input(vector_of(4));
  const graph_id outer = trace.open_graph(), inner = trace.open_graph();
  const node_id here = trace.import(graph_id::outermost, x), again = trace.import(graph_id::outermost, x);
  return here == again && trace.at(inner).captures.size() == 1 && trace.at(outer).captures.size() == 1 &&
         trace.at(outer).captures[0].outer == x &&
         trace.at(inner).captures[0].outer == trace.at(outer).captures[0].inner &&
         trace.at(inner).value(here).shape == parallax::detail::dims{dim{4}};
}());

// the innermost binder of a name wins
static_assert([] {
  context trace;
  const axis_id outer = trace.bind_axis({.name = "i", .size = dim{2}, .own_instances = dim{2}}),
                other = trace.bind_axis({.name = "j", .size = dim{3}, .own_instances = dim{3}}),
                inner = trace.bind_axis({.name = "i", .size = dim{4}, .own_instances = dim{4}});
  bool shadowed =
      trace.find_axis("i") == inner && trace.find_axis("j") == other && trace.find_axis("k") == axis_id::none;
  trace.unbind_axis();
  return shadowed && trace.find_axis("i") == outer && trace.axis_size(outer) == 2;
}());

// the first error counts
static_assert([] {
  context trace;
  trace.fail(parallax::detail::message() << "first");
  trace.fail(parallax::detail::message() << "second");
  return trace.failed && trace.error.view() == "first";
}());

} // namespace

TEST_CASE("nodes are found again after the table has grown", "[core]") {
  graph g;
  std::vector<node_id> ids;
  for (std::int64_t i = 0; i < 1000; ++i) ids.push_back(g.add(negate, {}, vector_of(i), std::span(&i, 1)));
  CHECK(g.size() == 1000);
  for (std::int64_t i = 0; i < 1000; ++i)
    CHECK(g.add(negate, {}, vector_of(i), std::span(&i, 1)) == ids[static_cast<std::size_t>(i)]);
  CHECK(g.size() == 1000);
}

} // namespace graph_test
