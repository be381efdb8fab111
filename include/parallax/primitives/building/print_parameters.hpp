// A primitive's parameters as text: `[dimension=0 tiled=true]`.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/primitive.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Prints a graph of a trace at a depth of indentation.
using graph_printer = void (*)(long_text&, const context&, graph_id, int indent);

/// Prints parameters by their descriptions. It leaves out lists that are empty, flags that are false, and choices that
/// are the first of their kind.
class parameter_printer {
 public:
  constexpr parameter_printer(long_text& text, const context& owner, graph_printer bodies, int depth)
      : out(text), trace(owner), print_body(bodies), indent(depth) {}

  constexpr void operator()(std::string_view name, const auto& member) {
    if (goes_without_saying(member)) return;
    out << (any ? " " : "[") << name << '=';
    any = true;
    print(member);
  }
  constexpr void finish() {
    if (any) out << ']';
  }

 private:
  long_text& out;
  const context& trace;
  graph_printer print_body;
  int indent;
  bool any = false;

  template <class T> static constexpr bool goes_without_saying(const T& member) {
    if constexpr (growing_list<T>) return member.begin() == member.end();
    else if constexpr (requires { name_of(member); }) return !std::same_as<T, element_type> && member == T{};
    else if constexpr (std::same_as<T, bool>) return !member;
    else return false;
  }

  constexpr void print(dim extent) { print_extent(out, trace.extents, extent); }
  constexpr void print(graph_id body) { print_body(out, trace, body, indent); }
  constexpr void print(axis_id axis) {
    std::string_view name = trace.axes[axis].name;
    if (name.empty()) out << "<axis " << static_cast<int>(axis) << '>';
    else out << name;
  }
  template <class T> constexpr void print(const T& member) {
    if constexpr (requires { name_of(member); }) out << name_of(member);
    else if constexpr (std::same_as<T, bool>) out << (member ? "true" : "false");
    else if (member == unmapped) out << "None";
    else out << static_cast<std::int64_t>(member);
  }
  template <growing_list List> constexpr void print(const List& list) {
    out << '(';
    bool first = true;
    for (const auto& item : list) {
      if (!first) out << ',';
      first = false;
      print(item);
    }
    out << ')';
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
