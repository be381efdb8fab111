// Arguments and results in memory that others have on a device, with a stream of theirs.
#include "cuda/programs/calls.hpp"
#include "support/simulator/programs.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace memory_of_others_test {

namespace plx = parallax;

namespace {

using simulator::api;
using backend = plx::cuda::backend<api>;

/// Calls `body(stream of device 0)` on machines of two devices, under some seeds.
template <class Body> void under_seeds(std::uint64_t seeds, const Body& body) {
  simulator::under_seeds(seeds, {.devices = 2}, [&](simulator::machine&) {
    const simulated::running_backend<api> running;
    const plx::use_backend here(plx::backend::cuda);
    {
      const simulator::queue theirs;
      body(theirs);
    }
    backend::shut_down();
  });
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<float>(i % 7) - 2.f);
  return all;
}
auto span_of(const simulator::floats& memory, std::size_t first = 0) {
  return plx::device_span(memory.data + first, static_cast<std::int64_t>(memory.count - first), memory.on->stream);
}

constexpr auto shifted = [](auto x) { return std::pair{x - plx::max(x), plx::sum(x)}; };

/// What `shifted` gives, and its sum behind that.
std::vector<float> expected_of(const std::vector<float>& x, std::size_t first = 0) {
  std::vector<float> result;
  float sum = 0;
  for (std::size_t i = first; i < x.size(); ++i) result.push_back(x[i] - 4.f), sum += x[i];
  result.push_back(sum);
  return result;
}

} // namespace

TEST_CASE("memory of others is not taken where an array of it is donated") {
  static constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  const std::vector<float> values = numbers(1000);
  under_seeds(3, [&](const simulator::queue& theirs) {
    const simulator::floats x(theirs, values.size());
    simulator::put(x, values);
    for (int call = 0; call < 3; ++call) {
      plx::array<float, 1> theirs_borrowed = plx::borrow(span_of(x), {static_cast<std::int64_t>(values.size())});
      const plx::array<float, 1> y = twice(theirs_borrowed);
      REQUIRE(y(999) == 2 * values[999]);
    }
    REQUIRE(simulator::get(x) == values);
  });
}

TEST_CASE("memory of others on a device is read and written there, in the order of their stream") {
  constexpr std::size_t size = 1000;
  const std::vector<float> values = numbers(size);
  for (const std::size_t first : {0U, 4U, 1U}) // the last one is not aligned for vectors
    under_seeds(10, [&](const simulator::queue& theirs) {
      const simulator::pinned from(values);
      const simulator::floats x(theirs, size), y(theirs, size), sum(theirs, 1);
      simulator::put(y, std::vector<float>(size));
      // nobody waits for this copy
      REQUIRE(api::copy_to_device(x.data, from.data, x.bytes(), theirs.stream).ok());
      plx::reset_transfers();
      std::map<std::string_view, int> steady; // calls of the api, once a graph is there
      for (int call = 0; call < 6; ++call) {
        if (call == 4) simulator::machine::current().count_calls(&steady);
        plx::jit(shifted)(plx::borrow(span_of(x, first), {size - first}), plx::into(span_of(y, first), span_of(sum)));
      }
      simulator::machine::current().count_calls(nullptr);
      REQUIRE(!steady.empty());
      REQUIRE((steady["allocate"] == 0 && steady["allocate_pinned"] == 0));
      REQUIRE(
          (steady["launch_graph"] == 2 && steady["launch"] == 0 && steady["update_launch"] == 0)); // nothing is copied
      const auto moved = plx::transfers();
      REQUIRE((moved.host_to_device == 0 && moved.device_to_host == 0 && moved.device_to_device == 0));
      std::vector<float> found = simulator::get(y);
      found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(first));
      found.push_back(simulator::get(sum)[0]);
      REQUIRE(found == expected_of(values, first));
    });
}

TEST_CASE("an array of others' memory is like any other") {
  under_seeds(5, [](const simulator::queue& theirs) {
    const simulator::floats x(theirs, 6);
    simulator::put(x, {1, 2, 3, 4, 5, 6});
    {
      auto matrix = plx::borrow<plx::extents<plx::dyn, 3>>(span_of(x), {2, 3});
      static_assert(std::same_as<decltype(matrix), plx::array<float, plx::extents<plx::dyn, 3>>>);
      REQUIRE(matrix(1, 2) == 6);
      matrix.mutable_data()[0] = 10;
      REQUIRE(matrix(0, 0) == 10);
    }
    REQUIRE(simulator::get(x)[0] == 1);
    const auto rows = plx::borrow(span_of(x), {2, 3});
    const auto doubled = plx::pmap([](auto row) { return row + row; })(rows);
    REQUIRE(doubled(1, 0) == 8);
    std::vector<float> on_host(6);
    plx::evaluate(rows * 3.f, plx::into(on_host));
    REQUIRE(on_host == std::vector<float>{3, 6, 9, 12, 15, 18});
  });
}

