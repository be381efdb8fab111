// A program as text, in the spirit of JAX's jaxprs.
#pragma once

#include <parallax/compile/trace.hpp>

#include <string_view>

namespace parallax {

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

constexpr void print_literal(auto& out, element_type type, std::int64_t bits) {
  if (type == element_type::boolean) {
    out << (bits != 0 ? "True" : "False");
  } else if (!is_floating(type)) {
    out << bits;
  } else {
    double value = std::bit_cast<double>(bits);
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
}

constexpr void print_axis(auto& out, const context& trace, std::int64_t axis_number) {
  std::string_view name = trace.axes[static_cast<std::size_t>(axis_number)].name;
  if (name.empty()) out << "<axis " << axis_number << '>';
  else out << name;
}

constexpr void print_list(auto& out, const dim_table& table, std::span<const std::int64_t> values) {
  out << '(';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out << ',';
    print_extent(out, table, values[i]);
  }
  out << ')';
}

/// Groups of instances as a collective's parameters have them.
constexpr void print_groups(auto& out, std::span<const std::int64_t> groups) {
  std::size_t count = static_cast<std::size_t>(groups[0]), at = 1 + count;
  out << " groups=(";
  for (std::size_t group = 0; group < count; ++group) {
    out << (group == 0 ? "(" : ",(");
    for (std::int64_t i = 0; i < groups[1 + group]; ++i) out << (i == 0 ? "" : ",") << groups[at++];
    out << ')';
  }
  out << ')';
}

constexpr void print_parameters(auto& out, const context& trace, const graph& g, int id) {
  int operation = g.at(id).operation;
  std::span<const std::int64_t> p = g.parameters(id);
  primitive_kind kind = rules_of(operation).kind;
  const dim_table& table = trace.extents;
  if (operation == primitives::number_of<primitives::dot_general>) {
    primitives::dot_axes axes = primitives::dot_axes::read(p);
    auto list = [&](const small_vector<int, max_rank>& values) {
      out << '(';
      for (int i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
      out << ')';
    };
    out << "[contract=(", list(axes.left_contract), out << ',', list(axes.right_contract), out << ") batch=(",
        list(axes.left_batch);
    out << ',', list(axes.right_batch), out << ')';
    if (axes.precision == product_precision::tensor_float_32) out << " precision=tf32";
    out << ']';
  } else if (kind == primitive_kind::reduction) {
    out << "[axes=", print_list(out, table, p), out << ']';
  } else if (operation == primitives::number_of<primitives::broadcast_in_dim>) {
    std::size_t rank = static_cast<std::size_t>(p[0]);
    out << "[shape=", print_list(out, table, p.subspan(1, rank)),
        out << " axes=", print_list(out, table, p.subspan(1 + rank)), out << ']';
  } else if (operation == primitives::number_of<primitives::slice>) {
    std::size_t rank = p.size() / 3;
    out << "[start=", print_list(out, table, p.subspan(0, rank)),
        out << " limit=", print_list(out, table, p.subspan(rank, rank));
    out << " stride=", print_list(out, table, p.subspan(2 * rank)), out << ']';
  } else if (operation == primitives::number_of<primitives::convert> ||
             operation == primitives::number_of<primitives::bitcast>) {
    out << "[type=" << name_of(static_cast<element_type>(p[0])) << ']';
  } else if (kind == primitive_kind::collective) {
    out << "[axes=(";
    std::span<const std::int64_t> axes = primitives::collective::axes(p);
    for (std::size_t i = 0; i < axes.size(); ++i) out << (i > 0 ? "," : ""), print_axis(out, trace, axes[i]);
    out << ')';
    if (primitives::collective::has_groups(p)) print_groups(out, primitives::collective::groups(p));
    for (std::int64_t rest : primitives::collective::rest(p)) out << ' ' << rest;
    out << ']';
  } else if (operation == primitives::number_of<primitives::axis_index>) {
    out << "[axis=", print_axis(out, trace, p[0]), out << ']';
  } else if (operation == primitives::number_of<primitives::iota>) {
    out << "[axis=" << p[1] << ']';
  } else if (operation == primitives::number_of<primitives::extent_value>) {
    out << '[', print_extent(out, table, p[1]), out << ']';
  } else if (!p.empty()) {
    out << "[", print_list(out, table, p), out << ']';
  }
}

constexpr void print_graph(auto& out, const context& trace, int graph_id, int indent) {
  const graph& g = trace.at(graph_id);
  std::vector<char> needed = g.needed();
  std::vector<int> names(g.nodes.size(), -1);
  int next = 0;
  auto newline = [&](int depth) {
    out << '\n';
    for (int i = 0; i < depth; ++i) out << "  ";
  };
  auto use = [&](int id) {
    if (g.at(id).operation == primitives::number_of<primitives::literal>)
      print_literal(out, g.at(id).type, g.parameter(id, 2));
    else print_name(out, names[static_cast<std::size_t>(id)]);
  };
  auto declare = [&](int id) {
    names[static_cast<std::size_t>(id)] = next;
    print_name(out, next++);
    out << ':';
    print_value(out, trace.extents, g.value(id));
  };
  out << "{ lambda";
  for (int input : g.inputs) out << ' ', declare(input);
  for (const capture& c : g.captures) out << ' ', declare(c.inner);
  out << " . let";
  for (int id = 0; id < g.size(); ++id) {
    int operation = g.at(id).operation;
    if (operation < 0 || !needed[static_cast<std::size_t>(id)] ||
        operation == primitives::number_of<primitives::literal> ||
        operation == primitives::number_of<primitives::call_result>)
      continue;
    newline(indent + 2);
    if (operation == primitives::number_of<primitives::pmap_call>) {
      call_parameters call = call_parameters::read(g.parameters(id));
      bool first = true;
      for (int user = id + 1; user < g.size(); ++user)
        if (g.at(user).operation == primitives::number_of<primitives::call_result> && g.operand(user, 0) == id) {
          if (!first) out << ' ';
          first = false;
          declare(user);
        }
      out << " = pmap[axis=", print_axis(out, trace, call.axis),
          out << " size=", print_extent(out, trace.extents, trace.axis_size(call.axis));
      out << " in_axes=(";
      for (std::size_t i = 0; i < call.in_axes.size(); ++i) {
        if (i > 0) out << ',';
        if (call.in_axes[i] < 0) out << "None";
        else out << call.in_axes[i];
      }
      out << ") out_axes=(";
      for (std::size_t i = 0; i < call.out_axes.size(); ++i) {
        if (i > 0) out << ',';
        if (call.out_axes[i] < 0) out << "None";
        else out << call.out_axes[i];
      }
      out << ") call=";
      print_graph(out, trace, call.body, indent + 2);
      out << ']';
    } else {
      declare(id);
      out << " = " << rules_of(operation).name;
      print_parameters(out, trace, g, id);
    }
    for (int operand : g.operands(id)) out << ' ', use(operand);
  }
  newline(indent + 1);
  out << "in (";
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    if (i > 0) out << ", ";
    use(g.outputs[i]);
  }
  if (g.outputs.size() == 1) out << ',';
  out << ") }";
}

template <int Capacity, class Function, class... Trees> constexpr text_buffer<Capacity> print_program() {
  context trace;
  static_cast<void>(trace_program<Function, Trees...>(trace));
  text_buffer<Capacity> out;
  if (trace.failed) out << trace.error.view();
  else print_graph(out, trace, 0, 0);
  return out;
}

/// The text of a program, kept for the life of the process.
template <class Function, class... Trees> struct program_text {
  static constexpr auto short_text = print_program<4096, Function, Trees...>();
  static constexpr std::string_view view() {
    if constexpr (short_text.size < 4096) return short_text.view();
    else return long_text<>.view();
  }
  template <int Capacity = 65536> static constexpr auto long_text = print_program<Capacity, Function, Trees...>();
};

/// The leaf type by which a program knows an argument leaf. Specialised for arrays beside them.
template <class T> struct abstract_leaf {
  using type = T;
};
template <scalar T> struct abstract_leaf<T> {
  using type = abstract_array<element_t<scalar_type_of<T>>, extents_t<>, true>;
};
template <int Rank> struct abstract_leaf<extent_list<Rank>> {
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

} // namespace parallax
