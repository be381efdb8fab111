// Tries many drawn programs on a backend, beside what an interpreter of them says.
#pragma once

#include "support/interpreter/draw_program.hpp"
#include "support/interpreter/interpret.hpp"
#include "support/interpreter/run_traced.hpp"
#include "support/interpreter/shrink.hpp"
#include "support/interpreter/trace_drawn.hpp"
#include "support/test.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace properties {

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody changes the environment
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline std::vector<program_argument> draw_arguments(const drawn_program& p, std::mt19937_64& engine) {
  std::vector<program_argument> arguments;
  for (variable v : p.main.parameters) {
    const value_type& type = p.type_of(v);
    program_argument x{type.is_whole ? element_type::int32 : element_type::float64, type.shape, {}, engine() % 2 == 0};
    for (int k = 0; k < count_of_elements(type.shape); ++k)
      x.elements.push_back(type.is_whole ? static_cast<double>(engine() % 4)
                                         : std::uniform_real_distribution<double>(-1.5, 1.5)(engine));
    arguments.push_back(x);
  }
  return arguments;
}

inline std::vector<std::vector<double>>
interpreted_once(const drawn_program& p, const std::vector<program_argument>& arguments, double factor) {
  work_left work{2'000'000};
  std::vector<instances_of<double>> inputs;
  for (const program_argument& x : arguments) {
    inputs.push_back({x.shape, {x.elements}});
    for (double& element : inputs.back().elements[0])
      if (x.type == element_type::float64) element *= factor;
  }
  std::vector<std::vector<double>> results;
  for (const auto& y : interpreter<double>(p, work, factor).call(p.main, inputs)) results.push_back(y.elements[0]);
  return results;
}
/// Throws `no_test` where a change as small as rounding shows.
inline std::vector<std::vector<double>> interpreted(const drawn_program& p,
                                                    const std::vector<program_argument>& arguments) {
  const auto results = interpreted_once(p, arguments, 1), others = interpreted_once(p, arguments, 1 + 1e-12);
  for (std::size_t k = 0; k < results.size(); ++k)
    for (std::size_t i = 0; i < results[k].size(); ++i)
      if (!(std::abs(results[k][i] - others[k][i]) < 1e-8)) throw no_test("rounding errors grow");
  return results;
}

/// Runs programs: `run(call, traced program, arguments)` gives the results of each of `calls` calls.
template <class Run> class drawn_test {
 public:
  drawn_test(int calls_of_each, const Run& on_backend) : calls(calls_of_each), run(on_backend) {}

  void try_programs(std::uint64_t wanted) {
    const std::uint64_t first = setting("PARALLAX_DRAWN_FROM", 1);
    wanted = setting("PARALLAX_DRAWN_PROGRAMS", wanted);
    std::uint64_t tested = 0, faults = 0, drawn = 0;
    for (std::uint64_t seed = first; tested < wanted && faults < 3; ++seed) {
      REQUIRE(++drawn <= 10 * wanted); // most are worth a test
      const drawn_program p = program_drawer(seed).draw();
      std::mt19937_64 engine(seed);
      const std::vector<program_argument> arguments = draw_arguments(p, engine);
      try {
        const std::string fault = fault_of(p, arguments, interpreted(p, arguments));
        ++tested;
        count_orders(dead_code::removed(p));
        if (fault.empty()) continue;
      } catch (const no_test&) {
        continue;
      }
      ++faults;
      report(p, arguments, seed);
    }
    CHECK(faults == 0);
    if (faults == 0) check_orders(tested);
  }

 private:
  int calls;
  const Run& run;
  const std::vector<nest_order> orders = all_nest_orders();
  std::vector<int> programs_of = std::vector<int>(orders.size()); ///< each order

  void count_orders(const drawn_program& p) {
    for (std::size_t k = 0; k < orders.size(); ++k) programs_of[k] += has_order(p.main, orders[k]) ? 1 : 0;
  }
  /// Many programs have nests in all orders, some with each kind outermost; a few that are tried again need not.
  void check_orders(std::uint64_t tested) const {
    int of_one_outermost = 0;
    for (std::size_t k = 0; k < orders.size(); ++k) {
      if (tested >= 2000 && programs_of[k] == 0) FAIL_CHECK("no program has a " << name_of(orders[k]));
      of_one_outermost += programs_of[k];
      if (k + 1 < orders.size() && orders[k + 1][0] == orders[k][0]) continue;
      if (tested >= 100 && of_one_outermost == 0) FAIL_CHECK("no program has all others in a " << name_of(orders[k]));
      of_one_outermost = 0;
    }
  }

  /// What is wrong with a program; nothing where it is right. Later calls find memory, and graphs, as the first one
  /// left them.
  std::string fault_of(const drawn_program& p, const std::vector<program_argument>& arguments,
                       const std::vector<std::vector<double>>& expected) const {
    std::ostringstream fault;
    try {
      traced_program traced(
          [&](plx::detail::context& trace, const std::vector<tracer>& inputs) {
            return drawn_tracing(p, trace).call(p.main, inputs);
          },
          arguments);
      run(traced, arguments, calls, [&](int call, const std::vector<std::vector<double>>& found) {
        for (std::size_t k = 0; k < expected.size(); ++k)
          for (std::size_t i = 0; i < expected[k].size(); ++i)
            if (!(std::abs(found.at(k).at(i) - expected[k][i]) <= 1e-7 * (1 + std::abs(expected[k][i]))))
              fault << "call " << call << ", result " << k << ", element " << i << ": " << found[k][i] << " is not "
                    << expected[k][i] << '\n';
      });
    } catch (const std::exception& e) {
      fault << e.what() << '\n';
    }
    return fault.str();
  }

  void report(const drawn_program& p, const std::vector<program_argument>& arguments, std::uint64_t seed) const {
    auto fault = [&](const drawn_program& of) {
      try {
        return fault_of(of, arguments, interpreted(of, arguments));
      } catch (const no_test&) {
        return std::string();
      }
    };
    const drawn_program small = shrunk(p, [&](const drawn_program& smaller) { return !fault(smaller).empty(); });
    std::ostringstream text;
    print(text, small, small.main, 0);
    FAIL_CHECK("PARALLAX_DRAWN_FROM=" << seed << '\n' << fault(small) << text.str());
  }
};

} // namespace properties
