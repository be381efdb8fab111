// Programs that are traced, planned and run while a test runs, by the host backend, with kernels that are interpreted.
#pragma once

#include "support/interpreter/kernel_interpreter.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace properties {

/// Stands where a program's type would: there is one at a time.
struct program_of_the_moment {
  static inline compiled::plan_view plan{};
  static constexpr int most_kernels = 512;
};
template <int Number> void run_kernel_number(kernel_arguments& a) {
  kernel_interpreter(host_memory{}, program_of_the_moment::plan, compiled::kernel_id{Number}, a).run();
}
constexpr auto all_kernel_numbers() {
  return []<int... Number>(std::integer_sequence<int, Number...>) {
    return std::array{&run_kernel_number<Number>...};
  }(std::make_integer_sequence<int, program_of_the_moment::most_kernels>{});
}

} // namespace properties

template <> struct parallax::host::kernel_table<properties::program_of_the_moment> {
  static constexpr auto functions = properties::all_kernel_numbers();
};

namespace properties {

/// An argument: its elements, and whether its extents are known while the program is traced.
struct program_argument {
  element_type type = element_type::float64;
  std::vector<int> shape{};
  std::vector<double> elements{};
  bool is_dynamic = false;
};

/// The values of a program that `trace` makes of tracers; throws what is wrong with it.
class traced_program {
 public:
  using function = std::function<std::vector<plx::tracer>(plx::detail::context&, const std::vector<plx::tracer>&)>;

  traced_program(const function& traced, const std::vector<program_argument>& arguments) {
    trace.append = &plx::detail::append_operation;
    trace.rules = plx::detail::rule_table<plx::primitives::catalogue>::entries;
    std::vector<plx::tracer> inputs;
    for (const program_argument& x : arguments) {
      plx::detail::abstract_value value{x.type, false, {}};
      for (std::size_t k = 0; k < x.shape.size(); ++k)
        value.shape.push_back(x.is_dynamic ? trace.extents.symbol(static_cast<int>(inputs.size()), static_cast<int>(k))
                                           : plx::detail::dim{x.shape[k]});
      inputs.push_back(plx::detail::new_input(trace, value));
    }
    for (const plx::tracer& y : traced(trace, inputs)) plx::detail::add_output(trace, y);
    if (!trace.failed) plx::detail::lower(trace, plan);
    if (!trace.failed) trace.check_extents("lowering");
    if (trace.failed) throw std::runtime_error(std::string(trace.error.view()));
    plx::detail::add_extents(plan, trace.extents);
    plx::detail::add_guards(plan, trace.guards);
    if (plan.size<compiled::kernel_record>() > program_of_the_moment::most_kernels)
      throw std::logic_error("a program of too many kernels");
    look(compiled::record_types{});
  }

  /// `on_backend` runs a plan, that of the moment, on values.
  template <class Run>
  std::vector<std::vector<double>> run(const std::vector<program_argument>& arguments, const Run& on_backend) {
    program_of_the_moment::plan = view;
    plx::runtime::recycled_vector<plx::runtime::runtime_value> values;
    for (const program_argument& x : arguments) values.push_back(value_of(x));
    std::vector<std::vector<double>> results;
    for (plx::runtime::runtime_value& y : on_backend(std::move(values))) {
      const std::byte* const first = y.host_data();
      results.emplace_back();
      for (std::int64_t k = 0; k < y.count(); ++k) {
        const kernel_number number =
            load(host_memory{}, y.type, first + static_cast<std::size_t>(k) * plx::size_of(y.type));
        results.back().push_back(plx::detail::is_inexact(y.type) ? number.real : static_cast<double>(number.whole));
      }
    }
    return results;
  }

 private:
  plx::detail::context trace;
  compiled::plan_builder plan;
  compiled::plan_view view;

  template <class... T> void look(compiled::type_list<T...>) { (look_at<T>(), ...); }
  template <class T> void look_at() {
    const int count = plan.size<T>();
    static_cast<compiled::record_view<T>&>(view.views) = {plan[compiled::record_list<T>{0, count}].data(), count};
  }
  static plx::runtime::runtime_value value_of(const program_argument& x) {
    plx::runtime::runtime_value value;
    value.type = x.type;
    for (int extent : x.shape) value.shape.push_back(extent);
    value.on_host = true;
    value.host = plx::detail::buffer::allocate(value.bytes());
    for (std::size_t k = 0; k < x.elements.size(); ++k)
      store(host_memory{}, x.type, value.host.data() + k * plx::size_of(x.type),
            {x.elements[k], static_cast<std::int64_t>(x.elements[k])});
    return value;
  }
};

} // namespace properties
