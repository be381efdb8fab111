// Files that were compiled for different vector registers, in one program.
#include "support/test.hpp"
#include "units/registers.hpp"

#include <parallax/math/philox.hpp>

#include <cmath>

namespace {

using units::computed, units::registers, units::length, units::rows;

float element(int i) { return static_cast<float>(i % 7); }

/// Word n of the stream of key 7.
std::uint32_t word(std::uint32_t n) {
  const auto block = parallax::math::philox4x32_rounds({n / 4, 0, 0, 0}, {7, 0});
  const std::uint32_t words[] = {block.x, block.y, block.z, block.w};
  return words[n % 4];
}

/// What a file does to elements first of which it makes something of its own.
template <class T> using operation = T (*)(T);
template <class T> T unchanged(T x) { return x; }
template <class T> T or_1(T x) { return x > 1 ? x : 1; }
template <class T> T plus_1(T x) { return x + 1; }
template <class T> T minus_1(T x) { return x - 1; }

void check_softmax(const std::vector<float>& found, operation<float> own) {
  REQUIRE(found.size() == static_cast<std::size_t>(rows * length));
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < length; ++i) sum += std::exp(static_cast<double>(own(element(r * length + i))));
    for (int i = r * length; i < (r + 1) * length; ++i)
      REQUIRE(found[static_cast<std::size_t>(i)] ==
              Approx(std::exp(static_cast<double>(own(element(i)))) / sum).epsilon(1e-5));
  }
}

void check_columns(const std::vector<float>& found, operation<float> own) {
  REQUIRE(found.size() == static_cast<std::size_t>(length));
  for (int i = 0; i < length; ++i) {
    float sum = 0;
    for (int r = 0; r < rows; ++r) {
      const float x = own(element(r * length + i));
      sum += x * x;
    }
    REQUIRE(found[static_cast<std::size_t>(i)] == sum);
  }
}

void check_shared_programs(const computed& found) {
  REQUIRE(found.eager_sum.size() == static_cast<std::size_t>(rows * length));
  REQUIRE(found.comparison.size() == found.eager_sum.size());
  for (int i = 0; i < rows * length; ++i) {
    REQUIRE(found.eager_sum[static_cast<std::size_t>(i)] == 3 * element(i));
    REQUIRE(found.comparison[static_cast<std::size_t>(i)] == (element(i) > 3 ? 1 : 0));
  }
  check_softmax(found.softmax, unchanged);
  check_columns(found.columns, unchanged);
  REQUIRE(found.mean.size() == static_cast<std::size_t>(rows));
  REQUIRE(found.product_of_16_bits.size() == static_cast<std::size_t>(rows * rows));
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < length; ++i) sum += static_cast<double>(element(r * length + i));
    REQUIRE(found.mean[static_cast<std::size_t>(r)] == Approx(sum / length));
    for (int s = 0; s < rows; ++s) {
      float product = 0;
      for (int i = 0; i < length; ++i) product += element(r * length + i) * element(s * length + i);
      REQUIRE(found.product_of_16_bits[static_cast<std::size_t>(r * rows + s)] == Approx(product).epsilon(1e-3));
    }
  }
}

void check_own_kernels(const computed& found, operation<float> own, operation<std::uint32_t> of_32_bits,
                       operation<std::uint64_t> of_64_bits) {
  REQUIRE(found.every_ninth_word.size() == 200);
  REQUIRE(found.every_ninth_of_64_bits.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::uint32_t n = 1 + 9 * i;
    REQUIRE(found.every_ninth_word[i] == of_32_bits(word(n)));
    REQUIRE(found.every_ninth_of_64_bits[i] == of_64_bits(std::uint64_t{word(2 * n + 1)} << 32 | word(2 * n)));
  }
  check_softmax(found.own_softmax, own);
  check_columns(found.own_columns, own);
}

} // namespace

TEST_CASE("programs that files for narrow and for wide registers share are right in both") {
  check_shared_programs(units::compute<registers::narrow>());
  check_shared_programs(units::compute<registers::wide>());
  check_shared_programs(units::compute<registers::native>());
}

TEST_CASE("a file for narrow registers runs its own kernels beside files for wide ones") {
  const computed found = units::compute<registers::narrow>();
  CHECK(found.lanes == 4);
  check_own_kernels(found, or_1, or_1, or_1);
}

TEST_CASE("a file for wide registers runs its own kernels beside files for narrow ones") {
  const computed found = units::compute<registers::wide>();
  CHECK(found.lanes == 8);
  check_own_kernels(found, plus_1, plus_1, plus_1);
}

TEST_CASE("a file for this machine's registers runs its own kernels beside files for others") {
  const computed found = units::compute<registers::native>();
  CHECK(found.lanes >= 4);
  check_own_kernels(found, minus_1, minus_1, minus_1);
}
