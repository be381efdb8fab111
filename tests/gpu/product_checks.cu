// Matrix products against a loop on the host.
#include "device_array.cuh"

#include <parallax/core/types/element_type.hpp>
#include <parallax/cuda/kernels/products/vector_product.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gpu {
namespace {

using parallax::element_type;
using parallax::cuda::matrix_product;
using parallax::cuda::product_precision;

/// The largest offset of a matrix's elements, and one.
std::size_t extent_of(std::int64_t outer, std::int64_t outer_stride, std::int64_t rows, std::int64_t row_stride,
                      std::int64_t columns, std::int64_t column_stride) {
  return static_cast<std::size_t>((outer - 1) * outer_stride + (rows - 1) * row_stride + (columns - 1) * column_stride +
                                  1);
}

/// By the library, where matrices lie in two ways, or by the kernels of vectors.
enum class way { strided, at_addresses, vectors };

/// The results behind `before`, by a plain loop. Operands and results lie `shift` elements from where memory begins.
template <class T>
std::vector<T> expected_results(const matrix_product& p, const std::vector<T>& left, const std::vector<T>& right,
                                const std::vector<T>& before, std::size_t shift) {
  std::vector<T> expected = before;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.rows; ++i)
      for (std::int64_t j = 0; j < p.columns; ++j) {
        std::conditional_t<sizeof(T) == 2, float, T> sum{};
        for (std::int64_t k = 0; k < p.depth; ++k)
          sum = static_cast<decltype(sum)>(
              sum +
              left[shift + static_cast<std::size_t>(b * p.left_batch + i * p.left_row + k * p.left_depth)] *
                  right[shift + static_cast<std::size_t>(b * p.right_batch + k * p.right_depth + j * p.right_column)]);
        if (p.type == element_type::boolean) sum = sum != 0 ? 1 : 0;
        expected[shift + static_cast<std::size_t>(b * p.result_batch + i * p.result_pitch() + j)] = static_cast<T>(sum);
      }
  return expected;
}

/// Computes a product whose sizes and strides are given, with its operands `shift` elements from where memory begins.
template <class T> void run(matrix_product p, const std::string& what, std::size_t shift = 0, way how = way::strided) {
  const queue on;
  const std::size_t left_size = extent_of(p.batch, p.left_batch, p.rows, p.left_row, p.depth, p.left_depth);
  const std::size_t right_size = extent_of(p.batch, p.right_batch, p.depth, p.right_depth, p.columns, p.right_column);
  const std::size_t result_size = extent_of(p.batch, p.result_batch, p.rows, p.result_pitch(), p.columns, 1);
  std::vector<T> left(shift + left_size), right(shift + right_size);
  // booleans are 0 and 1
  constexpr bool is_signed = std::is_signed_v<T> || sizeof(T) == 2;
  auto fill = [](std::vector<T>& values, unsigned seed) {
    const std::vector<int> from = numbers<int>(values.size(), seed);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(from[i] - (is_signed ? 3 : 0));
  };
  fill(left, 1), fill(right, 2);
  if (p.type == element_type::boolean)
    for (auto* values : {&left, &right})
      for (T& value : *values) value = value > T(4) ? T(1) : T(0);
  const device_array<T> left_memory(on, left), right_memory(on, right);
  const device_array<T> result_memory(on, std::vector<T>(shift + result_size + 1, T(77)));
  const device_array<std::byte> workspace(on, api::product_workspace_bytes);
  p.left = left_memory.data() + shift, p.right = right_memory.data() + shift;
  p.result = result_memory.data() + shift;
  p.workspace = workspace.data();
  const std::vector<T> before = result_memory.values();
  std::vector<void*> addresses;
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(left_memory.data() + shift + b * p.left_batch);
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(right_memory.data() + shift + b * p.right_batch);
  for (std::int64_t b = 0; b < p.batch; ++b) addresses.push_back(result_memory.data() + shift + b * p.result_batch);
  const device_array<void*> address_memory(on, addresses);
  if (how == way::at_addresses) {
    p.addresses = address_memory.data();
    const parallax::cuda::status possible = api::can_multiply(p, 0);
    if (possible.is == parallax::cuda::status::kind::unsupported) return; // before CUDA 12.9
    ok(possible);
  }
  if (how == way::vectors) {
    parallax::cuda::device_properties properties;
    ok(api::properties_of(properties, 0));
    const device_array<std::byte> scratch(on, api::scratch_bytes);
    ok(parallax::cuda::multiply_vector<api>(p, {on.get(), &properties, scratch.data(), api::scratch_bytes}));
    on.wait();
  } else {
    ok(api::multiply(p, 0, on.get()));
  }

  const std::vector<T> result = result_memory.values(), expected = expected_results(p, left, right, before, shift);
  // small whole numbers: every way of computing them is exact
  for (std::size_t i = 0; i < result.size(); ++i)
    require(result[i] == expected[i], what + ": element " + std::to_string(i) + " is " +
                                          std::to_string(static_cast<double>(result[i])) + " instead of " +
                                          std::to_string(static_cast<double>(expected[i])));
}

