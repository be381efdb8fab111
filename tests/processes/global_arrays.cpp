// Arrays on a mesh that goes over all processes.
#include "rows.hpp"

#include <cmath>
#include <sstream>
#include <string>

namespace process_tests {

namespace {

using plx::in_specs;
using plx::none;
using plx::out_specs;
using plx::spec;

constexpr auto line = plx::mesh<"i">;
constexpr auto grid = plx::mesh<"i", plx::device_axis("j", 2)>;

/// The same on all processes: `width` numbers for each of `rows` rows.
plx::array<float, 2> whole(std::int64_t rows, std::int64_t width) {
  auto x = plx::array<float, 2>::uninitialised({rows, width});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = std::sin(static_cast<float>(i) * 1.3f);
  return x;
}

} // namespace

TEST_CASE("an array that all processes have, cut along a mesh of all devices") {
  const std::int64_t n = all_rows(), first = first_row(); // which all processes ask together
  const auto x = whole(2 * n, 3);
  const auto f = plx::shard_map([](auto v) { return v * 2.f + plx::axis_index<"i">(); }, line, in_specs<spec<"i">>,
                                out_specs<spec<"i">>);
  const auto expected = [&](std::int64_t r, std::int64_t c) { return x(r, c) * 2.f + static_cast<float>(r / 2); };
  const auto by_hand = f(x), placed = f(plx::device_put(x, line, spec<"i">));
  REQUIRE(by_hand.shape() == std::array<std::int64_t, 2>{2 * n, 3});
  const auto shards = by_hand.local_shards();
  REQUIRE(static_cast<std::int64_t>(shards.size()) == own_rows());
  for (std::size_t s = 0; s < shards.size(); ++s) {
    CHECK(shards[s].start[0] == 2 * (first + static_cast<std::int64_t>(s)));
    for (int i = 0; i < 2; ++i) {
      const std::int64_t row = shards[s].start[0] + i;
      CHECK(shards[s].values(i, 1) == expected(row, 1));
      CHECK(by_hand(row, 2) == expected(row, 2));
      CHECK(placed(row, 2) == expected(row, 2));
    }
  }
  const auto all = plx::distributed::gather(placed);
  for (std::int64_t r = 0; r < 2 * n; ++r)
    for (std::int64_t c = 0; c < 3; ++c) CHECK(all(r, c) == expected(r, c));

  std::ostringstream text;
  text << placed;
  const bool is_here = own_rows() == n;
  CHECK(placed.is_fully_addressable() == is_here);
  CHECK((text.str().substr(0, 9) == "device 0,") == !is_here);
  if (is_here) return;
  const std::int64_t elsewhere = first == 0 ? 2 * n - 1 : 0;
  CHECK_THROWS_WITH(placed(elsewhere, 0), Catch::Contains("lies with another process, at number " +
                                                          std::to_string(elsewhere / 2) + " along i"));
  CHECK_THROWS_WITH(placed.gather(), Catch::Contains("plx::distributed::gather(x) fetches the others"));
}

TEST_CASE("an array of which each process brings its part") {
  auto values = plx::array<double, 1>::uninitialised({own_rows() * 3});
  const std::int64_t first = first_row();
  for (std::int64_t i = 0; i < values.size(); ++i) values.mutable_data()[i] = static_cast<double>(first * 3 + i);
  const auto x = plx::global_from_local(values, line, spec<"i">);
  REQUIRE(x.shape(0) == all_rows() * 3);
  const auto all = plx::distributed::gather(x);
  for (std::int64_t i = 0; i < all.size(); ++i) CHECK(all(i) == static_cast<double>(i));
  // what all have is alike, and stays whole
  const auto same = plx::shard_map([](auto v) { return plx::psum<"i">(plx::sum(v)); }, line, in_specs<spec<"i">>,
                                   out_specs<spec<>>)(x);
  CHECK(same() == static_cast<double>(all.size() * (all.size() - 1) / 2));
  CHECK(same.is_fully_addressable());
}

TEST_CASE("parameters that all processes have learn from all rows alike") {
  const auto rows = whole(2 * all_rows(), 2);
  const plx::array<float, 1> w{.5f, -.25f};
  const auto gradient = plx::shard_map(plx::grad([](auto v, auto own) {
                                         const auto error = plx::matmul(own, v) - plx::sum(own, {1});
                                         return plx::pmean<"i">(plx::mean(error * error));
                                       }),
                                       line, in_specs<spec<>, spec<"i">>, out_specs<spec<>>)(w, rows);
  double by_first = 0, by_second = 0;
  const auto n = static_cast<double>(rows.shape(0));
  for (std::int64_t r = 0; r < rows.shape(0); ++r) {
    const double a = rows(r, 0), b = rows(r, 1), error = a * (.5 - 1) + b * (-.25 - 1);
    by_first += 2 * error * a / n;
    by_second += 2 * error * b / n;
  }
  CHECK(gradient(0) == Approx(by_first));
  CHECK(gradient(1) == Approx(by_second));
  for (const auto& other : plx::distributed::gather(gradient.gather()))
    CHECK(other.to_vector() == gradient.gather().to_vector());
}

} // namespace process_tests
