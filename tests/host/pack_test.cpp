#include <parallax/host/simd/pack.hpp>

#include <parallax/host/kernels/reductions/reduced_value.hpp>
#include <parallax/primitives/all.hpp>

#include "core/element_samples.hpp"
#include "support/test.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace pack_test {

namespace host = parallax::host;
namespace math = parallax::math;
namespace primitives = parallax::primitives;
using host::lanes;
using host::pack;

namespace {

template <class T> bool same(T x, T y) {
  if (x != x || y != y) return x != x && y != y;
  return std::memcmp(&x, &y, sizeof x) == 0;
}

template <class T> std::array<T, lanes> elements_of(const pack<T>& x) {
  std::array<T, lanes> result;
  host::store(result.data(), x);
  return result;
}

/// All pairs of samples, in arrays whose length is a multiple of the lanes.
template <class T> struct sample_pairs {
  std::vector<T> x, y;
  sample_pairs() {
    std::vector<T> samples = element_samples<T>(10);
    for (T a : samples)
      for (T b : samples) {
        x.push_back(a);
        y.push_back(b);
      }
    while (x.size() % lanes != 0) {
      x.push_back(T{1});
      y.push_back(T{1});
    }
  }
};

/// Whether `f`, given packs, does in every lane what it does to elements.
template <class T, class F> bool agrees(F f) {
  static const sample_pairs<T> samples;
  for (std::size_t i = 0; i < samples.x.size(); i += lanes) {
    T x[lanes], y[lanes];
    std::copy_n(samples.x.begin() + static_cast<std::ptrdiff_t>(i), lanes, x);
    std::copy_n(samples.y.begin() + static_cast<std::ptrdiff_t>(i), lanes, y);
    auto results = elements_of(f(host::load(x), host::load(y)));
    for (std::size_t k = 0; k < lanes; ++k) {
      auto expected = f(x[k], y[k]);
      if (!same(results[k], expected)) {
        UNSCOPED_INFO("of " << x[k] << " and " << y[k] << ": " << results[k] << ", not " << expected);
        return false;
      }
    }
  }
  return true;
}

/// An array of 1, 2, 3, 4, 5, 1, 2, ... that ends at a page which must not be touched.
template <class T> class guarded_array {
 public:
  explicit guarded_array(int length) : length_(length) {
    mapping_ =
        static_cast<char*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(mapping_ != MAP_FAILED);
    REQUIRE(::mprotect(mapping_ + page_, page_, PROT_NONE) == 0);
    for (int i = 0; i < length; ++i) data()[i] = static_cast<T>(i % 5 + 1);
  }
  guarded_array(const guarded_array&) = delete;
  guarded_array& operator=(const guarded_array&) = delete;
  ~guarded_array() { ::munmap(mapping_, 2 * page_); }

  T* data() const { return reinterpret_cast<T*>(mapping_ + page_) - length_; }

 private:
  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char* mapping_;
  int length_;
};

} // namespace

#define NUMBER_TYPES                                                                                                   \
  std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, parallax::float16, parallax::bfloat16,       \
      float, double
#define ELEMENT_TYPES bool, NUMBER_TYPES
#define INTEGER_TYPES std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t

