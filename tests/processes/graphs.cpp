// Programs that are called again: where each process has one simulated GPU they become CUDA graphs, collectives inside.
#include "on_devices.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

namespace process_tests {

namespace {

std::int32_t entry(std::size_t row, std::size_t i, int call) {
  return static_cast<std::int32_t>(100 * row + i) * (call + 3) % 1009;
}

table<std::int32_t> entries(int call) {
  return table_of<std::int32_t>(4, [&](std::size_t r, std::size_t i) { return entry(r, i, call); });
}

/// What was called on the simulated devices while `run()` ran; nothing on the host's.
template <class Run> std::map<std::string_view, int> calls_of(const Run& run) {
  std::map<std::string_view, int> counts;
  if (are_devices_simulated()) simulator::machine::current().count_calls(&counts);
  run();
  if (are_devices_simulated()) simulator::machine::current().count_calls(nullptr);
  return counts;
}

/// Calls `check(call)` five times, and says whether graphs alone were launched from the third on: then a collective is
/// a call no more.
template <class Check> bool becomes_graph(const Check& check) {
  check(0);
  check(1);
  auto counts = calls_of([&] {
    for (int call = 2; call < 5; ++call) check(call);
  });
  CHECK((counts["launch_graph"] == 0 || counts["group_start"] == 0));
  return counts["launch_graph"] > 0;
}

bool has_one_gpu_each() { return are_devices_simulated() && own_rows() == 1 && all_rows() > 1; }

template <class Rows> void check_sums(const Rows& sums, const table<std::int32_t>& x, std::int32_t times) {
  check_rows(sums, table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
               std::int32_t sum = 0;
               for (const auto& row : x) sum += times * row[i];
               return sum;
             }));
}

} // namespace

TEST_CASE("collectives in graphs") {
  const auto f = plx::pmap<"i">([](auto row) {
    const auto sum = plx::psum<"i">(row + row);
    const auto all = plx::all_gather<"i">(row);
    return std::tuple{sum, plx::ppermute<"i">(sum + plx::axis_index<"i">(), plx::rotate{1}), plx::max(all, 0),
                      plx::pmax<"i">(row * 3)};
  });
  const bool is_graph = becomes_graph([&](int call) {
    const auto x = entries(call);
    const auto [sum, moved, most, thrice] = f(own(x, 4));
    check_sums(sum, x, 2);
    const plx::array shifted = moved;
    const auto n = static_cast<std::int32_t>(all_rows());
    const plx::array sums = sum;
    const std::int64_t first = first_row();
    for (std::int64_t r = 0; r < own_rows(); ++r) {
      const auto place = static_cast<std::int32_t>(first + r);
      for (int i = 0; i < 4; ++i) CHECK(shifted(r, i) == sums(r, i) + (place + n - 1) % n);
    }
    const auto largest = [&](std::int32_t times) {
      return table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
        const auto values = column(x, i);
        return times * *std::max_element(values.begin(), values.end());
      });
    };
    check_rows(most, largest(1));
    check_rows(thrice, largest(3));
  });
  CHECK(is_graph == has_one_gpu_each());
}

TEST_CASE("collectives in the rounds of a graph's loop") {
  const auto f = plx::pmap<"i">(
      [](auto row) { return plx::fori_loop(0, 40, [](auto, auto x) { return plx::pmax<"i">(x) - 1; }, row + row); });
  const bool is_graph = becomes_graph([&](int call) {
    const auto x = entries(call);
    check_rows(f(own(x, 4)), table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
                 const auto values = column(x, i);
                 return 2 * *std::max_element(values.begin(), values.end()) - 40;
               }));
  });
  CHECK(is_graph == has_one_gpu_each());
}

TEST_CASE("what one process runs by itself leaves graphs with collectives to all") {
  const auto f = plx::pmap<"i">([](auto row) { return plx::psum<"i">(row + row) - plx::pmax<"i">(row) * 2; });
  const auto check = [&](int call) {
    const auto x = entries(call);
    check_rows(f(own(x, 4)), table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
                 std::int32_t sum = 0;
                 for (const auto& row : x) sum += 2 * row[i];
                 const auto values = column(x, i);
                 return sum - 2 * *std::max_element(values.begin(), values.end());
               }));
  };
  for (int call = 0; call < 3; ++call) check(call);
  if (first_row() == 0) // more than a device remembers
    for (std::int64_t n = 1; n <= 300; ++n) {
      const plx::array sums =
          plx::jit([](auto x) { return plx::cumsum(x, 0); })(plx::array<float, 1>::filled({n}, 1.f));
      CHECK(sums(n - 1) == static_cast<float>(n));
    }
  auto counts = calls_of([&] { check(3); });
  CHECK((counts["launch_graph"] == 1) == has_one_gpu_each());
  CHECK((counts["group_start"] == 0 || !has_one_gpu_each()));
}

TEST_CASE("a graph may take longer than a collective may be waited for", "[.slow]") {
  if (!has_one_gpu_each()) return;
  const auto f = plx::pmap<"i">(
      [](auto row, auto rounds) {
        const auto goes_on = [=](auto state) { return std::get<0>(state) < rounds; };
        const auto round = [](auto state) { return std::tuple{std::get<0>(state) + 1, std::get<1>(state) + 1}; };
        return plx::psum<"i">(std::get<1>(plx::while_loop(goes_on, round, std::tuple{0, plx::psum<"i">(row)})));
      },
      plx::in_axes<0, plx::none>);
  const auto check = [&](int call, std::int32_t rounds) {
    const auto x = entries(call);
    check_rows(f(own(x, 4), rounds), table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
                 std::int32_t sum = 0;
                 for (const auto& row : x) sum += row[i];
                 return static_cast<std::int32_t>(all_rows()) * (sum + rounds);
               }));
  };
  check(0, 3);
  check(1, 3);
  auto counts = calls_of([&] { check(2, 100'000); });
  CHECK(counts["launch_graph"] == 1);
}

TEST_CASE("collectives whose number a device decides are no graph's") {
  const auto f = plx::pmap<"i">([](auto row) {
    return plx::while_loop([](auto x) { return plx::max(x) < 100'000; }, [](auto x) { return plx::psum<"i">(x); },
                           plx::psum<"i">(row + 1));
  });
  const bool is_graph = becomes_graph([&](int call) {
    const auto x = entries(call);
    auto expected = table_of<std::int32_t>(4, [&](std::size_t, std::size_t i) {
      std::int32_t sum = 0;
      for (const auto& row : x) sum += row[i] + 1;
      return sum;
    });
    const auto most = [&] { return *std::max_element(expected[0].begin(), expected[0].end()); };
    while (all_rows() > 1 && most() < 100'000)
      for (auto& row : expected)
        for (auto& value : row) value *= static_cast<std::int32_t>(all_rows());
    if (all_rows() > 1) check_rows(f(own(x, 4)), expected);
  });
  CHECK(!is_graph);
}

} // namespace process_tests
