// Loops that need nothing of one another in one launch: each element is computed once, whatever is beside it.
#include "support/simulator/block.hpp"
#include "support/test.hpp"

#include <parallax/cuda/kernels/reductions/reduction_group.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace group_kernels_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::compiled;

/// Faults where a byte of the results is written twice.
class once : public simulator::access_observer {
 public:
  void read(const void*, std::size_t) override {}
  void write(void* data, std::size_t bytes) override {
    ++writes;
    const std::byte* const first = static_cast<const std::byte*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
      if (!written.insert(first + i).second) simulator::fail("an element is written twice");
  }
  int writes = 0; ///< of elements or vectors of them

 private:
  std::set<const std::byte*> written;
};

struct api {
  using stream = int;
  static inline int launches = 0, writes = 0;
  static inline std::uint64_t seed = 1;

  template <cuda::device_kernel K>
  static cuda::status launch(K, const cuda::launch_shape& shape, stream, const typename K::arguments& arguments) {
    static_assert(sizeof arguments <= 4096);
    ++launches;
    once observer;
    simulator::run_kernel<K>(shape, arguments, seed, observer);
    writes += observer.writes;
    return {};
  }
};

template <element_type Type, int Array> using vector_of = load_statement<statement_kind::load_vector, Type, Array>;
template <class Primitive, element_type Type, int... Operands>
using compute = compute_statement<Primitive, Type, 0, Operands...>;

/// y = x * c
using scaled = kernel<kernel_result::vector, no_reduction, vector_of<element_type::float32, 1>,
                      load_statement<statement_kind::load_constant, element_type::float32, 0>,
                      compute<primitives::multiply, element_type::float32, 0, 1>>;
/// z = x + s, y = -z, in doubles
using moved = kernel<kernel_result::vector, no_reduction, vector_of<element_type::float64, 1>,
                     load_statement<statement_kind::load_scalar, element_type::float64, 2>,
                     compute<primitives::add, element_type::float64, 0, 1>,
                     store_statement<statement_kind::store_vector, element_type::float64, 2, 3>,
                     compute<primitives::negative, element_type::float64, 2>>;

/// One loop of a group: what it is given, and where its results go.
template <class T> struct loop_of {
  std::vector<T> x, y, z; ///< with one element in front, where the arrays are to be misaligned
  T scalar{};
  constant_bits constant{};
  std::size_t first = 0;

  std::size_t size() const { return x.size() - first; }
};
template <class T> operand operand_at(T* data, std::int64_t stride) {
  operand result{reinterpret_cast<std::byte*>(data), 0, sizeof(T), {}};
  result.strides[0] = stride;
  return result;
}

