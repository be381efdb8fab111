// A plan as text, for people and tests: sections with their steps, and kernels with their statements. Each record is
// the members that it lists, in that order.
#pragma once

#include <parallax/compile/plan/lower.hpp>
#include <parallax/compile/trace/trace.hpp>
#include <parallax/core/support/text.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <string_view>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Prints a record as `(a b)`, with the members that it describes, and a list of records as `[a b]`.
template <class Plan, class Out> class record_printer {
 public:
  constexpr record_printer(const Plan& all, Out& to) : plan(all), out(to) {}

  template <class T> constexpr void operator()(const T& member) {
    if (!first) out << ' ';
    first = true;
    print(member);
    first = false;
  }

 private:
  const Plan& plan;
  Out& out;
  bool first = true; ///< of a record's members, or of a list

  constexpr void print(dim extent) {
    if (is_static(extent)) out << extent.number();
    else out << "extent " << extent.entry();
  }
  constexpr void print(primitive_id id) {
    out << (id == primitive_id::input ? "none" : rule_table<primitives::catalogue>::entries[index_of(id)].name);
  }
  constexpr void print(record_list<char> text) {
    for (char c : plan[text]) out << c;
  }
  template <class T> constexpr void print(record_list<T> list) { print_all('[', plan[list], ']'); }
  template <class T, int Capacity> constexpr void print(const small_vector<T, Capacity>& list) {
    print_all('[', list, ']');
  }
  template <class T> constexpr void print(const T& member) {
    if constexpr (described<const T, record_printer>) {
      out << '(';
      T::describe(member, *this);
      out << ')';
    } else if constexpr (requires { name_of(member); }) {
      out << name_of(member);
    } else {
      out << static_cast<std::int64_t>(member);
    }
  }
  template <class List> constexpr void print_all(char begin, const List& list, char end) {
    out << begin;
    for (const auto& item : list) (*this)(item);
    out << end;
  }
};

/// Prints a step, by the name of its kind.
template <class Plan, class Out> constexpr void print_step(Out& out, const Plan& plan, step_record step) {
  out << name_of(step.kind) << ' ';
  visit_step(plan, step, [&](const auto& record) { record_printer<Plan, Out>(plan, out)(record); });
}

/// Prints a plan while it is made (`plan_builder`), or when it is done (`plan_view`).
template <class Plan, class Out> constexpr void print_plan(Out& out, const Plan& plan) {
  for (int s = 0; s < plan.template size<section_record>(); ++s) {
    out << "section " << s << '\n';
    for (step_record step : plan[plan.template at<section_record>(s).steps]) {
      out << "  ";
      print_step(out, plan, step);
      out << '\n';
    }
  }
  for (int k = 0; k < plan.template size<kernel_record>(); ++k) {
    out << "kernel " << k << '\n';
    for (const kernel_statement& statement : plan[plan.template at<kernel_record>(k).statements]) {
      out << "  ";
      record_printer<Plan, Out>(plan, out)(statement);
      out << '\n';
    }
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
