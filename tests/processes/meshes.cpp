// Meshes of several axes: each process has some indices along one of them, and all along those inside of it.
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

namespace process_tests {

namespace {

using plx::device_axis;
using plx::in_specs;
using plx::out_specs;
using plx::spec;

constexpr auto grid = plx::mesh<"i", device_axis("j", 2)>;
constexpr auto deep = plx::mesh<"i", device_axis("j", 2), device_axis("k", 2)>;
constexpr auto fixed = plx::mesh<device_axis("i", 4), device_axis("j", 2)>;

/// Whether processes can share meshes of which each index along the first axis takes so many devices.
bool can_share(std::int64_t per_row) {
  const auto counts = plx::distributed::gather(static_cast<std::int32_t>(own_rows()));
  const bool are_alike = std::all_of(counts.begin(), counts.end(), [&](auto each) { return each == counts[0]; });
  const bool have_rows = std::all_of(counts.begin(), counts.end(), [&](auto each) { return each % per_row == 0; });
  return all_rows() % per_row == 0 && (have_rows || (are_alike && per_row % counts[0] == 0));
}

/// The same on all processes: whole numbers, whose sums are exact.
plx::array<float, 2> counted(std::int64_t rows, std::int64_t columns) {
  auto x = plx::array<float, 2>::uninitialised({rows, columns});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i * 7 % 23);
  return x;
}

/// Checks the blocks of this process, and the whole, against `expected(row, column)`.
template <class Global, class F>
void check(const Global& result, std::int64_t rows, std::int64_t columns, const F& expected) {
  REQUIRE(result.shape() == std::array<std::int64_t, 2>{rows, columns});
  REQUIRE(static_cast<std::int64_t>(result.local_shards().size()) == own_rows());
  for (const auto& shard : result.local_shards())
    for (std::int64_t r = 0; r < shard.values.shape(0); ++r)
      for (std::int64_t c = 0; c < shard.values.shape(1); ++c)
        CHECK(shard.values(r, c) == expected(shard.start[0] + r, shard.start[1] + c));
  const auto all = plx::distributed::gather(result);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) CHECK(all(r, c) == expected(r, c));
}

/// Each element of an n x 2 array on a device of its own.
template <class Mesh> void check_exchanges(Mesh mesh, std::int64_t n) {
  const auto x = counted(n, 2);
  const auto run = [&](auto f) {
    return plx::shard_map(f, mesh, in_specs<spec<"i", "j">>, out_specs<spec<"i", "j">>)(x);
  };
  const auto along_i = [&](std::int64_t column) {
    float sum = 0;
    for (std::int64_t r = 0; r < n; ++r) sum += x(r, column);
    return sum;
  };
  check(run([](auto v) { return v * 100.f + plx::axis_index<"i">() * 2 + plx::axis_index<"j">(); }), n, 2,
        [&](auto r, auto c) { return x(r, c) * 100 + static_cast<float>(r * 2 + c); });
  check(run([](auto v) { return v + plx::psum<"j">(v); }), n, 2,
        [&](auto r, auto c) { return x(r, c) + x(r, 0) + x(r, 1); });
  check(run([](auto v) { return v + plx::psum<"i">(v); }), n, 2, [&](auto r, auto c) { return x(r, c) + along_i(c); });
  check(run([](auto v) { return v + plx::psum<"i", "j">(v) + plx::psum<"j">(plx::pmax<"i">(v)); }), n, 2,
        [&](auto r, auto c) {
          float sum = x(r, c) + along_i(0) + along_i(1);
          for (std::int64_t column = 0; column < 2; ++column) {
            float most = 0;
            for (std::int64_t row = 0; row < n; ++row) most = std::max(most, x(row, column));
            sum += most;
          }
          return sum;
        });
  check(run([](auto v) { return plx::ppermute<"j">(v, {{0, 1}, {1, 0}}) - v; }), n, 2,
        [&](auto r, auto c) { return x(r, 1 - c) - x(r, c); });
  check(run([](auto v) { return plx::ppermute<"i">(v, plx::rotate{1}); }), n, 2,
        [&](auto r, auto c) { return x((r + n - 1) % n, c); });
  check(run([](auto v) { // the sum of both, by a gather
          return plx::sum(plx::all_gather<"j">(v), {0}) * 2;
        }),
        n, 2, [&](auto r, auto) { return 2 * (x(r, 0) + x(r, 1)); });
  // loops, and what is the same along an axis
  check(run([](auto v) {
          return plx::fori_loop(0, 3, [](auto, auto carry) { return carry + plx::psum<"j">(carry); }, v);
        }),
        n, 2, [&](auto r, auto c) {
          float a = x(r, 0), b = x(r, 1);
          for (int k = 0; k < 3; ++k) {
            const float both = a + b;
            a += both, b += both;
          }
          return c == 0 ? a : b;
        });
}

} // namespace