/// Runs loops of both kernels in turn, and requires what plain ones compute.
void check_loops(int multiprocessors, std::int64_t largest, int expected_launches) {
  constexpr std::size_t count = 90;
  std::vector<loop_of<float>> floats(count);
  std::vector<loop_of<double>> doubles(count);
  for (std::size_t k = 0; k < count; ++k) {
    auto prepare = [&](auto& loop) {
      loop.first = k % 5 == 3 ? 1 : 0;
      const std::size_t size = k * 7 % 23 + (k == 40 ? 300 : 0) + loop.first;
      loop.x.resize(size), loop.y.resize(size), loop.z.resize(size);
      for (std::size_t i = 0; i < size; ++i) loop.x[i] = static_cast<float>((i * 13 + k) % 31) / 8.f - 1.5f;
    };
    prepare(floats[k]), prepare(doubles[k]);
    floats[k].constant = constant_bits::of(k < 60 ? 2.f : 3.f);
    doubles[k].scalar = static_cast<double>(k);
  }
  std::vector<int> kernels;
  for (std::size_t k = 0; k < 2 * count; ++k) kernels.push_back(static_cast<int>(k % 2));

  operand operands[4];
  auto part = [&](int number, kernel_arguments& a) {
    const std::size_t k = static_cast<std::size_t>(number) / 2;
    a.rank = 1;
    a.operands = operands;
    auto set = [&](auto& loop) {
      a.extents[0] = static_cast<std::int64_t>(loop.size());
      operands[0] = operand_at(loop.y.data() + loop.first, 1);
      operands[1] = operand_at(loop.x.data() + loop.first, 1);
      operands[2] = operand_at(&loop.scalar, 0);
      operands[3] = operand_at(loop.z.data() + loop.first, 1);
      a.constants = &loop.constant;
    };
    if (number % 2 == 0) set(floats[k]), a.operand_count = 2, a.constant_count = 1;
    else set(doubles[k]), a.operand_count = 4;
  };
  cuda::device_properties properties;
  properties.multiprocessors = multiprocessors;
  api::launches = 0;
  const cuda::launch_context<api> where{0, &properties, nullptr, 0, largest};
  REQUIRE(cuda::launch_elementwise_group<api, scaled, moved>(plain_span<const int>(kernels), part, where).ok());
  CHECK(api::launches == expected_launches);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = floats[k].first; i < floats[k].x.size(); ++i)
      REQUIRE(floats[k].y[i] == floats[k].x[i] * (k < 60 ? 2.f : 3.f));
    for (std::size_t i = doubles[k].first; i < doubles[k].x.size(); ++i) {
      REQUIRE(doubles[k].z[i] == doubles[k].x[i] + static_cast<double>(k));
      REQUIRE(doubles[k].y[i] == -doubles[k].z[i]);
    }
  }
}

/// How many writes a matrix's loop makes in a group.
int writes_of_matrix(std::int64_t rows, std::int64_t columns) {
  const auto size = static_cast<std::size_t>(rows * columns);
  std::vector<float> x(size), y(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<float>(i);
  const constant_bits two = constant_bits::of(2.f);
  operand operands[2];
  auto part = [&](int, kernel_arguments& a) {
    a.rank = 2;
    a.extents[0] = rows, a.extents[1] = columns;
    a.operands = operands;
    a.operand_count = 2;
    a.constants = &two;
    a.constant_count = 1;
    operands[0] = operand_at(y.data(), columns);
    operands[1] = operand_at(x.data(), columns);
    operands[0].strides[1] = operands[1].strides[1] = 1;
  };
  cuda::device_properties properties;
  properties.multiprocessors = 4;
  api::writes = 0;
  const int kernels[] = {0};
  const cuda::launch_context<api> where{0, &properties, nullptr, 0, cuda::largest_loop};
  REQUIRE(cuda::launch_elementwise_group<api, scaled>(plain_span<const int>(kernels), part, where).ok());
  for (std::size_t i = 0; i < size; ++i) REQUIRE(y[i] == 2 * x[i]);
  return api::writes;
}

using summed = kernel<kernel_result::reduction, primitives::reduce_sum, vector_of<element_type::float32, 1>>;
using largest_product =
    kernel<kernel_result::reduction, primitives::reduce_max, vector_of<element_type::float32, 1>,
           vector_of<element_type::float32, 2>, compute<primitives::multiply, element_type::float32, 0, 1>>;

/// Reductions of matrices along one of their dimensions, in one group.
struct matrix_case {
  std::int64_t rows, columns;
  bool along_rows; ///< or down the columns
};
void check_reductions(const std::vector<matrix_case>& cases, int multiprocessors, std::size_t scratch_bytes,
                      int expected_launches, std::int64_t largest = cuda::largest_loop) {
  struct line {
    alignas(16) std::byte bytes[16];
  };
  std::vector<line> scratch(scratch_bytes / sizeof(line));
  std::vector<std::vector<float>> x, results;
  std::vector<int> kernels;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto size = static_cast<std::size_t>(cases[k].rows * cases[k].columns);
    x.emplace_back(size);
    for (std::size_t i = 0; i < size; ++i) x[k][i] = static_cast<float>((i * 37 + k) % 101) / 16.f - 2.f;
    results.emplace_back(static_cast<std::size_t>(cases[k].along_rows ? cases[k].rows : cases[k].columns), -77.f);
    kernels.push_back(static_cast<int>(k % 2));
  }
  operand operands[3];
  auto part = [&](int number, kernel_arguments& a) {
    const matrix_case& each = cases[static_cast<std::size_t>(number)];
    a.rank = 2;
    a.extents[0] = each.rows, a.extents[1] = each.columns;
    a.reduced = each.along_rows ? 2 : 1;
    a.operands = operands;
    a.operand_count = number % 2 == 0 ? 2 : 3;
    auto& result = results[static_cast<std::size_t>(number)];
    operands[0] = operand_at(result.data(), each.along_rows ? 1 : 0);
    operands[0].strides[1] = each.along_rows ? 0 : 1;
    operands[1] = operand_at(x[static_cast<std::size_t>(number)].data(), each.columns);
    operands[1].strides[1] = 1;
    operands[2] = operands[1];
  };
  cuda::device_properties properties;
  properties.multiprocessors = multiprocessors;
  api::launches = 0;
  const cuda::launch_context<api> where{0, &properties, scratch.data(), scratch_bytes, largest};
  REQUIRE(cuda::launch_reduction_group<api, summed, largest_product>(plain_span<const int>(kernels), part, where).ok());
  CHECK(api::launches == expected_launches);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto [rows, columns, along_rows] = cases[k];
    for (std::size_t r = 0; r < results[k].size(); ++r) {
      const auto at = static_cast<std::int64_t>(r);
      double sum = 0, most = -1e30;
      for (std::int64_t i = 0; i < (along_rows ? columns : rows); ++i) {
        const double element = x[k][static_cast<std::size_t>(along_rows ? at * columns + i : i * columns + at)];
        sum += element;
        most = std::max(most, element * element);
      }
      INFO("result " << r << " of case " << k);
      REQUIRE(std::abs(static_cast<double>(results[k][r]) - (k % 2 == 0 ? sum : most)) < 1e-3);
    }
  }
}

} // namespace

