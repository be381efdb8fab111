// The pools of a program's records: growing ones while it is planned, arrays of their exact sizes when it is done.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/trace/words.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/kernel_records.hpp>
#include <parallax/program/section_records.hpp>
#include <parallax/program/shape_records.hpp>
#include <parallax/program/steps.hpp>
#include <parallax/transforms/calls/ffi_function.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

template <class... T> struct type_list {
  static constexpr std::size_t size = sizeof...(T);
};

/// Every type that has a pool.
using record_types =
    type_list<dim, int, char, value_id, atom_record, term_record, entry_record, mapped_argument_record, guard_record,
              kernel_statement, kernel_record, buffer_record, spread_dimension, output_record, step_record,
              section_record, operand_record, kernel_constant, kernel_step, product_step, epilogue_step,
              accumulation_step, placed_product_step, launch_batch_step, group_record, exchange_step, axis_slice_step,
              mapped_operand, mapped_section_step, scan_operand, scan_result, scan_step, while_step, section_id,
              buffer_id, cond_step, ffi_array, ffi_step>;

/// The record of a user's loop. Each has members that the other lacks.
template <class Step>
concept loop_step = std::is_same_v<Step, scan_step> || std::is_same_v<Step, while_step>;

template <class T> struct record_pool {
  growing_vector<T> items;
};
template <class List> struct record_pools;
template <class... T> struct record_pools<type_list<T...>> : record_pool<T>... {};

/// A program while it is planned.
class plan_builder {
 public:
  /// Appends records.
  template <class List> constexpr auto add_list(const List& list) {
    using T = std::remove_cvref_t<decltype(*list.begin())>;
    growing_vector<T>& pool = items<T>();
    record_list<T> added{count_of(pool), count_of(list)};
    for (const T& item : list) pool.push_back(item);
    return added;
  }
  /// Appends a record; returns its place in the pool.
  template <class T> constexpr int add(const T& item) {
    items<T>().push_back(item);
    return count_of(items<T>()) - 1;
  }
  constexpr value_record add_value(const abstract_value& value) { return {value.type, add_list(value.shape)}; }

  template <class T> constexpr const T& at(int index) const { return items<T>()[index_of(index)]; }
  template <class T> constexpr int size() const { return count_of(items<T>()); }
  template <class T> constexpr plain_span<const T> operator[](record_list<T> list) const {
    return {items<T>().data() + list.first, index_of(list.count)};
  }

  /// Writes the pools' sizes, and then all records.
  template <class Sink> constexpr void write(Sink& sink) const { write_all(sink, record_types{}); }

 private:
  record_pools<record_types> pools;

  template <class T> constexpr growing_vector<T>& items() { return static_cast<record_pool<T>&>(pools).items; }
  template <class T> constexpr const growing_vector<T>& items() const {
    return static_cast<const record_pool<T>&>(pools).items;
  }
  template <class Sink, class... T> constexpr void write_all(Sink& sink, type_list<T...>) const {
    (sink(size<T>()), ...);
    word_writer<Sink> writer(sink);
    (write_pool(items<T>(), writer), ...);
  }
  template <class T, class Writer> static constexpr void write_pool(const growing_vector<T>& pool, Writer& writer) {
    for (const T& item : pool) writer(item);
  }
};

template <class T> struct record_view {
  const T* items = nullptr;
  int count = 0;
};
template <class List> struct record_views;
template <class... T> struct record_views<type_list<T...>> : record_view<T>... {};

/// A program as the backends see it, whatever its size.
class plan_view {
 public:
  record_views<record_types> views{};
  const ffi_function* const* ffi_functions = nullptr; ///< by number

  template <class T> constexpr const T& at(int index) const {
    return static_cast<const record_view<T>&>(views).items[index];
  }
  template <class T> constexpr int size() const { return static_cast<const record_view<T>&>(views).count; }
  template <class T> constexpr plain_span<const T> all() const {
    const record_view<T>& view = views;
    return {view.items, index_of(view.count)};
  }
  template <class T> constexpr plain_span<const T> operator[](record_list<T> list) const {
    return {static_cast<const record_view<T>&>(views).items + list.first, index_of(list.count)};
  }
  constexpr const section_record& section(section_id id) const { return at<section_record>(static_cast<int>(id)); }
};

