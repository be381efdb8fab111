// Rows of 2^26 elements in all that are normalised, and the derivatives of that.
#pragma once

#include "program_case.cuh"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

struct row_programs {
  static constexpr auto normalised = [](auto x, auto scale, auto shift) {
    auto centred = x - plx::mean(x, 1, plx::keepdims);
    return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f) * scale + shift;
  };
  static constexpr auto loss = [](auto x, auto labels) {
    auto right = plx::take_along_axis(x, plx::expand_dims(labels, 1), 1);
    return plx::mean(plx::logsumexp(x, 1, plx::keepdims) - right);
  };
  static constexpr auto softmax = plx::jit([](auto x) { return plx::softmax(x); });
  static constexpr auto layernorm = plx::jit(normalised);
  static constexpr auto cross_entropy = plx::jit(loss);

  // of sums that are weighted by `by`, which so is the cotangent
  static constexpr auto softmax_gradient =
      plx::jit(plx::grad([](auto x, auto by) { return plx::sum(plx::softmax(x) * by); }));
  static constexpr auto layernorm_gradient = plx::jit(
      plx::grad([](auto x, auto scale, auto shift, auto by) { return plx::sum(normalised(x, scale, shift) * by); },
                plx::argnums<0, 1, 2>));
  static constexpr auto cross_entropy_gradient = plx::jit(plx::grad(loss));
};

/// Which element of each row is the right one.
inline plx::array<std::int32_t, 1> row_labels(std::int64_t rows, std::int64_t columns) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 7919 % columns);
  return plx::array<std::int32_t, 1>({rows}, std::move(labels));
}

/// A program of rows whose arguments `arguments(rows)` makes. Fewer rows are checked than are timed.
template <class Program, class Make>
prepared_case row_program(const Program& program, double tolerance, std::int64_t columns, const Make& arguments) {
  const auto of = [=](std::int64_t elements) { return arguments(std::max<std::int64_t>(elements / columns, 1)); };
  prepared_case prepared =
      std::apply([&](const auto&... x) { return one_program(program, tolerance, x...); }, of(1 << 26));
  prepared.check = [=] {
    std::apply([&](const auto&... x) { check_against_host(program, tolerance, x...); }, of(1 << 24));
  };
  return prepared;
}

/// The arguments of the programs, for so many rows.
template <class T> struct row_arguments {
  std::int64_t columns = 1;

  plx::array<T, 2> matrix(std::int64_t rows, unsigned seed) const { return random_array<T, 2>({rows, columns}, seed); }
  plx::array<T, 1> vector(unsigned seed) const { return random_array<T, 1>({columns}, seed); }
  double bytes() const { return static_cast<double>(sizeof(T)) * static_cast<double>((1 << 26) / columns * columns); }
  std::string text() const { return " of " + std::to_string(columns) + ", " + type_name<T>; }
};

template <class T> void add_rows(std::vector<gpu_case>& cases, std::int64_t columns) {
  const row_arguments<T> of{columns};
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-2;
  auto add = [&](const std::string& name, double arrays, const auto& program, const auto& make) {
    cases.push_back(copied(name + of.text(), arrays * of.bytes(), 0.9,
                           [=, &program] { return row_program(program, tolerance, columns, make); }));
    if (columns >= 1024) cases.back().aims.push_back({"torch.compile", 1});
  };
  add("softmax", 2, row_programs::softmax, [=](std::int64_t rows) { return std::tuple{of.matrix(rows, 1)}; });
  add("layernorm", 2, row_programs::layernorm,
      [=](std::int64_t rows) { return std::tuple{of.matrix(rows, 1), of.vector(2), of.vector(3)}; });
  add("cross-entropy", 1, row_programs::cross_entropy,
      [=](std::int64_t rows) { return std::tuple{of.matrix(rows, 1), row_labels(rows, columns)}; });
}

template <class T> void add_row_gradients(std::vector<gpu_case>& cases, std::int64_t columns) {
  const row_arguments<T> of{columns};
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 2e-2;
  auto add = [&](const std::string& name, double arrays, const auto& program, const auto& make) {
    cases.push_back(copied("gradient of " + name + of.text(), arrays * of.bytes(), 0.85,
                           [=, &program] { return row_program(program, tolerance, columns, make); }));
  };
  add("softmax", 3, row_programs::softmax_gradient,
      [=](std::int64_t rows) { return std::tuple{of.matrix(rows, 1), of.matrix(rows, 2)}; });
  add("layernorm", 3, row_programs::layernorm_gradient, [=](std::int64_t rows) {
    return std::tuple{of.matrix(rows, 1), of.vector(2), of.vector(3), of.matrix(rows, 4)};
  });
  add("cross-entropy", 2, row_programs::cross_entropy_gradient,
      [=](std::int64_t rows) { return std::tuple{of.matrix(rows, 1), row_labels(rows, columns)}; });
}

/// Rows that fit registers, that do not, of odd lengths, of a vocabulary.
inline std::vector<gpu_case> row_cases() {
  std::vector<gpu_case> cases;
  for (std::int64_t columns : {1024, 4096, 16384, 50257, 131072, 400000, 8192, 32768, 64, 256, 1023})
    add_rows<float>(cases, columns);
  for (std::int64_t columns : {1024, 4096, 50257, 131072, 400000}) add_rows<plx::bfloat16>(cases, columns);
  return cases;
}
inline std::vector<gpu_case> row_gradient_cases() {
  std::vector<gpu_case> cases;
  for (std::int64_t columns : {1024, 4096, 50257, 131072, 400000}) add_row_gradients<float>(cases, columns);
  for (std::int64_t columns : {4096, 50257}) add_row_gradients<plx::bfloat16>(cases, columns);
  return cases;
}

} // namespace bench