/// Rows are contiguous unless transposed.
matrix_product shaped(element_type type, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                      std::int64_t depth, bool left_transposed, bool right_transposed) {
  matrix_product p;
  p.type = type;
  p.batch = batch, p.rows = rows, p.columns = columns, p.depth = depth;
  p.left_batch = rows * depth, p.right_batch = depth * columns, p.result_batch = rows * columns;
  p.left_row = left_transposed ? 1 : depth, p.left_depth = left_transposed ? rows : 1;
  p.right_depth = right_transposed ? 1 : columns, p.right_column = right_transposed ? depth : 1;
  return p;
}

template <class T> void check_addresses_of(element_type type) {
  for (bool transposed : {false, true})
    for (std::size_t shift : {0, 1}) {
      matrix_product p = shaped(type, 12, 33, 64, 32, transposed, !transposed);
      run<T>(p, std::string(name_of(type)) + " at addresses", shift, way::at_addresses);
      p.result_row = 64 * 12, p.result_batch = 64;
      run<T>(p, std::string(name_of(type)) + " at addresses, side by side", shift, way::at_addresses);
    }
}
void check_addresses() {
  check_addresses_of<float>(element_type::float32);
  check_addresses_of<double>(element_type::float64);
  check_addresses_of<parallax::float16>(element_type::float16);
  check_addresses_of<parallax::bfloat16>(element_type::bfloat16);
  check_addresses_of<std::int32_t>(element_type::int32);
}

