// The simulator's kernels and products: planted faults are found, right versions run under every seed.
#include "support/simulator/every_failure.hpp"
#include "support/simulator/programs.hpp"
#include "support/test.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernels_test {

namespace {

using namespace simulator;
using parallax::cuda::vector_of;

/// Adds 1 to each element, four at a time; the tail one by one, or all the same.
template <bool SeesTail> struct add_one {
  struct arguments {
    float* data;
    std::int64_t count;
  };
  static constexpr bool barriers = false;
  template <class Block> static void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    const std::int64_t first = block.block() * block.threads() + block.thread();
    const std::int64_t vectors = SeesTail ? a.count / 4 : (a.count + 3) / 4;
    for (std::int64_t i = first; i < vectors; i += step) {
      auto* at = reinterpret_cast<vector_of<float, 4>*>(a.data) + i;
      auto four = block.load(at);
      for (float& each : four.values) each += 1;
      block.store(at, four);
    }
    for (std::int64_t i = vectors * 4 + first; i < a.count; i += step)
      block.store(a.data + i, block.load(a.data + i) + 1);
  }
};

/// Reverses the elements of a block through shared memory, with a barrier in between or without.
template <bool Waits> struct reverse {
  struct arguments {
    const float* from;
    float* to;
  };
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    auto* shared = reinterpret_cast<float*>(block.shared());
    const int thread = block.thread();
    block.store(shared + thread, block.load(a.from + thread));
    if (Waits) block.barrier();
    block.store(a.to + thread, block.load(static_cast<const float*>(shared) + block.threads() - 1 - thread));
  }
};

template <bool SeesTail> void run_add_one() {
  under_seeds(100, {.devices = 1}, [](machine&) {
    const queue on;
    const floats data(on, 10);
    put(data, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    check(api::launch(add_one<SeesTail>{}, {2, 2, 0}, on.stream, {data.data, 10}));
    const std::vector<float> values = get(data);
    REQUIRE(values == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  });
}

template <bool Waits> void run_reverse() {
  under_seeds(100, {.devices = 1}, [](machine&) {
    const queue on;
    std::vector<float> values(64);
    std::iota(values.begin(), values.end(), 0.f);
    const floats from(on, 64), to(on, 64);
    put(from, values);
    check(api::launch(reverse<Waits>{}, {1, 64, 256}, on.stream, {from.data, to.data}));
    std::vector<float> reversed = get(to);
    std::reverse(reversed.begin(), reversed.end());
    REQUIRE(reversed == values);
  });
}

/// A small program whose statuses are all looked at, but for one copy's perhaps.
void zero_and_read(bool looks) {
  const queue on;
  const floats data(on, 3);
  const status filled = api::fill_zero(data.data, 12, on.stream);
  if (looks) check(filled);
  const pinned to(3);
  check(api::copy_to_host(to.data, data.data, 12, on.stream));
  on.wait_for_copies();
}

} // namespace

TEST_CASE("An out-of-bounds read in a kernel's tail is found") {
  CHECK(fault_of(run_add_one<true>).empty());
  const std::string text = fault_of(run_add_one<false>);
  CHECK(has(text, "add_one<false> (operation "));
  CHECK(has(text, "reads out of bounds: bytes 32 to 48 of allocation 1 (40 bytes on device 0)"));
}

TEST_CASE("A missing block barrier is found") {
  CHECK(fault_of(run_reverse<true>) == "");
  const std::string text = fault_of(run_reverse<false>);
  CHECK(has(text, "reverse<false> (operation "));
  CHECK(has(text, "of shared memory"));
  CHECK(has(text, "since the last barrier"));
}

TEST_CASE("An ignored status is found") {
  CHECK(
      fault_of([] { try_every_failure({.devices = 1}, [] { zero_and_read(false); }); }) ==
      "an ignored status: call 5, fill_zero, has failed, and then: copy_to_host (operation 2 of stream 1 on device 0) "
      "reads bytes 0 to 12 of allocation 1 (12 bytes on device 0), which nothing has written");
  CHECK(fault_of([] { try_every_failure({.devices = 1}, [] { static_cast<void>(api::set_device(0)); }); }) ==
        "an ignored status: call 1, set_device, has failed, and nobody was told");
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    REQUIRE(try_every_failure({.devices = 1, .seed = seed}, [] { zero_and_read(true); }) >= 10);
}

TEST_CASE("A pool in pieces is short of memory until the host has seen their release, and trims it") {
  constexpr std::size_t all = std::size_t{1} << 20, half = all / 2;
  const auto take = [](std::size_t bytes, bool waits, bool trims, std::uint64_t seed) {
    machine made({.devices = 1, .seed = seed, .memory_bytes = all});
    status got;
    {
      const queue on;
      {
        const floats first(on, half / sizeof(float)), second(on, half / sizeof(float));
        check(api::fill_zero(first.data, half, on.stream));
      }
      if (waits) on.wait();
      if (trims) check(api::trim_memory());
      void* memory = nullptr;
      got = api::allocate(memory, bytes, on.stream);
      if (got.ok()) check(api::release(memory, on.stream));
    }
    made.finish();
    return got.is;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(take(all, true, true, seed) == status::kind::success);
    CHECK(take(half, false, false, seed) == status::kind::success);
    CHECK(take(all, false, true, seed) == status::kind::out_of_memory); // planted: it does not wait
    CHECK(take(all, true, false, seed) == status::kind::out_of_memory); // planted: it does not trim
  }
}

TEST_CASE("A library may refuse at launch what it said it had, and then has written nothing") {
  const auto sum_of_result = [](bool refuses, bool falls_back) {
    float sum = 0;
    const std::string text = fault_of([&] {
      machine made({.devices = 1, .refuses_epilogues = refuses});
      {
        const queue on;
        const floats left(on, 16), right(on, 16), result(on, 16), bias(on, 4);
        for (const floats* each : {&left, &right}) put(*each, std::vector<float>(16, 1.f));
        put(bias, {0, 0, 0, 0});
        parallax::cuda::matrix_product p;
        p.rows = p.columns = p.depth = p.left_row = p.right_depth = 4;
        p.left = left.data, p.right = right.data, p.result = result.data;
        p.epilogue.bias = bias.data;
        check(api::can_multiply(p, 0));
        const status done = api::multiply(p, 0, on.stream);
        CHECK(done.is == (refuses ? status::kind::unsupported : status::kind::success));
        if (falls_back && !done.ok()) {
          p.epilogue.bias = nullptr;
          check(api::multiply(p, 0, on.stream));
        }
        for (const float each : get(result)) sum += each;
      }
      made.finish();
    });
    return std::pair(sum, text);
  };
  CHECK(sum_of_result(false, false) == std::pair(64.f, std::string()));
  CHECK(sum_of_result(true, true) == std::pair(64.f, std::string()));
  CHECK(has(sum_of_result(true, false).second, "which nothing has written")); // planted: it trusts the answer
}

TEST_CASE("Memory of another device needs peer access") {
  const auto program = [](bool enabled) {
    return fault_of([&] {
      under_seeds(100, {.devices = 2}, [&](machine&) {
        const queue first(0), second(1);
        const floats data(second, 4);
        put(data, {0, 1, 2, 3});
        if (enabled) check(api::enable_peer_access(0, 1));
        first.activate();
        check(api::launch(add_one<true>{}, {1, 32, 0}, first.stream, {data.data, 4}));
        first.wait();
        const std::vector<float> values = get(data);
        REQUIRE(values == std::vector<float>{1, 2, 3, 4});
      });
    });
  };
  CHECK(has(program(false), "whose access is not enabled for device 0"));
  CHECK(program(true).empty());
  const machine without({.devices = 2, .peer_access = false});
  CHECK(!api::enable_peer_access(0, 1).ok());
}

TEST_CASE("Work is for the current device, on a stream that is") {
  machine on({.devices = 2});
  CHECK(fault_of([&] {
          const queue first(0), second(1);
          const floats data(second, 4);
          check(api::set_device(0));
          check(api::launch(add_one<true>{}, {1, 32, 0}, second.stream, {data.data, 4}));
        }) == "launch of stream 2 on device 1 while device 0 is current");
}

TEST_CASE("Products of strided matrices") {
  // result[b] = left[b] * right[b]^T, 2 x 3 times 3 x 2
  const std::vector<float> left{1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 0}, right{1, 0, 1, 0, 1, 0, 7, 8, 9, 10, 11, 12};
  under_seeds(20, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats a(on, 12), b(on, 12), c(on, 8), workspace(on, api::product_workspace_bytes / 4);
    put(a, left);
    put(b, right);
    matrix_product p;
    p.batch = 2, p.left_batch = 6, p.right_batch = 6, p.result_batch = 4;
    p.rows = 2, p.columns = 2, p.depth = 3;
    p.left_row = 3, p.left_depth = 1, p.right_depth = 1, p.right_column = 3;
    p.left = a.data, p.right = b.data, p.result = c.data, p.workspace = workspace.data;
    check(api::multiply(p, 0, on.stream));
    REQUIRE(get(c) == std::vector<float>{4, 2, 10, 5, 7, 10, 8, 11});
  });
}

