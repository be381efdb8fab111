// Arrays of more than 2^31 elements are read where their indices say.
#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <sys/mman.h>

#include "support/test.hpp"

namespace large_arrays_test {

namespace {

namespace plx = parallax;

constexpr std::int64_t beyond = std::int64_t{1} << 31;

/// So many bytes of zeros, of which those that nobody touches take no memory.
class untouched_bytes {
 public:
  explicit untouched_bytes(std::int64_t count)
      : size(static_cast<std::size_t>(count)),
        first(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  untouched_bytes(const untouched_bytes&) = delete;
  untouched_bytes& operator=(const untouched_bytes&) = delete;
  ~untouched_bytes() {
    if (is_there()) munmap(first, size);
  }
  bool is_there() const { return first != MAP_FAILED; }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(first); }

 private:
  std::size_t size;
  void* first;
};

} // namespace

TEST_CASE("elements beyond 2^31 are read by numbers and by indices that are data") {
  const untouched_bytes bytes(beyond + 16);
  if (!bytes.is_there()) return; // an address space that is too small for any such array
  for (std::int64_t i = 0; i < 16; ++i) bytes.data()[beyond + i] = static_cast<std::uint8_t>(1 + i);
  for (std::int64_t i = 0; i <= 16; ++i) bytes.data()[i] = static_cast<std::uint8_t>(100 + i);
  const plx::use_backend here(plx::backend::host);
  const auto x = plx::borrow(bytes.data(), {beyond + 16});
  const auto check = [&](const plx::array<std::uint8_t, 1>& result, const std::vector<std::uint8_t>& expected) {
    CHECK(result.to_vector() == expected);
  };
  constexpr auto by_numbers = [](auto a) {
    return plx::stack(
        {a[beyond + 3], a[-3], a[-beyond], plx::index_in_dim(a, beyond + 5), a[std::size_t{beyond} + 7], a[3]});
  };
  check(plx::jit(by_numbers)(x), {4, 14, 116, 6, 8, 103});
  constexpr auto by_slices = [](auto a) {
    return plx::stack({plx::slice_in_dim(a, beyond, beyond + 2)[1], plx::slice_in_dim(a, -2, plx::none)[0],
                       plx::slice_in_dim(a, 5, plx::none, beyond)[1], plx::slice(a, {beyond + 9}, {beyond + 10})[0]});
  };
  check(plx::jit(by_slices)(x), {2, 15, 6, 10});
  constexpr auto by_data = [](auto a, auto i) {
    return plx::stack({a[i[0]], a.at(i[1]).get(), plx::take(a, i[2], 0),
                       plx::dynamic_slice(a, std::tuple{i[3]}, {1})[0], plx::dynamic_index_in_dim(a, i[4]), a[i[5]]});
  };
  const plx::array<std::int64_t, 1> i{beyond + 1, -2, beyond + 15, beyond + 4, -beyond, 2 * beyond};
  check(plx::jit(by_data)(x, i), {2, 15, 16, 5, 116, 16});
  const plx::array<std::uint64_t, 1> natural{std::uint64_t{beyond} + 1, 2, std::uint64_t{beyond} + 15,
                                             std::uint64_t{beyond} + 4, 1, ~std::uint64_t{0}};
  check(plx::jit(by_data)(x, natural), {2, 102, 16, 5, 101, 16});
  constexpr auto by_constants = [](auto a) {
    return plx::stack({plx::dynamic_index_in_dim(a, beyond + 2), plx::dynamic_slice(a, std::tuple{beyond + 6}, {1})[0],
                       a.at(beyond + 8).get(), a.at(~std::uint64_t{0}).get()});
  };
  check(plx::jit(by_constants)(x), {3, 7, 9, 16});
}

TEST_CASE("numbers beyond an axis are refused, whatever remains of them in 32 bits") {
  const plx::array<float, 1> x{0, 1, 2, 3, 4};
  CHECK_THROWS_AS(plx::jit([](auto a) { return a[std::int64_t{1} << 32]; })(x), plx::shape_error);
  CHECK_THROWS_AS(plx::jit([](auto a) { return a[-(std::int64_t{1} << 32) - 1]; })(x), plx::shape_error);
  CHECK_THROWS_AS(plx::jit([](auto a) { return plx::index_in_dim(a, std::uint64_t{1} << 33); })(x), plx::shape_error);
  CHECK_THROWS_MATCHES(
      plx::jit([](auto a) { return plx::index_in_dim(a, -9); })(x), plx::shape_error,
      Catch::Message("index_in_dim: index -9 is outside the axis of size 5 (axis 0 of argument 0); give indices from "
                     "-5 to 4"));
  CHECK_THROWS_MATCHES(
      plx::jit([](auto a) { return plx::slice_in_dim(a, -9, plx::none); })(x), plx::shape_error,
      Catch::Message("slice_in_dim: bound -9 is outside the axis of size 5 (axis 0 of argument 0); give bounds from -5 "
                     "to 5"));
}

} // namespace large_arrays_test