TEST_CASE("collectives along each axis of a mesh") {
  if (!can_share(2)) {
    if (all_rows() % 2 != 0)
      CHECK_THROWS_WITH(plx::device_put(counted(4, 2), grid, spec<"j">), Catch::Contains("each index along i takes 2"));
    return;
  }
  check_exchanges(grid, all_rows() / 2);
}

TEST_CASE("a mesh whose sizes are all known goes over all devices") {
  if (all_rows() == 8 && can_share(2)) return check_exchanges(fixed, 4);
  if (plx::distributed::process_count() > 1)
    CHECK_THROWS_WITH(plx::device_put(counted(4, 2), fixed, spec<"j">),
                      Catch::Contains("mesh: it has 8 devices, and there are " + std::to_string(all_rows())));
}

TEST_CASE("processes whose devices are not indices along the axes of a mesh are refused, all of them") {
  if (all_rows() % 2 == 0 && !can_share(2))
    CHECK_THROWS_WITH(plx::device_put(counted(4, 2), grid, spec<"j">),
                      Catch::Contains("are not indices along its axes"));
  constexpr auto threes = plx::mesh<"i", device_axis("j", 3)>; // of three processes with two, the second has no box
  if (all_rows() % 3 == 0 && !can_share(3))
    CHECK_THROWS_WITH(plx::device_put(counted(4, 3), threes, spec<"j">),
                      Catch::Contains("are not indices along its axes"));
}

TEST_CASE("rounds that differ along one axis of a mesh, with collectives along another") {
  if (!can_share(2)) return;
  const std::int64_t n = all_rows() / 2;
  const auto x = counted(n, 2);
  const auto y = plx::shard_map(
      [](auto v) {
        const auto rounds = plx::axis_index<"j">() * 2; // none for the first
        const auto last = plx::while_loop([=](auto state) { return std::get<0>(state) < rounds; },
                                          [](auto state) {
                                            auto [k, sum] = state;
                                            return std::tuple(k + 1, sum + plx::psum<"i">(sum));
                                          },
                                          std::tuple(rounds * 0, v));
        return std::get<1>(last) + plx::psum<"j">(std::get<1>(last));
      },
      grid, in_specs<spec<"i", "j">>, out_specs<spec<"i", "j">>)(x);
  const auto after = [&](std::int64_t r) {
    float column = 0, own = x(r, 1);
    for (std::int64_t k = 0; k < n; ++k) column += x(k, 1);
    for (int k = 0; k < 2; ++k) {
      own += column;
      column += static_cast<float>(n) * column;
    }
    return own;
  };
  check(y, n, 2, [&](auto r, auto c) { return c == 0 ? 2 * x(r, 0) + after(r) : 2 * after(r) + x(r, 0); });
}