TEST_CASE("elements with strides on a device are read where they lie") {
  under_seeds(3, [](const simulator::queue& theirs) {
    std::vector<float> values = numbers(60);
    const simulator::floats x(theirs, 60), y(theirs, 12);
    simulator::put(x, values);
    const plx::array<float, 2> weights{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    auto check = [&](const auto& block, std::size_t row, std::size_t column) {
      plx::reset_transfers();
      plx::evaluate(block + 1.f, plx::into(span_of(y)));
      const auto moved = plx::transfers();
      REQUIRE(moved.host_to_device == sizeof(float)); // the number that is added
      REQUIRE((moved.device_to_host == 0 && moved.device_to_device == 0));
      std::vector<float> expected, products;
      for (std::size_t i = 0; i < 3; ++i) {
        float sums[2]{};
        for (std::size_t j = 0; j < 4; ++j) {
          const float value = values[1 + i * row + j * column];
          expected.push_back(value + 1);
          for (std::size_t k = 0; k < 2; ++k) sums[k] += value * weights.values()[j * 2 + k];
        }
        products.insert(products.end(), sums, sums + 2);
      }
      REQUIRE(simulator::get(y) == expected);
      const auto found = plx::jit([](auto a, auto b) { return plx::dot(a, b); })(block, weights);
      REQUIRE(found.to_vector() == products);
    };
    const plx::device_span from_second(x.data + 1, 59, theirs.stream);
    check(plx::borrow(from_second, {3, 4}, {10, 2}), 10, 2);
    check(plx::borrow<plx::strides<plx::dyn, 1>>(from_second, {3, 4}, {7, 1}), 7, 1);
    check(plx::borrow<plx::strides<1, plx::dyn>>(from_second, {3, 4}, {1, 9}), 1, 9);
    CHECK_THROWS_AS(plx::borrow(from_second, {3, 4}, {20, 7}), plx::shape_error);
  });
}

TEST_CASE("results on other devices, and of the host, come to others' memory, too") {
  under_seeds(5, [](const simulator::queue& theirs) {
    const simulator::floats y(theirs, 4);
    const plx::array<float, 2> x{{1, 2}, {3, 4}};
    plx::pmap([](auto row) { return row + row; })(x, plx::into(span_of(y)));
    REQUIRE(simulator::get(y) == std::vector<float>{2, 4, 6, 8});
    const simulator::queue second(1);
    const simulator::floats there(second, 4);
    const plx::device_span there_span(there.data, 4, second.stream, 1);
    plx::evaluate(x + 1.f, plx::into(there_span));
    REQUIRE(simulator::get(there) == std::vector<float>{2, 3, 4, 5});
    plx::evaluate(plx::borrow(there_span, {2, 2}) * x, plx::into(span_of(y)));
    REQUIRE(simulator::get(y) == std::vector<float>{2, 6, 12, 20});
  });
}

TEST_CASE("what is wrong with others' memory on a device is said before anything is written") {
  under_seeds(1, [](const simulator::queue& theirs) {
    const simulator::floats x(theirs, 4), y(theirs, 3), sum(theirs, 1);
    simulator::put(x, {1, 2, 3, 4});
    const auto borrowed = plx::borrow(span_of(x), {4});
    CHECK_THROWS_MATCHES(plx::borrow(span_of(x), {5}), plx::shape_error,
                         Catch::Message("borrow: 4 elements of memory for the shape (5,)"));
    CHECK_THROWS_MATCHES(plx::jit(shifted)(borrowed, plx::into(span_of(y), span_of(sum))), plx::shape_error,
                         Catch::Message("into: the memory of result 0 has 3 elements, and the result 4"));
    CHECK_THROWS_MATCHES(
        plx::jit(shifted)(borrowed, plx::into(span_of(x), span_of(sum))), plx::shape_error,
        Catch::Message("into: the memory of result 0 overlaps an argument, which is read while results are written"));
    CHECK_THROWS_MATCHES(plx::borrow(plx::device_span(x.data, 4, theirs.stream, 2), {4}), plx::error,
                         Catch::Message("there is no device 2: the CUDA backend has 2"));
    const plx::use_backend host(plx::backend::host);
    CHECK_THROWS_MATCHES(plx::evaluate(plx::ones({3}), plx::into(span_of(y))), plx::error,
                         Catch::Message("into: this memory lies on a device, and the program runs on the host: choose "
                                        "backend::cuda for it"));
    REQUIRE(simulator::get(x) == std::vector<float>{1, 2, 3, 4});
  });
}

} // namespace memory_of_others_test
