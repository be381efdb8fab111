// A program as text, in the spirit of JAX's jaxprs.
#pragma once

#include <parallax/compile/trace/trace.hpp>
#include <parallax/core/version.hpp>

#include <string_view>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

constexpr void print_name(auto& out, int number) {
  // a, b, ..., z, ba, bb, ...
  char letters[8]{};
  int count = 0;
  do {
    letters[count++] = static_cast<char>('a' + number % 26);
    number /= 26;
  } while (number > 0);
  while (count > 0) out << letters[--count];
}

/// Prints moderate numbers as JAX does: with at most seven digits behind the point.
constexpr void print_number(auto& out, double value) {
  if (value < 0) out << '-', value = -value;
  if (value != value || value > 1e15 || (value != 0 && value < 1e-5)) {
    out << (value != value ? "nan" : value > 1e300 ? "inf" : value > 1 ? "large" : "small");
    return;
  }
  std::int64_t whole = static_cast<std::int64_t>(value);
  double rest = value - static_cast<double>(whole);
  std::int64_t digits = static_cast<std::int64_t>(rest * 1e7 + 0.5);
  if (digits == 10000000) ++whole, digits = 0;
  out << whole << '.';
  int width = 7;
  while (digits % 10 == 0 && width > 1) digits /= 10, --width;
  std::int64_t scale = 1;
  for (int i = 1; i < width; ++i) scale *= 10;
  for (; scale > 0; scale /= 10) out << static_cast<int>(digits / scale % 10);
}
constexpr void print_literal(auto& out, const primitives::literal::parameters& constant) {
  if (constant.type == element_type::boolean) out << (constant.bits != 0 ? "True" : "False");
  else if (has_double_literal(constant.type)) print_number(out, constant.as_double());
  else out << constant.bits;
}

/// Prints a table in full, or, if it is long or empty, as its type, its extents and its first numbers.
constexpr void print_table(auto& out, const constant_table& table) {
  const auto number = [&](std::size_t k) { print_literal(out, {table.type, false, table.words[k]}); };
  const std::size_t count = table.words.size();
  if (count == 0 || count > 16) {
    print_value(out, dim_table{}, {table.type, false, table.shape});
    out << '[';
    for (std::size_t k = 0; k < 3 && k < count; ++k) number(k), out << ", ";
    out << (count == 0 ? "]" : "...]");
    return;
  }
  // an axis' brackets enclose as many numbers as that axis and those behind it have
  const auto brackets = [&](std::size_t place, char bracket) {
    std::int64_t behind = 1;
    for (int axis = table.shape.size(); axis-- > 0;)
      if (static_cast<std::int64_t>(place) % (behind *= table.shape[axis].number()) == 0) out << bracket;
  };
  for (std::size_t k = 0; k < count; ++k) {
    if (k > 0) out << ", ";
    brackets(k, '[');
    number(k);
    brackets(k + 1, ']');
  }
}

/// Prints one graph: its inputs, a line for each operation, its outputs.
class graph_text {
 public:
  constexpr graph_text(long_text& text, const context& owner, graph_id which, int depth)
      : out(text), trace(owner), printed(which), g(owner.at(which)), names(g.size(), unnamed), indent(depth) {}

  constexpr void run() {
    out << "{ lambda";
    for (node_id input : g.inputs)
      if (table_of(input) == nullptr) declare(input, " ");
    for (const capture& c : g.captures) declare(c.inner, " ");
    out << " . let";
    const id_set<node_id> needed = g.needed();
    for_each(g.ids(), [&](node_id id) {
      if (needed.contains(id) && g.is_operation(id) && !is<primitives::literal>(g, id)) print_operation(id);
    });
    newline(indent + 1);
    out << "in (";
    for (std::size_t i = 0; i < g.outputs.size(); ++i) use(g.outputs[i], i == 0 ? "" : ", ");
    out << (g.outputs.size() == 1 ? ",) }" : ") }");
  }
  static constexpr void print(long_text& out, const context& trace, graph_id which, int depth) {
    graph_text(out, trace, which, depth).run();
  }