TEST_CASE("elementwise loops of one launch: long, short, empty and misaligned ones") {
  // a launch takes 64, and from the 120th on the constant is another one
  check_loops(4, cuda::largest_loop, 3);
  check_loops(1, cuda::largest_loop, 3);
  check_loops(132, cuda::largest_loop, 3);
}
TEST_CASE("matrices are moved in vectors whose rows are none") {
  CHECK(writes_of_matrix(6, 10) == 15);
  CHECK(writes_of_matrix(5, 3) == 3 + 3);
  CHECK(writes_of_matrix(1, 8) == 2);
  CHECK(writes_of_matrix(8, 1) == 2);
}
TEST_CASE("long loops are cut into parts of one launch") { check_loops(2, 40, 4); }
TEST_CASE("reductions of one launch, and what combines their pieces in another") {
  const matrix_case down{2000, 8, false}, along{3, 20'000, true};
  check_reductions({{100, 8, false}, {100, 8, false}}, 1, 1 << 16, 1);
  check_reductions({down, down, down, down}, 132, 1 << 16, 2);
  check_reductions({along, along, along}, 132, 1 << 16, 2);
  check_reductions({down, down, down, down, down, down}, 132, 1 << 16, 4); // four are as many as a launch takes
  check_reductions({down, down}, 132, 256, 2);                             // with little room
}
TEST_CASE("a reduction of more launches than a group keeps is launched by itself") {
  check_reductions({{60, 3, false}, {20, 2, false}}, 2, 1 << 12, 10, 40); // 8 parts and what combines them; 1
}
TEST_CASE("reductions whose blocks differ are launched apart") {
  check_reductions({{5, 3, false}, {40, 900, true}, {1, 4000, true}}, 1, 1 << 16, 3);
}

} // namespace group_kernels_test
