// Very many exchanges, and exchanges of all sizes.
#include "rows.hpp"

#include <random>
#include <string>

namespace process_tests {

TEST_CASE("a hundred thousand tiny sums in one call", "[many]") {
  const auto x = table_of<double>(2, [](std::size_t r, std::size_t i) { return static_cast<double>(r + i); });
  const auto f = plx::pmap<"i">(
      [](auto row, auto count) {
        // the mean is the same from the first round on
        return plx::fori_loop(0, count, [](auto, auto v) { return plx::pmean<"i">(v); }, row);
      },
      plx::in_axes<0, plx::none>);
  const double mean = static_cast<double>(all_rows() - 1) / 2;
  const plx::array y = f(own(x, 2), plx::count(100000));
  for (std::int64_t r = 0; r < own_rows(); ++r) {
    CHECK(y(r, 0) == Approx(mean));
    CHECK(y(r, 1) == Approx(mean + 1));
  }
}

TEST_CASE("calls of random sizes, empty ones among them", "[many]") {
  std::mt19937 random(17); // the same on all processes
  const auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); });
  const auto round = plx::pmap<"i">([](auto v) { return plx::ppermute<"i">(v, plx::rotate{1}); });
  const auto gather = plx::pmap<"i">([](auto v) { return plx::all_gather<"i">(v); });
  const auto n = static_cast<std::size_t>(all_rows());
  for (int call = 0; call < 200; ++call) {
    // of all orders of magnitude
    const auto width = static_cast<std::int64_t>(random() % (1U << (random() % 15))) * (call % 10 == 0 ? 0 : 1);
    const auto value = [&](std::size_t r, std::size_t i) {
      return static_cast<float>((r + 1) * (i % 101) + static_cast<std::size_t>(call));
    };
    const auto x = table_of<float>(width, value);
    INFO("call " << call << " of " << width << " elements");
    switch (random() % 3) {
    case 0:
      check_rows(sum(own(x, width)),
                 table_of<float>(width, [&](std::size_t, std::size_t i) { return tree_sum(column(x, i)); }));
      break;
    case 1:
      check_rows(round(own(x, width)),
                 table_of<float>(width, [&](std::size_t r, std::size_t i) { return value((r + n - 1) % n, i); }));
      break;
    default:
      check_rows(gather(own(x, width)), table_of<float>(width * all_rows(), [&](std::size_t, std::size_t k) {
                   return value(k / static_cast<std::size_t>(width), k % static_cast<std::size_t>(width));
                 }));
    }
  }
}

} // namespace process_tests