TEMPLATE_TEST_CASE("packs compare, choose and combine as elements do", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto y) { return math::add(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::mul(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::max(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::min(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::lt(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::le(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::gt(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::ge(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::eq(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::ne(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::select(math::lt(x, y), y, x); }));
}

TEMPLATE_TEST_CASE("packs calculate as elements do", "[pack]", NUMBER_TYPES) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto y) { return math::sub(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::div(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::rem(x, y); }));
  CHECK(agrees<T>([](auto x, auto) { return math::neg(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::abs(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::sign(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::integer_pow(x, 5); }));
}

TEMPLATE_TEST_CASE("packs of integers operate on bits as elements do", "[pack]", INTEGER_TYPES) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto y) { return math::bit_and(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::bit_or(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::bit_xor(x, y); }));
  CHECK(agrees<T>([](auto x, auto) { return math::bit_not(x); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::shift_left(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::shift_right_logical(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::shift_right_arithmetic(x, y); }));
  CHECK(agrees<T>([](auto x, auto y) { return math::shift_right(x, y); }));
}

TEST_CASE("packs of booleans operate on bits as elements do", "[pack]") {
  CHECK(agrees<bool>([](auto x, auto y) { return math::bit_and(x, y); }));
  CHECK(agrees<bool>([](auto x, auto y) { return math::bit_or(x, y); }));
  CHECK(agrees<bool>([](auto x, auto y) { return math::bit_xor(x, y); }));
  CHECK(agrees<bool>([](auto x, auto) { return math::bit_not(x); }));
}

TEMPLATE_TEST_CASE("packs of floating numbers round as elements do", "[pack]", parallax::float16, parallax::bfloat16,
                   float, double) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto) { return math::floor(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::ceil(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::sqrt(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::rsqrt(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::is_finite(x); }));
}

TEMPLATE_TEST_CASE("packs convert as elements do", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto) { return math::convert<bool>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<std::uint8_t>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<std::int32_t>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<std::uint32_t>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<std::int64_t>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<std::uint64_t>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<parallax::float16>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<parallax::bfloat16>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<float>(x); }));
  CHECK(agrees<T>([](auto x, auto) { return math::convert<double>(x); }));
}

TEST_CASE("packs read their bits as elements do", "[pack]") {
  CHECK(agrees<float>([](auto x, auto) { return math::bit_cast<std::int32_t>(x); }));
  CHECK(agrees<std::uint32_t>([](auto x, auto) { return math::bit_cast<float>(x); }));
  CHECK(agrees<double>([](auto x, auto) { return math::bit_cast<std::uint64_t>(x); }));
  CHECK(agrees<std::int64_t>([](auto x, auto) { return math::bit_cast<double>(x); }));
  CHECK(agrees<std::uint8_t>([](auto x, auto) { return math::bit_cast<std::uint8_t>(x); }));
  CHECK(agrees<parallax::float16>([](auto x, auto) { return math::bit_cast<parallax::bfloat16>(x); }));
  CHECK(agrees<parallax::bfloat16>([](auto x, auto) { return math::bit_cast<parallax::float16>(x); }));
}

TEST_CASE("packs are enciphered as elements are", "[pack]") {
  CHECK(agrees<std::uint32_t>([](auto x, auto y) { return math::threefry2x32(x, y, y, x).first; }));
  CHECK(agrees<std::uint32_t>([](auto x, auto y) { return math::threefry2x32(x, y, y, x).second; }));
}

TEMPLATE_TEST_CASE("every lane holds what was broadcast", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  for (T value : element_samples<T>(3))
    for (T lane : elements_of(host::broadcast(value))) REQUIRE(same(lane, value));
}

TEMPLATE_TEST_CASE("lanes are numbered from 0", "[pack]", NUMBER_TYPES) {
  auto numbers = elements_of(host::lane_index<TestType>());
  for (int i = 0; i < lanes; ++i) CHECK(numbers[static_cast<std::size_t>(i)] == static_cast<TestType>(i));
}

TEMPLATE_TEST_CASE("part of a pack moves without touching what is behind it", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  for (int count = 0; count <= lanes; ++count) {
    guarded_array<T> source(count), target(count);
    std::fill_n(target.data(), count, T{0});
    pack<T> x = host::load(source.data(), count);
    auto all = elements_of(x);
    CHECK(std::equal(source.data(), source.data() + count, all.begin()));
    CHECK(std::all_of(all.begin() + count, all.end(), [](T rest) { return rest == T{0}; }));
    host::store(target.data(), x, count);
    CHECK(std::equal(source.data(), source.data() + count, target.data()));
    // within a larger array, the elements behind stay
    T larger[lanes + 1] = {};
    host::store(larger, host::broadcast(T{1}), count);
    CHECK(std::count(larger, larger + lanes + 1, T{1}) == count);
    CHECK(larger[count] == T{0});
  }
}

TEMPLATE_TEST_CASE("strided elements move without touching others", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  for (int stride : {-3, -1, 0, 1, 2, 7})
    for (int count : {1, 2, lanes - 1, lanes}) {
      int length = (count - 1) * std::abs(stride) + 1, first = stride < 0 ? length - 1 : 0;
      guarded_array<T> source(length), target(length);
      std::fill_n(target.data(), length, T{0});
      auto x = host::load_strided(source.data() + first, stride, count);
      auto all = elements_of(x);
      for (int i = 0; i < lanes; ++i)
        CHECK(all[static_cast<std::size_t>(i)] == (i < count ? source.data()[first + i * stride] : T{0}));
      host::store_strided(target.data() + first, stride, x, count);
      for (int i = 0; i < length; ++i)
        CHECK(target.data()[i] == (i % std::max(1, std::abs(stride)) == 0 ? source.data()[i] : T{0}));
      if (count != lanes) continue;
      CHECK(elements_of(host::load_strided(source.data() + first, stride)) == all);
      guarded_array<T> again(length);
      std::fill_n(again.data(), length, T{0});
      host::store_strided(again.data() + first, stride, x);
      CHECK(std::equal(again.data(), again.data() + length, target.data()));
    }
}

TEMPLATE_TEST_CASE("reducing a pack", "[pack]", ELEMENT_TYPES) {
  using T = TestType;
  guarded_array<T> source(lanes);
  T sum{}, product{1}, largest = source.data()[0], smallest = source.data()[0];
  for (int i = 0; i < lanes; ++i) {
    T each = source.data()[i];
    sum = math::add(sum, each);
    product = math::mul(product, each);
    largest = std::max(largest, each);
    smallest = std::min(smallest, each);
  }
  pack<T> x = host::load(source.data());
  CHECK(host::reduce(x, [](auto a, auto b) { return math::add(a, b); }) == sum);
  CHECK(host::reduce(x, [](auto a, auto b) { return math::max(a, b); }) == largest);
  CHECK(host::reduce(x, [](auto a, auto b) { return math::min(a, b); }) == smallest);
  if constexpr (sizeof(T) != 2) // which are rounded in another order
    CHECK(host::reduce(x, [](auto a, auto b) { return math::mul(a, b); }) == product);
}

TEMPLATE_TEST_CASE("a NaN in any lane is the extreme", "[pack]", parallax::float16, float, double) {
  using T = TestType;
  for (int i = 0; i < lanes; ++i) {
    auto elements = elements_of(host::lane_index<T>());
    CHECK(!host::has_nan(host::load(elements.data())));
    elements[static_cast<std::size_t>(i)] = std::numeric_limits<T>::quiet_NaN();
    const auto x = host::load(elements.data());
    CHECK(host::has_nan(x));
    CHECK(std::isnan(host::detail::reduce_lanes<primitives::reduce_max>(x)));
    CHECK(std::isnan(host::detail::reduce_lanes<primitives::reduce_min>(x)));
  }
}

} // namespace pack_test
