// Products of matrices and vectors on devices: sums by kernels, of any layout, against plain loops.
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace vector_products_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;
using plx::cuda::matrix_product;

struct layout {
  std::int64_t results, depth;
  bool of_columns = false; ///< of the matrix that lies in rows: a vector on its left
  bool transposed = false;
  std::int64_t batch = 1, shift = 0; ///< of everything, in elements
  bool has_base = false, at_addresses = false;
  int launches = 1;
};

template <class T> constexpr plx::element_type type = plx::element_type_of<T>;

/// Small whole numbers, whose sums are exact in any order.
template <class T> std::vector<T> whole_numbers(std::int64_t count, unsigned seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& each : values) {
    seed = seed * 1664525U + 1013904223U;
    each = static_cast<T>(static_cast<float>(static_cast<int>(seed >> 24) % 5 - 2));
  }
  return values;
}

/// Strides of a matrix of so many rows and columns.
struct strides {
  std::int64_t row, column;
};

strides strides_of_matrix(const layout& given) {
  const std::int64_t rows = given.of_columns ? given.depth : given.results;
  const std::int64_t columns = given.of_columns ? given.results : given.depth;
  return given.transposed ? strides{1, rows} : strides{columns, 1};
}

/// The results behind `before`, by a plain loop.
template <class T>
std::vector<T> expected_results(const layout& given, const std::vector<T>& matrices, const std::vector<T>& vectors,
                                const std::vector<T>& before) {
  const auto& [results, depth, of_columns, transposed, batch, shift, has_base, at_addresses, launches] = given;
  const strides of_matrix = strides_of_matrix(given);
  std::vector<T> expected = before;
  const auto at = [](auto& values, std::int64_t i) -> auto& { return values[static_cast<std::size_t>(i)]; };
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t r = 0; r < results; ++r) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t place =
            of_columns ? k * of_matrix.row + r * of_matrix.column : r * of_matrix.row + k * of_matrix.column;
        sum += static_cast<double>(static_cast<float>(at(matrices, shift + b * results * depth + place))) *
               static_cast<double>(static_cast<float>(at(vectors, shift + b * depth + k)));
      }
      T& result = at(expected, shift + b * results + r);
      if (has_base) sum = static_cast<double>(static_cast<float>(result)) - 2 * sum;
      result = static_cast<T>(static_cast<float>(sum));
    }
  return expected;
}

/// The product of matrices and vectors at these addresses.
template <class T> matrix_product described(const layout& given, T* matrix, T* vector, T* result) {
  const strides of_matrix = strides_of_matrix(given);
  matrix_product p;
  p.type = type<T>;
  p.batch = given.batch;
  p.depth = given.depth;
  p.result = result;
  p.result_batch = given.results;
  if (given.has_base) p.base = result, p.scale = -2;
  if (given.of_columns) {
    p.left = vector, p.right = matrix;
    p.columns = given.results;
    p.left_batch = given.depth, p.right_batch = given.results * given.depth;
    p.left_row = given.depth, p.left_depth = 1;
    p.right_depth = of_matrix.row, p.right_column = of_matrix.column;
  } else {
    p.left = matrix, p.right = vector;
    p.rows = given.results;
    p.left_batch = given.results * given.depth, p.right_batch = given.depth;
    p.left_row = of_matrix.row, p.left_depth = of_matrix.column;
    p.right_depth = 1, p.right_column = given.depth;
  }
  return p;
}
/// The addresses of its matrices: all on the left, all on the right, all results.
template <class T> std::vector<const void*> addresses_of(const matrix_product& p) {
  std::vector<const void*> addresses;
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(static_cast<const T*>(p.left) + b * p.left_batch);
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(static_cast<const T*>(p.right) + b * p.right_batch);
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(static_cast<const T*>(p.result) + b * p.result_batch);
  return addresses;
}