template <class T> void check_vectors_of(element_type type) {
  for (bool left : {false, true})
    for (bool right : {false, true})
      for (std::size_t shift : {0, 1})
        for (std::int64_t batch : {1, 3}) {
          const std::string what = std::string(name_of(type)) + ", a vector";
          run<T>(shaped(type, batch, 1, 72, 120, left, right), what + " and a matrix", shift, way::vectors);
          run<T>(shaped(type, batch, 72, 1, 121, left, right), what + " behind a matrix", shift, way::vectors);
          run<T>(shaped(type, batch, 1, 1, 1000, left, right), what + " and another", shift, way::vectors);
        }
  if (sizeof(T) > 2) run<T>(shaped(type, 1, 1, 1, 300'000, false, false), "long vectors", 0, way::vectors);
}
void check_vectors() {
  check_vectors_of<float>(element_type::float32);
  check_vectors_of<double>(element_type::float64);
  check_vectors_of<parallax::float16>(element_type::float16);
  check_vectors_of<parallax::bfloat16>(element_type::bfloat16);
}

template <class T> void check_shapes(element_type type) {
  struct {
    std::int64_t rows, columns, depth;
  } const sizes[] = {{1, 1, 1},    {1, 5, 3},     {5, 1, 3},     {5, 3, 1},  {1, 1, 9},
                     {17, 19, 23}, {64, 128, 32}, {128, 64, 96}, {33, 1, 65}};
  for (const auto& size : sizes)
    for (std::int64_t batch : {1, 3})
      for (bool left : {false, true})
        for (bool right : {false, true})
          run<T>(shaped(type, batch, size.rows, size.columns, size.depth, left, right),
                 std::string(name_of(type)) + ", batch " + std::to_string(batch) + ", " + std::to_string(size.rows) +
                     " x " + std::to_string(size.depth) + " x " + std::to_string(size.columns) +
                     (left ? ", left transposed" : "") + (right ? ", right transposed" : ""));
}

void check_float() { check_shapes<float>(element_type::float32); }
void check_float16() { check_shapes<parallax::float16>(element_type::float16); }
void check_bfloat16() { check_shapes<parallax::bfloat16>(element_type::bfloat16); }
void check_double() { check_shapes<double>(element_type::float64); }
void check_int() { check_shapes<std::int32_t>(element_type::int32); }
void check_uint64() { check_shapes<std::uint64_t>(element_type::uint64); }
void check_uint8() { check_shapes<std::uint8_t>(element_type::uint8); }
void check_bool() { check_shapes<std::uint8_t>(element_type::boolean); }

void check_strides() {
  for (element_type type : {element_type::float32, element_type::int32}) {
    auto each = [&](const matrix_product& p, const std::string& what, std::size_t shift = 0) {
      if (type == element_type::float32) run<float>(p, what, shift);
      else run<std::int32_t>(p, what, shift);
    };
    matrix_product p = shaped(type, 4, 9, 10, 11, false, true);
    p.left_batch = 0;
    each(p, "one left matrix for all of a batch");
    p = shaped(type, 4, 9, 10, 11, true, false);
    p.right_batch = 0;
    each(p, "one right matrix for all of a batch");
    p = shaped(type, 3, 8, 8, 8, false, false);
    p.left_row = 40, p.left_batch = 8; // the batch within the rows
    each(p, "matrices side by side");
    p = shaped(type, 3, 8, 16, 8, false, false);
    p.result_row = 48, p.result_batch = 16; // as heads' results are joined
    each(p, "results side by side");
    each(p, "results side by side that are not aligned", 1);
    p = shaped(type, 2, 8, 12, 16, false, false);
    each(p, "operands that are not aligned", 1);
    p.left_depth = 2, p.left_row = 32, p.left_batch = 256;
    each(p, "no stride is 1");
    p = shaped(type, 1, 8, 12, 16, false, false);
    p.left_row = 0;
    each(p, "rows that are one row");
  }
}

void check_empty() {
  const queue on;
  const device_array<float> result(on, std::vector<float>(6, 5.f));
  matrix_product p = shaped(element_type::float32, 1, 2, 3, 0, false, false);
  p.left = p.right = p.result = result.data();
  ok(api::multiply(p, 0, on.get()));
  require(result.values() == std::vector<float>(6, 0.f), "a sum of nothing is zero");
  p.rows = 0;
  ok(api::multiply(p, 0, on.get()));
}

/// The largest error of a product of random numbers, relative to the largest result.
double error_of(product_precision precision) {
  const queue on;
  constexpr std::int64_t n = 256;
  matrix_product p = shaped(element_type::float32, 1, n, n, n, false, false);
  p.precision = precision;
  std::vector<float> left(n * n), right(n * n);
  unsigned seed = 1;
  for (auto* values : {&left, &right})
    for (float& value : *values) {
      seed = seed * 1664525U + 1013904223U;
      value = static_cast<float>(seed >> 8) / static_cast<float>(1U << 24);
    }
  const device_array<float> left_memory(on, left), right_memory(on, right), result_memory(on, left.size());
  p.left = left_memory.data(), p.right = right_memory.data(), p.result = result_memory.data();
  ok(api::multiply(p, 0, on.get()));
  const std::vector<float> result = result_memory.values();
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += double(left[i * n + k]) * double(right[k * n + j]);
      worst = std::max(worst, std::abs(sum - double(result[i * n + j])));
      largest = std::max(largest, std::abs(sum));
    }
  return worst / largest;
}

void check_precision() {
  const double full = error_of(product_precision::full), fast = error_of(product_precision::tensor_float_32);
  require(full < 2e-6, "f32 has all its bits: error " + std::to_string(full));
  require(fast < 2e-3, "TF32 has 10 bits: error " + std::to_string(fast));
  matrix_product narrow = shaped(element_type::float16, 1, 24, 16, 32, false, false);
  narrow.precision = product_precision::tensor_float_32;
  run<parallax::float16>(narrow, "f16, for which TF32 changes nothing");
}

/// Each algorithm that is proposed multiplies, takes time, and can be chosen.
void check_algorithms() {
  for (element_type type : {element_type::float32, element_type::bfloat16}) {
    const queue on;
    constexpr std::int64_t n = 512;
    matrix_product p = shaped(type, 1, n, n, n, false, true);
    const device_array<std::byte> memory(on, std::vector<std::byte>(3 * n * n * size_of(type)));
    const device_array<std::byte> workspace(on, api::product_workspace_bytes);
    p.left = memory.data(), p.right = memory.data() + n * n * size_of(type);
    p.result = memory.data() + 2 * n * n * size_of(type);
    p.workspace = workspace.data();
    int count = 0, timed = 0;
    ok(api::proposed_algorithms(count, p, 0));
    require(count > 0, "an algorithm is proposed");
    for (int number = 0; number < count; ++number) {
      double seconds = 0;
      const parallax::cuda::status done = api::time_algorithm(seconds, number, p, 0, on.get());
      if (done.is == parallax::cuda::status::kind::unsupported) continue;
      ok(done);
      require(seconds > 0 && seconds < 1, "it takes some time");
      ++timed;
    }
    require(timed > 0, "an algorithm runs");
    ok(api::choose_algorithm(0, p, 0));
    ok(api::proposed_algorithms(count, p, 0));
    require(count == 0, "one is chosen");
    if (type == element_type::float32) run<float>(p, "by the algorithm that was chosen");
    else run<parallax::bfloat16>(p, "by the algorithm that was chosen");
  }
}

constexpr check all[] = {{"products: float32", check_float},       {"products: float64", check_double},
                         {"products: float16", check_float16},     {"products: bfloat16", check_bfloat16},
                         {"products: int32", check_int},           {"products: uint64", check_uint64},
                         {"products: uint8", check_uint8},         {"products: boolean", check_bool},
                         {"products: strides", check_strides},     {"products: at addresses", check_addresses},
                         {"products: of vectors", check_vectors},  {"products: of nothing", check_empty},
                         {"products: precision", check_precision}, {"products: algorithms", check_algorithms}};

} // namespace

std::span<const check> product_checks() { return all; }

} // namespace gpu
