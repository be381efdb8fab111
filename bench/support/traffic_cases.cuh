// What memory limits, in 32 and 16 bits: sums, rows that are normalised, transposed operands, activations, and operands
// that do not lie as vectors do.
#pragma once

#include "row_cases.cuh"

namespace bench {

struct traffic_programs {
  static constexpr auto sum_all = plx::jit([](auto x) { return plx::sum(x); });
  static constexpr auto sum_rows = plx::jit([](auto x) { return plx::sum(x, 1); });
  static constexpr auto sum_columns = plx::jit([](auto x) { return plx::sum(x, 0); });
  static constexpr auto max_rows = plx::jit([](auto x) { return plx::max(x, 1); });
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x) + y; });
  static constexpr auto gelu = plx::jit([](auto x) { return plx::gelu(x); });
  static constexpr auto differences =
      plx::jit([](auto x) { return plx::slice_in_dim(x, 1, plx::none, 1, 1) - plx::slice_in_dim(x, 0, -1, 1, 1); });
};

/// The cases of one type of elements.
template <class T> void add_traffic_cases(std::vector<gpu_case>& cases, const std::string& type, double tolerance) {
  constexpr std::int64_t rows = 1 << 14, columns = 1 << 12;
  constexpr double read = double(sizeof(T)) * double(rows) * double(columns);
  const auto add = [&](const std::string& name, double bytes, const auto& program, const auto&... shapes) {
    cases.push_back(traffic_case(name + ", " + type, bytes, [=] {
      return one_program(
          program, tolerance,
          random_array<T, static_cast<int>(std::tuple_size_v<std::remove_cvref_t<decltype(shapes)>>)>(shapes, 1)...);
    }));
  };
  using matrix = std::array<std::int64_t, 2>;
  using vector = std::array<std::int64_t, 1>;
  add("sum of all", read, traffic_programs::sum_all, matrix{rows, columns});
  add("sums of rows", read, traffic_programs::sum_rows, matrix{rows, columns});
  add("sums of columns", read, traffic_programs::sum_columns, matrix{rows, columns});
  add("largest of rows", read, traffic_programs::max_rows, matrix{rows, columns});
  for (const std::int64_t length : {std::int64_t{1023}, columns, std::int64_t{1} << 17})
    add("softmax of " + std::to_string(length), 2 * read, row_programs::softmax,
        matrix{rows * columns / length, length});
  add("layernorm of " + std::to_string(columns), 2 * read, row_programs::layernorm, matrix{rows, columns},
      vector{columns}, vector{columns});
  add("transposed, and a sum", 3 * read, traffic_programs::transposed, matrix{columns, rows}, matrix{rows, columns});
  add("gelu", 2 * read, traffic_programs::gelu, matrix{rows, columns});
  add("differences of neighbours", 2 * read, traffic_programs::differences, matrix{rows, columns});
}

inline std::vector<gpu_case> traffic_cases() {
  std::vector<gpu_case> cases;
  add_traffic_cases<float>(cases, "float32", 1e-5);
  add_traffic_cases<plx::bfloat16>(cases, "bfloat16", 1e-2);
  return cases;
}

} // namespace bench