template <class T> void check(const layout& given) {
  const auto& [results, depth, of_columns, transposed, batch, shift, has_base, at_addresses, launches] = given;
  INFO(results << " results of " << depth << " elements, of columns: " << of_columns << ", transposed: " << transposed
               << ", batch " << batch << ", shift " << shift << ", " << sizeof(T) << " bytes");
  const auto matrices = whole_numbers<T>(shift + batch * results * depth, 1);
  const auto vectors = whole_numbers<T>(shift + batch * depth, 2),
             before = whole_numbers<T>(shift + batch * results, 3);
  const std::vector<T> expected = expected_results(given, matrices, vectors, before);

  auto& owner = backend::instance();
  std::lock_guard lock(backend::mutex());
  auto& on = owner.device_at(0);
  std::vector<plx::detail::buffer> memory;
  const auto sent = [&](const auto& values) {
    const std::size_t bytes = values.size() * sizeof values[0];
    memory.push_back(plx::cuda::allocate<simulator::api>(on, bytes));
    std::byte* const address = plx::cuda::address_of<simulator::api>(memory.back());
    on.host_copies.to_device(address, reinterpret_cast<const std::byte*>(values.data()), bytes, owner.threads,
                             owner.waiting());
    return address;
  };
  T* const matrix = reinterpret_cast<T*>(sent(matrices)) + shift;
  T* const vector = reinterpret_cast<T*>(sent(vectors)) + shift;
  T* const result = reinterpret_cast<T*>(sent(before)) + shift;
  matrix_product p = described(given, matrix, vector, result);
  if (at_addresses) p.addresses = reinterpret_cast<void* const*>(sent(addresses_of<T>(p)));
  REQUIRE(plx::cuda::is_vector_product(p));
  REQUIRE(on.can_multiply(p).ok());
  std::map<std::string_view, int> calls;
  simulator::machine::current().count_calls(&calls);
  plx::cuda::check(on.multiply(p));
  simulator::machine::current().count_calls(nullptr);
  CHECK(calls["launch"] == launches);
  CHECK(calls["multiply"] == 0);
  std::vector<T> found(before.size());
  on.host_copies.to_host(
      reinterpret_cast<std::byte*>(found.data()), reinterpret_cast<const std::byte*>(result - shift),
      found.size() * sizeof(T), owner.threads, [](const auto& wait) { wait(); }, owner.waiting());
  for (std::size_t i = 0; i < found.size(); ++i)
    REQUIRE(static_cast<float>(found[i]) == static_cast<float>(expected[i]));
}

template <class Check> void on_a_device(const Check& check) {
  simulator::machine machine({.devices = 1, .seed = 5});
  backend::restart({});
  check();
  backend::shut_down();
  machine.finish();
}

template <class T> void check_layouts() {
  on_a_device([] {
    for (const bool of_columns : {false, true})
      for (const bool transposed : {false, true})
        for (const std::int64_t batch : {1, 3})
          for (const std::int64_t shift : {0, 1}) {
            for (const std::int64_t results : {1, 5, 64, 72})
              for (const std::int64_t depth : {1, 7, 64, 120})
                check<T>({results, depth, of_columns, transposed, batch, shift});
            check<T>({72, 40, of_columns, transposed, batch, shift, true});
            check<T>({24, 40, of_columns, transposed, batch, shift, false, true});
          }
  });
}

} // namespace

TEST_CASE("a matrix times a vector is a kernel, of any type, layout, batch and alignment") {
  check_layouts<float>();
  check_layouts<double>();
  check_layouts<plx::float16>();
  check_layouts<plx::bfloat16>();
}

TEST_CASE("sums that are longer than few threads' work are added up in pieces") {
  on_a_device([] {
    for (const bool of_columns : {false, true}) {
      const layout one{.results = 1, .depth = 70'003, .of_columns = of_columns, .launches = 2};
      check<float>(one);
      check<double>(one);
      for (const bool has_base : {false, true}) {
        check<plx::bfloat16>({.results = 16,
                              .depth = 5'000,
                              .of_columns = of_columns,
                              .transposed = !of_columns,
                              .has_base = has_base,
                              .launches = 2});
        check<float>({.results = 3,
                      .depth = 9'001,
                      .of_columns = of_columns,
                      .transposed = of_columns,
                      .has_base = has_base,
                      .launches = 2});
      }
    }
  });
}

} // namespace vector_products_test