template <class T, std::size_t Size> struct record_array {
  T items[Size == 0 ? 1 : Size]{};

  constexpr void read(word_reader& reader) {
    for (std::size_t i = 0; i != Size; ++i) reader(items[i]);
  }
};
template <class List, std::size_t... Sizes> struct record_arrays;
template <class... T, std::size_t... Sizes>
struct record_arrays<type_list<T...>, Sizes...> : record_array<T, Sizes>... {
  /// Reads the records that a plan wrote; the sizes are known already.
  constexpr explicit record_arrays(word_reader reader) { (record_array<T, Sizes>::read(reader), ...); }

  constexpr plan_view view(const ffi_function* const* ffi_functions = nullptr) const {
    plan_view result;
    result.ffi_functions = ffi_functions;
    ((static_cast<record_view<T>&>(result.views) = {record_array<T, Sizes>::items, static_cast<int>(Sizes)}), ...);
    return result;
  }
};

/// Calls `f` with the record of a step.
template <class Plan, class F> constexpr decltype(auto) visit_step(const Plan& plan, step_record step, F&& f) {
  switch (step.kind) {
  case step_kind::kernel: break;
  case step_kind::product: return f(plan.template at<product_step>(step.index));
  case step_kind::epilogue: return f(plan.template at<epilogue_step>(step.index));
  case step_kind::accumulation: return f(plan.template at<accumulation_step>(step.index));
  case step_kind::placed_product: return f(plan.template at<placed_product_step>(step.index));
  case step_kind::launch_batch: return f(plan.template at<launch_batch_step>(step.index));
  case step_kind::exchange: return f(plan.template at<exchange_step>(step.index));
  case step_kind::axis_slice: return f(plan.template at<axis_slice_step>(step.index));
  case step_kind::mapped_section: return f(plan.template at<mapped_section_step>(step.index));
  case step_kind::scan: return f(plan.template at<scan_step>(step.index));
  case step_kind::while_loop: return f(plan.template at<while_step>(step.index));
  case step_kind::cond: return f(plan.template at<cond_step>(step.index));
  case step_kind::ffi: return f(plan.template at<ffi_step>(step.index));
  }
  return f(plan.template at<kernel_step>(step.index));
}

/// Calls `f` with every member of type `Member` of a record, or of a record in its lists.
template <class Member, class Plan, class F> class member_visitor {
 public:
  constexpr member_visitor(const Plan& all, F& function) : plan(all), f(function) {}

  constexpr void operator()(const Member& member) { f(member); }
  template <class T> constexpr void operator()(const T& member) {
    if constexpr (described<const T, member_visitor>) T::describe(member, *this);
  }
  template <class T> constexpr void operator()(record_list<T> list) {
    if constexpr (std::is_same_v<T, Member> || described<const T, member_visitor>)
      for (const T& item : plan[list]) (*this)(item);
  }
  constexpr void operator()(step_record step) {
    visit_step(plan, step, [this](const auto& record) { (*this)(record); });
  }

 private:
  const Plan& plan;
  F& f;
};
/// Calls `f` with every buffer that a step reads or writes; a call uses those that it passes on.
template <class Plan, class F> constexpr void visit_buffers(const Plan& plan, step_record step, F&& f) {
  auto named = [&](buffer_id buffer) {
    if (buffer != buffer_id::none) f(buffer);
  };
  member_visitor<buffer_id, Plan, decltype(named)> visitor(plan, named);
  visitor(step);
}
/// Calls `f` with every extent of a record: a step, or a buffer.
template <class Plan, class Record, class F>
constexpr void visit_extents(const Plan& plan, const Record& record, F&& f) {
  member_visitor<dim, Plan, std::remove_reference_t<F>> visitor(plan, f);
  visitor(record);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