TEST_CASE("Products of integers and booleans") {
  under_seeds(1, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats memory(on, 64);
    auto* bytes = reinterpret_cast<std::byte*>(memory.data);
    const auto product_of = [&](const auto& left, const auto& right, element_type type) {
      using value = typename std::decay_t<decltype(left)>::value_type;
      const pinned aside(64);
      std::memcpy(aside.data, left.data(), 4 * sizeof(value));
      std::memcpy(aside.data + 8, right.data(), 4 * sizeof(value));
      check(api::copy_to_device(memory.data, aside.data, 256, on.stream));
      on.wait();
      matrix_product p;
      p.type = type;
      p.rows = 2, p.columns = 2, p.depth = 2;
      p.left_row = 2, p.right_depth = 2;
      p.left = bytes, p.right = bytes + 32, p.result = bytes + 64;
      check(api::multiply(p, 0, on.stream));
      std::vector<value> result(4);
      check(api::copy_to_host(aside.data, bytes + 64, 4 * sizeof(value), on.stream));
      on.wait();
      std::memcpy(result.data(), aside.data, 4 * sizeof(value));
      return result;
    };
    using int64s = std::vector<std::int64_t>;
    const std::int64_t large = std::int64_t{1} << 62;
    CHECK(product_of(int64s{1, -2, 3, large}, int64s{5, 6, 7, 8}, element_type::int64) ==
          int64s{-9, -10, 15 - large, 18});
    using bytes_type = std::vector<std::uint8_t>;
    CHECK(product_of(bytes_type{16, 1, 1, 0}, bytes_type{16, 2, 1, 0}, element_type::uint8) ==
          bytes_type{1, 32, 16, 2});
    CHECK(product_of(bytes_type{1, 1, 0, 0}, bytes_type{1, 0, 1, 0}, element_type::boolean) == bytes_type{1, 0, 0, 0});
  });
}

} // namespace kernels_test