 private:
  static constexpr int unnamed = -1;
  long_text& out;
  const context& trace;
  graph_id printed;
  const graph& g;
  table<node_id, int> names;
  int next = 0, indent;

  constexpr void newline(int depth) {
    out << '\n';
    for (int i = 0; i < depth; ++i) out << "  ";
  }
  constexpr const constant_table* table_of(node_id id) const {
    return printed == graph_id::outermost ? trace.table_at(id) : nullptr;
  }
  constexpr void use(node_id id, std::string_view before) {
    out << before;
    if (const constant_table* const table = table_of(id)) print_table(out, *table);
    else if (is<primitives::literal>(g, id)) print_literal(out, parameters_of<primitives::literal>(g, id));
    else print_name(out, names[id]);
  }
  constexpr void declare(node_id id, std::string_view before) {
    out << before;
    names[id] = next;
    print_name(out, next++);
    out << ':';
    print_value(out, trace.extents, g.value(id));
  }
  constexpr void print_operation(node_id id) {
    const primitive_rules& rules = rules_of(trace, g, id);
    newline(indent + 2);
    if (rules.kind == primitive_kind::call)
      for (int k = 0; k < g.results_of(id).size(); ++k) declare(g.results_of(id)[k], k == 0 ? "" : " ");
    else declare(id, "");
    out << " = " << rules.name;
    parameter_printer printer(out, trace, &graph_text::print, indent + 2);
    rules.print(printer, g.parameters(id));
    for (node_id operand : g.operands(id)) use(operand, " ");
  }
};

template <std::size_t Capacity, class Function, class... Trees> constexpr text_buffer<Capacity> print_program() {
  context trace;
  std::ignore = trace_program<Function, Trees...>(trace);
  text_buffer<Capacity> out;
  if (trace.failed) {
    out << trace.error.view();
    return out;
  }
  long_text text;
  graph_text::print(text, trace, graph_id::outermost, 0);
  out << text.view();
  return out;
}

/// The text of a program, kept for the life of the process.
template <class Function, class... Trees> struct program_text {
  static constexpr auto short_text = print_program<4096, Function, Trees...>();
  static constexpr std::string_view view() {
    if constexpr (short_text.size < 4096) return short_text.view();
    else return long_text<>.view();
  }
  template <std::size_t Capacity = 65536>
  static constexpr auto long_text = print_program<Capacity, Function, Trees...>();
};

/// The leaf type by which a program knows an argument leaf. The headers of arrays specialise it.
template <class T> struct abstract_leaf {
  using type = T;
};
template <scalar T> struct abstract_leaf<T> {
  using type = abstract_array<element_t<scalar_type_of<T>>, extents_t<>, true>;
};
template <std::size_t Rank> struct abstract_leaf<extent_list<Rank>> {
  using type = abstract_extents<Rank>;
};

struct to_abstract {
  template <class L, int> constexpr auto operator()() const { return typename abstract_leaf<L>::type{}; }
};
template <class T> struct abstract_tree {
  static constexpr to_abstract convert{};
  using type = decltype(tree_build<std::remove_cvref_t<T>>(convert));
};
/// A tree of argument types as the program knows them.
template <class T> using abstract_t = typename abstract_tree<T>::type;

} // namespace detail

/// The program of `function` on arguments like these, as text: inputs, one line per operation, results. It is constant,
/// so that `static_assert` can test it; pass `shaped<float, 3, 4>` for arrays that are not at hand. JAX: make_jaxpr
template <class Function, class... Args> constexpr std::string_view expression(const Function&, const Args&...) {
  static_assert(detail::is_stateless<Function>, "parallax: the outermost function must not capture: make captured "
                                                "functions static constexpr, and pass captured values as arguments");
  if constexpr (detail::is_stateless<Function>)
    return detail::program_text<Function, detail::abstract_t<Args>...>::view();
  else return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
