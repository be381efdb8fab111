// The kernel of products that the library does not do, run on the host thread by thread.
#include <parallax/cuda/kernels/products/strided_product.hpp>

#include "support/test.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strided_product_test {

namespace {

using parallax::element_type;
using parallax::cuda::launch_shape;
using parallax::cuda::matrix_product;
using parallax::cuda::status;

/// A thread that nobody waits for.
struct lone_thread {
  int thread_number, thread_count;
  std::int64_t block_number, block_count;

  int thread() const { return thread_number; }
  int threads() const { return thread_count; }
  std::int64_t block() const { return block_number; }
  std::int64_t blocks() const { return block_count; }
  template <class T> T load(const T* source) const { return *source; }
  template <class T> void store(T* target, T value) const { *target = value; }
  std::byte* shared() const { return nullptr; }
  void barrier() const { FAIL("no thread is to wait"); }
  template <class T> T shuffle_down(T value, int) const { return value; }
  template <class T> T shuffle_xor(T value, int) const { return value; }
  void set_condition(std::uint64_t, unsigned) const { FAIL("no graph is to ask"); }
};

struct host_launches {
  using stream = int;
  template <class K>
  static status launch(K, const launch_shape& shape, stream, const typename K::arguments& arguments) {
    for (unsigned block = 0; block < shape.blocks; ++block)
      for (unsigned thread = 0; thread < shape.threads; ++thread)
        K::run(lone_thread{static_cast<int>(thread), static_cast<int>(shape.threads), block, shape.blocks}, arguments);
    return {};
  }
};

template <class T>
std::vector<T> multiply(matrix_product p, const std::vector<T>& left, const std::vector<T>& right, std::size_t count) {
  std::vector<T> result(count, T{99});
  p.left = left.data(), p.right = right.data(), p.result = result.data();
  REQUIRE(parallax::cuda::multiply_strided<host_launches>(p, 0).ok());
  return result;
}

} // namespace

TEST_CASE("integers are multiplied with any strides, and wrap") {
  matrix_product p;
  p.type = element_type::int32;
  p.rows = 2, p.columns = 3, p.depth = 2;
  p.left_row = 2, p.right_depth = 3;
  CHECK(multiply<std::int32_t>(p, {1, -2, 3, 4}, {1, 2, 3, 4, 5, 6}, 6) ==
        std::vector<std::int32_t>{-7, -8, -9, 19, 26, 33});
  p.left_row = 1, p.left_depth = 2; // transposed
  CHECK(multiply<std::int32_t>(p, {1, 3, -2, 4}, {1, 2, 3, 4, 5, 6}, 6) ==
        std::vector<std::int32_t>{-7, -8, -9, 19, 26, 33});
  p.rows = p.columns = 1;
  CHECK(multiply<std::int32_t>(p, {1 << 30, 0, 0, 0}, {4, 0, 0, 0}, 1) == std::vector<std::int32_t>{0});
  p.type = element_type::uint8;
  CHECK(multiply<std::uint8_t>(p, {200, 0, 100, 0}, {2, 0, 0, 1}, 1) ==
        std::vector<std::uint8_t>{static_cast<std::uint8_t>(500)});
}

TEST_CASE("a batch of products, one of whose operands is shared") {
  matrix_product p;
  p.type = element_type::uint64;
  p.batch = 3;
  p.rows = p.depth = p.columns = 1;
  p.right_batch = 1, p.result_batch = 2; // with gaps, which stay as they are
  CHECK(multiply<std::uint64_t>(p, {10}, {1, 2, 3}, 6) == std::vector<std::uint64_t>{10, 99, 20, 99, 30, 99});
}

TEST_CASE("of booleans, whether any of both holds") {
  matrix_product p;
  p.type = element_type::boolean;
  p.rows = 2, p.depth = 3, p.columns = 1;
  p.left_row = 3, p.right_depth = 1;
  const bool left[] = {true, true, false, false, false, true}, right[] = {true, true, false};
  bool result[] = {false, true};
  p.left = left, p.right = right, p.result = result;
  REQUIRE(parallax::cuda::multiply_strided<host_launches>(p, 0).ok());
  CHECK((result[0] && !result[1]));
}

TEST_CASE("a sum of nothing is zero, and no product is no launch") {
  matrix_product p;
  p.rows = 2, p.columns = 2, p.depth = 0;
  CHECK(multiply<float>(p, {}, {}, 4) == std::vector<float>{0, 0, 0, 0});
  p.rows = 0;
  CHECK(multiply<float>(p, {}, {}, 1) == std::vector<float>{99});
}

TEST_CASE("more elements than threads are computed too") {
  matrix_product p;
  p.type = element_type::uint8;
  p.rows = 5000, p.columns = 5000, p.depth = 1; // more than 65536 blocks of 256
  p.left_row = p.right_depth = 0;
  const std::vector<std::uint8_t> one{3},
      result = multiply<std::uint8_t>(p, one, std::vector<std::uint8_t>(5000, 5), 25'000'000);
  CHECK(result == std::vector<std::uint8_t>(25'000'000, 15));
}

TEST_CASE("sums of 16-bit products are rounded once") {
  matrix_product p;
  p.type = element_type::bfloat16;
  p.rows = 1, p.columns = 1, p.depth = 1000;
  const std::vector<parallax::bfloat16> ones(1000, parallax::bfloat16(1)); // more than a bfloat16 can count to
  CHECK(multiply<parallax::bfloat16>(p, ones, ones, 1) == std::vector<parallax::bfloat16>{parallax::bfloat16(1000)});
}

} // namespace strided_product_test
