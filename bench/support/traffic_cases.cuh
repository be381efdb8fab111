// What memory limits, for 2^26 elements of 32 and 16 bits: elementwise operations and sums, of operands that lie as
// vectors do and that do not.
#pragma once

#include "program_case.cuh"

#include <parallax/math/scalar_math.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace bench {

struct traffic_programs {
  static constexpr auto line = plx::jit([](auto x) { return 2.f * x + 1.f; });
  static constexpr auto added = plx::jit([](auto x, auto y) { return x + y; });
  static constexpr auto chain =
      plx::jit([](auto x, auto y) { return plx::tanh(2.f * x + y) * plx::exp(-y) - x / (1.f + plx::square(y)); });
  static constexpr auto gelu = plx::jit([](auto x) { return plx::gelu(x); });
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x) + y; });
  static constexpr auto differences =
      plx::jit([](auto x) { return plx::slice_in_dim(x, 1, plx::none, 1, 1) - plx::slice_in_dim(x, 0, -1, 1, 1); });

  static constexpr auto sum_all = plx::jit([](auto x) { return plx::sum(x); });
  static constexpr auto sum_rows = plx::jit([](auto x) { return plx::sum(x, 1); });
  static constexpr auto sum_columns = plx::jit([](auto x) { return plx::sum(x, 0); });
  static constexpr auto max_rows = plx::jit([](auto x) { return plx::max(x, 1); });
  static constexpr auto argmax_rows = plx::jit([](auto x) { return plx::argmax(x, 1); });
  static constexpr auto dot = plx::jit([](auto x, auto y) { return plx::dot(x, y); });
};

/// The chain as a kernel written by hand, 16 bytes at a time.
struct chain_kernel {
  struct arguments {
    const float* x;
    const float* y;
    float* z;
    std::int64_t vectors;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    using vector = plx::cuda::vector_of<float, 4>;
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.vectors; i += step) {
      const vector x = block.load(reinterpret_cast<const vector*>(a.x) + i);
      const vector y = block.load(reinterpret_cast<const vector*>(a.y) + i);
      vector z;
      for (int k = 0; k < 4; ++k) {
        const float p = x.values[k], q = y.values[k];
        z.values[k] = plx::math::tanh(2.f * p + q) * plx::math::exp(-q) - p / (1.f + q * q);
      }
      block.store(reinterpret_cast<vector*>(a.z) + i, z);
    }
  }
};

inline constexpr std::int64_t traffic_rows = 1 << 14, traffic_columns = 1 << 12;
using matrix_shape = std::array<std::int64_t, 2>;
using vector_shape = std::array<std::int64_t, 1>;
inline constexpr matrix_shape traffic_matrix{traffic_rows, traffic_columns};
inline constexpr vector_shape traffic_vector{traffic_rows * traffic_columns};

/// A program of arrays of these shapes.
template <class T, class Program, class... Shapes>
prepared_case program_of(const Program& program, double tolerance, const Shapes&... shapes) {
  unsigned seed = 0;
  const std::tuple arguments{
      random_array<T, static_cast<int>(std::tuple_size_v<Shapes>)>(shapes, ++seed)...}; // in order
  return std::apply([&](const auto&... x) { return one_program(program, tolerance, x...); }, arguments);
}

template <class T> void add_elementwise(std::vector<gpu_case>& cases, double tolerance) {
  const double array = static_cast<double>(sizeof(T)) * static_cast<double>(traffic_vector[0]);
  auto add = [&](const std::string& name, double arrays, double aim, const auto& program, const auto&... shapes) {
    cases.push_back(copied(name + ", " + type_name<T>, arrays * array, aim,
                           [=, &program] { return program_of<T>(program, tolerance, shapes...); }));
  };
  add("2x + 1", 2, 0.95, traffic_programs::line, traffic_vector);
  add("x + y", 3, 0.95, traffic_programs::added, traffic_vector, traffic_vector);
  add("chain", 3, 0.95, traffic_programs::chain, traffic_vector, traffic_vector);
  if constexpr (std::is_same_v<T, float>)
    cases.back().prepare = [before = cases.back().prepare] {
      prepared_case prepared = before();
      const auto x = random_array<float, 1>(traffic_vector, 1), y = random_array<float, 1>(traffic_vector, 2),
                 z = uninitialised<float, 1>(traffic_vector);
      const auto blocks = static_cast<unsigned>(device().properties.multiprocessors * 16);
      prepared.contenders.push_back({"kernel by hand", [=] {
                                       plx::cuda::check(
                                           api::launch(chain_kernel{}, {blocks, 256, 0}, stream(),
                                                       {data_of(x), data_of(y), data_of(z), x.size() / 4}));
                                     }});
      prepared.check = [=, check = prepared.check, by_hand = prepared.contenders[1]] {
        check();
        by_hand.enqueue();
        const auto ours = traffic_programs::chain(x, y);
        require_close(data_of(ours), data_of(z), z.size(), 1e-5, by_hand.name);
      };
      return prepared;
    };
  add("gelu", 2, 0.95, traffic_programs::gelu, traffic_vector);
  add("transposed, and a sum", 3, 0.85, traffic_programs::transposed, matrix_shape{traffic_columns, traffic_rows},
      traffic_matrix);
  add("differences of neighbours", 2, 0.85, traffic_programs::differences, traffic_matrix);
}

template <class T> void add_reductions(std::vector<gpu_case>& cases, double tolerance) {
  const double array = static_cast<double>(sizeof(T)) * static_cast<double>(traffic_vector[0]);
  auto add = [&](const std::string& name, double arrays, const auto& program, const auto&... shapes) {
    cases.push_back(read(name + ", " + type_name<T>, arrays * array, 0.9,
                         [=, &program] { return program_of<T>(program, tolerance, shapes...); }));
  };
  add("sum of all", 1, traffic_programs::sum_all, traffic_matrix);
  add("sums of rows", 1, traffic_programs::sum_rows, traffic_matrix);
  add("sums of columns", 1, traffic_programs::sum_columns, traffic_matrix);
  add("largest of rows", 1, traffic_programs::max_rows, traffic_matrix);
  add("argmax of rows", 1, traffic_programs::argmax_rows, traffic_matrix);
  add("dot of vectors", 2, traffic_programs::dot, traffic_vector, traffic_vector);
  add("matrix by a vector", 1, traffic_programs::dot, traffic_matrix, vector_shape{traffic_columns});
}

inline std::vector<gpu_case> elementwise_cases() {
  std::vector<gpu_case> cases;
  add_elementwise<float>(cases, 1e-5);
  add_elementwise<plx::bfloat16>(cases, 1e-2);
  return cases;
}
inline std::vector<gpu_case> reduction_cases() {
  std::vector<gpu_case> cases;
  add_reductions<float>(cases, 1e-5);
  add_reductions<plx::bfloat16>(cases, 1e-2);
  return cases;
}

} // namespace bench
