// The kernel of collectives between devices that read each other's memory.
#include <parallax/cuda/kernels/copies/exchange.hpp>

#include "cuda/kernels/simulated_kernels.hpp"
#include "support/in_pairs.hpp"

#include <memory>
#include <random>
#include <vector>

namespace combine_kernels_test {

namespace cuda = parallax::cuda;
using cuda::reduction_kind;

namespace {

/// Knows arrays to be read and one to be written.
class arrays : public simulator::access_observer {
 public:
  std::vector<std::span<const std::byte>> operands;
  std::span<std::byte> result;

  void read(const void* data, std::size_t bytes) override {
    for (auto each : operands)
      if (inside(each, data, bytes)) return;
    simulator::fail("a read outside of all operands");
  }
  void write(void* data, std::size_t bytes) override {
    if (!inside(result, data, bytes)) simulator::fail("a write outside of the result");
    written += bytes;
  }
  std::size_t written = 0;

 private:
  static bool inside(std::span<const std::byte> all, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(data);
    return at >= all.data() && at + bytes <= all.data() + all.size();
  }
};

struct api {
  using stream = int;
  static inline arrays* memory = nullptr;
  template <cuda::device_kernel K>
  static cuda::status launch(K, const cuda::launch_shape& shape, stream, const typename K::arguments& arguments) {
    simulator::run_kernel<K>(shape, arguments, 1, *memory);
    return {};
  }
};

template <class T> T combined(reduction_kind how, T x, T y) {
  namespace math = parallax::math;
  if (how == reduction_kind::sum) return math::add(x, y);
  return how == reduction_kind::max ? math::max(x, y) : math::min(x, y);
}

/// Combines operands of some members, each `skip` elements behind an aligned address, and requires the same bits.
template <class T>
void check(reduction_kind how, int members, const cuda::combined_slices& slices, std::size_t skip = 0) {
  const auto outer = static_cast<std::size_t>(slices.outer), group = static_cast<std::size_t>(slices.group),
             inner = static_cast<std::size_t>(slices.inner), position = static_cast<std::size_t>(slices.position);
  std::mt19937 engine(7);
  arrays memory;
  std::vector<std::unique_ptr<T[]>> operands;
  std::vector<const void*> pointers;
  auto make = [&](std::size_t count) { return std::make_unique<T[]>(count + skip + 1); };
  for (int m = 0; m < members; ++m) {
    std::size_t count = outer * group * inner;
    T* values = operands.emplace_back(make(count)).get() + skip;
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(engine() % 5) / static_cast<T>(3);
    pointers.push_back(values);
    memory.operands.push_back(std::as_bytes(std::span<const T>(values, count)));
  }
  auto result = make(outer * inner);
  T* found = result.get() + skip;
  memory.result = std::as_writable_bytes(std::span<T>(found, outer * inner));
  api::memory = &memory;
  cuda::device_properties properties;
  cuda::launch_context<api> where{0, &properties, nullptr, 0};
  cuda::check(cuda::launch_combine<api>(where, how, parallax::element_type_of<T>, pointers, found, slices));
  REQUIRE(memory.written == outer * inner * sizeof(T));
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      std::size_t at = (o * group + position) * inner + i;
      std::vector<T> values;
      for (const auto& operand : operands) values.push_back(operand[skip + at]);
      REQUIRE(found[o * inner + i] == in_pairs(values, [&](T x, T y) { return combined(how, x, y); }));
    }
}

template <class T> void check_all() {
  for (reduction_kind how : {reduction_kind::sum, reduction_kind::max, reduction_kind::min}) {
    for (std::int64_t count : {1, 3, 4, 16, 17, 50, 1000}) check<T>(how, 3, {1, 1, count, 0});
    for (int members : {4, 5, 6, 7, 13, 63, 64}) check<T>(how, members, {1, 1, 33, 0});
    check<T>(how, 1, {1, 1, 5, 0});
    check<T>(how, 2, {1, 1, 40, 0}, 1);
    for (std::int64_t position : {0, 2}) {
      check<T>(how, 3, {5, 3, 16, position});
      check<T>(how, 3, {5, 3, 7, position});
      check<T>(how, 3, {1, 3, 20, position});
    }
  }
}

} // namespace

TEST_CASE("members' operands are combined in pairs, and pairs of pairs") {
  check_all<float>();
  check_all<double>();
  check_all<parallax::float16>();
  check_all<parallax::bfloat16>();
  check_all<std::int32_t>();
  check_all<std::uint32_t>();
  check_all<std::int64_t>();
  check_all<std::uint64_t>();
  check_all<std::uint8_t>();
  check_all<bool>();
}

TEST_CASE("combinations of nothing, and of too many") {
  arrays memory;
  api::memory = &memory;
  cuda::device_properties properties;
  cuda::launch_context<api> where{0, &properties, nullptr, 0};
  float number = 1;
  std::vector<const void*> one{&number}, many(65, &number);
  const auto type = parallax::element_type::float32;
  CHECK(cuda::launch_combine<api>(where, reduction_kind::sum, type, one, &number, {1, 1, 0, 0}).ok());
  CHECK(memory.written == 0);
  CHECK(cuda::launch_combine<api>(where, reduction_kind::sum, type, many, &number, {1, 1, 1, 0}).is ==
        cuda::status::kind::failure);
  CHECK(!cuda::launch_combine<api>(where, reduction_kind::sum, type, {}, &number, {1, 1, 1, 0}).ok());
}

} // namespace combine_kernels_test