TEST_CASE("products whose terms are divided among processes") {
  if (!can_share(4)) return;
  const std::int64_t n = all_rows() / 4;
  const auto x = counted(2 * n, 8), w = counted(8, 6);
  const auto y = plx::shard_map([](auto a, auto b) { return plx::psum<"j">(plx::matmul(a, b)); }, deep,
                                in_specs<spec<"i", "j">, spec<"j", "k">>, out_specs<spec<"i", "k">>)(x, w);
  check(y, 2 * n, 6, [&](auto r, auto c) {
    float sum = 0;
    for (std::int64_t k = 0; k < 8; ++k) sum += x(r, k) * w(k, c);
    return sum;
  });
  // what comes out goes in again without being moved
  const auto again = plx::shard_map([](auto v) { return plx::pmean<"k">(plx::sum(v, {1}, true)); }, deep,
                                    in_specs<spec<"i", "k">>, out_specs<spec<"i">>)(y);
  const auto all = plx::distributed::gather(again);
  for (std::int64_t r = 0; r < 2 * n; ++r) {
    float sum = 0;
    for (std::int64_t c = 0; c < 6; ++c)
      for (std::int64_t k = 0; k < 8; ++k) sum += x(r, k) * w(k, c);
    CHECK(all(r, 0) == sum / 2);
  }
}

TEST_CASE("gradients of parameters that are divided among processes") {
  if (!can_share(2)) return;
  const std::int64_t n = all_rows() / 2;
  const auto x = counted(n, 4), w = counted(4, 1);
  // sum over rows of (x w)^2 / 2, whose terms are divided along j
  const auto loss = [](auto v, auto rows) {
    const auto y = plx::psum<"j">(plx::matmul(rows, v));
    return plx::psum<"i">(plx::sum(y * y)) / 2.f;
  };
  const auto gradient =
      plx::shard_map(plx::grad(loss), grid, in_specs<spec<"j">, spec<"i", "j">>, out_specs<spec<"j">>)(w, x);
  check(gradient, 4, 1, [&](auto k, auto) {
    float sum = 0;
    for (std::int64_t r = 0; r < n; ++r) {
      float y = 0;
      for (std::int64_t c = 0; c < 4; ++c) y += x(r, c) * w(c, 0);
      sum += y * x(r, k);
    }
    return sum;
  });
}

TEST_CASE("arrays on a mesh of several axes are put there, read and brought by parts") {
  if (!can_share(4)) return;
  const std::int64_t n = all_rows() / 4;
  const auto x = counted(2 * n, 4);
  const auto placed = plx::device_put(x, deep, spec<"i", "k">);
  const auto& part = placed.part();
  check(placed, 2 * n, 4, [&](auto r, auto c) { return x(r, c); });
  for (std::int64_t r = 0; r < 2 * n; ++r)
    for (std::int64_t c = 0; c < 4; ++c) {
      if (part[0].contains(r / 2) && part[2].contains(c / 2)) CHECK(placed(r, c) == x(r, c));
      else CHECK_THROWS_WITH(placed(r, c), Catch::Contains("lies with another process, at number"));
    }
  const bool is_here = part[0].is_whole() && part[2].is_whole();
  CHECK(placed.is_fully_addressable() == is_here);
  if (is_here) CHECK(placed.gather().to_vector() == x.to_vector());
  else CHECK_THROWS_WITH(placed.gather(), Catch::Contains("plx::distributed::gather(x) fetches the others"));

  // this process' rows and columns, of which others may have the same
  auto own = plx::array<float, 2>::uninitialised({2 * part[0].here, 2 * part[2].here});
  float* to = own.mutable_data();
  for (std::int64_t r = 0; r < own.shape(0); ++r)
    for (std::int64_t c = 0; c < own.shape(1); ++c) *to++ = x(2 * part[0].first + r, 2 * part[2].first + c);
  const auto brought = plx::global_from_local(own, deep, spec<"i", "k">);
  check(brought, 2 * n, 4, [&](auto r, auto c) { return x(r, c); });
  // all have it
  const auto everywhere = plx::device_put(x, deep, spec<>);
  CHECK(everywhere.is_fully_addressable());
  CHECK(everywhere.gather().to_vector() == x.to_vector());
}

} // namespace process_tests
