// Conformance cases of JAX's pbroadcast, all_to_all and pswapaxes.
#include "expected.hpp"

namespace exchange_test {

namespace {

using namespace conformance;
using plx::gather_mode;

/// What instance i has after an all_to_all of x[instance][row][column], all rows after each other: for all instances.
template <class T> std::vector<T> exchanged(const plx::array<T, 3>& x, int split, int concat) {
  const std::int64_t n = x.shape()[0], rest = x.shape()[split == 0 ? 2 : 1];
  std::vector<T> result;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t a = 0; a < (concat == 0 ? n : rest); ++a)
      for (std::int64_t b = 0; b < (concat == 0 ? rest : n); ++b) {
        const std::int64_t k = concat == 0 ? a : b, r = concat == 0 ? b : a;
        result.push_back(split == 0 ? x(k, i, r) : x(k, r, i));
      }
  return result;
}

template <int Split, int Concat>
constexpr auto exchange = [](auto x) { return plx::all_to_all<"i">(x, Split, Concat); };
template <int Split, int Concat>
constexpr auto exchange_tiles = [](auto x) { return plx::all_to_all<"i">(x, Split, Concat, gather_mode::tiled); };

/// pmap and vmap give the same.
template <int Split, int Concat, class T> void check_exchange(std::int64_t n, std::int64_t rest) {
  INFO(n << " instances, split " << Split << ", concat " << Concat);
  const auto x = Split == 0 ? counted<T>(n, n, rest) : counted<T>(n, rest, n);
  const std::vector<T> expected = exchanged(x, Split, Concat);
  check_equal(plx::pmap<"i">(exchange<Split, Concat>)(x), {n, Concat == 0 ? n : rest, Concat == 0 ? rest : n},
              expected);
  check_equal(plx::vmap<"i">(exchange<Split, Concat>)(x), {n, Concat == 0 ? n : rest, Concat == 0 ? rest : n},
              expected);
}
template <class T> void check_exchanges(std::int64_t n, std::int64_t rest) {
  check_exchange<0, 0, T>(n, rest);
  check_exchange<0, 1, T>(n, rest);
  check_exchange<1, 0, T>(n, rest);
  check_exchange<1, 1, T>(n, rest);
}

} // namespace

TEST_CASE("row 34: everybody exchanges with everybody") {
  for (std::int64_t n : {1, 2, 4, 8}) check_exchanges<float>(n, n);
  check_exchanges<float>(4, 3);
  check_exchanges<std::int32_t>(4, 5);
  check_exchanges<double>(2, 2);
  check_exchanges<std::uint8_t>(2, 3);
  const plx::array<bool, 2> truths{{true, false, false}, {false, true, true}, {false, false, true}};
  check_equal(plx::pmap<"i">(exchange<0, 0>)(truths), {3, 3},
              std::vector<bool>{true, false, false, false, true, false, false, true, true});
}

TEST_CASE("row 24: an exchange transposes, for trees") {
  auto [a, b] = plx::pmap<"i">([](auto x) {
    return plx::tree_map([](auto leaf) { return plx::all_to_all<"i">(leaf, 0, 0); }, x);
  })(std::pair{counted(3, 3), counted<std::int32_t>(3, 3)});
  check_equal(a, {3, 3}, std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8});
  check_equal(b, {3, 3}, std::vector<std::int32_t>{0, 3, 6, 1, 4, 7, 2, 5, 8});
}

TEST_CASE("exchanged tiles") {
  // x[i][r][c] is 12i + 6r + c; the columns are cut into tiles of 3, and the rows' tiles joined along either axis
  const auto x = counted(2, 2, 6);
  const std::vector<float> below{0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20, 3, 4, 5, 9, 10, 11, 15, 16, 17, 21, 22, 23};
  const std::vector<float> beside{0, 1, 2, 12, 13, 14, 6, 7, 8, 18, 19, 20, 3, 4, 5, 15, 16, 17, 9, 10, 11, 21, 22, 23};
  check_equal(plx::pmap<"i">(exchange_tiles<1, 0>)(x), {2, 4, 3}, below);
  check_equal(plx::vmap<"i">(exchange_tiles<1, 0>)(x), {2, 4, 3}, below);
  check_equal(plx::pmap<"i">(exchange_tiles<1, 1>)(x), {2, 2, 6}, beside);
  check_equal(plx::vmap<"i">(exchange_tiles<-1, -1>)(x), {2, 2, 6}, beside);
  // there and back again
  constexpr auto both = [](auto v) {
    return plx::all_to_all<"i">(plx::all_to_all<"i">(v, 1, 0, gather_mode::tiled), 0, 1, gather_mode::tiled);
  };
  check_equal(plx::pmap<"i">(both)(x), {2, 2, 6}, x.to_vector());
}

TEST_CASE("pswapaxes exchanges the mapped axis with another") {
  const auto x = counted(3, 2, 3); // instances, rows, columns
  constexpr auto swapped = [](auto v) { return plx::pswapaxes<"i">(v, 1); };
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i)
    for (int r = 0; r < 2; ++r)
      for (int k = 0; k < 3; ++k) expected.push_back(x(k, r, i));
  check_equal(plx::pmap<"i">(swapped)(x), {3, 2, 3}, expected);
  check_equal(plx::vmap<"i">(swapped)(x), {3, 2, 3}, expected);
}

TEST_CASE("the gradient of an exchange is the exchange back") {
  const auto x = counted(3, 3, 2), w = counted(3, 2, 3);
  constexpr auto loss = [](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">(exchange<0, 1>)(v)); // instances, rest, pieces
  };
  std::vector<float> back;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 2; ++r) back.push_back(w(k, r, i));
  check_equal(plx::grad(loss)(x, w), {3, 3, 2}, back);
  // x[i][r][c] is 12i + 6r + c: the weights of the tiles go back where the tiles came from
  auto tiles = plx::grad([](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">(exchange_tiles<1, 0>)(v));
  })(counted(2, 2, 6), counted(2, 4, 3));
  check_equal(tiles, {2, 2, 6}, std::vector<float>{0, 1, 2, 12, 13, 14, 3, 4,  5,  15, 16, 17, //
                                                   6, 7, 8, 18, 19, 20, 9, 10, 11, 21, 22, 23});
  // the second derivative goes there and back: grad of v . (back(w * there(v)^2)) and the like
  auto twice = plx::pmap<"i">(plx::grad([](auto v) {
    auto there = plx::pswapaxes<"i">(v, 0);
    return plx::sum(there * there);
  }))(counted(3, 3));
  check_equal(twice, {3, 3}, std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16});
}

TEST_CASE("row 37: everybody gets what one instance has") {
  constexpr auto first = [](auto x) { return plx::pbroadcast<"i">(x, 0); };
  constexpr auto second = [](auto x) { return plx::pbroadcast<"i">(x, 1); };
  for (std::int64_t n : {2, 4, 8}) {
    const auto x = counted(n, 4);
    check_equal(plx::pmap<"i">(first)(x), {n, 4}, repeated(std::vector<float>{0, 1, 2, 3}, n));
    check_equal(plx::pmap<"i">(second)(x), {n, 4}, repeated(std::vector<float>{4, 5, 6, 7}, n));
    check_equal(plx::vmap<"i">(second)(x), {n, 4}, repeated(std::vector<float>{4, 5, 6, 7}, n));
  }
  // it is the same everywhere: out_axes none is legal
  check_equal(plx::pmap<"i">(second, plx::out_axes<plx::none>)(counted(4, 2)), {2}, std::vector<float>{2, 3});
  check_equal(plx::vmap<"i">(second, plx::in_axes<1>, plx::out_axes<plx::none>)(counted(4, 2)), {4},
              std::vector<float>{1, 3, 5, 7});
  const plx::array<bool, 1> truths{true, false, true};
  check_equal(plx::pmap<"i">(second)(truths), {3}, std::vector<bool>{false, false, false});
}

TEST_CASE("row 53: the gradient of a broadcast is its source's") {
  constexpr auto of_first = plx::grad([](auto x) { return plx::pbroadcast<"i">(x, 0); });
  for (std::int64_t n : {2, 4, 8}) {
    std::vector<float> expected(static_cast<std::size_t>(n), 0.f);
    expected[0] = static_cast<float>(n);
    check_equal(plx::pmap<"i">(of_first)(counted(n)), {n}, expected);
    check_equal(plx::vmap<"i">(of_first)(counted(n)), {n}, expected);
  }
  auto outside = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::pbroadcast<"i">(v, 2); })(x));
  })(counted(3, 2), counted(3, 2));
  check_equal(outside, {3, 2}, std::vector<float>{0, 0, 0, 0, 6, 9});
}

TEST_CASE("section 3: broadcasts and exchanges over a pmapped axis around a vmap") {
  const auto x = counted(2, 3, 2); // devices, batch, elements
  auto [same, pieces, tiles] = plx::pmap<"i">(plx::vmap([](auto v) {
    return std::tuple{plx::pbroadcast<"i">(v, 1), plx::all_to_all<"i">(v, 0, 0),
                      plx::all_to_all<"i">(v, 0, 0, gather_mode::tiled)};
  }))(x);
  std::vector<float> from_second, exchanges;
  for (int p = 0; p < 2; ++p)
    for (int b = 0; b < 3; ++b)
      for (int q = 0; q < 2; ++q) {
        from_second.push_back(x(1, b, q));
        exchanges.push_back(x(q, b, p));
      }
  check_equal(same, {2, 3, 2}, from_second);
  check_equal(pieces, {2, 3, 2}, exchanges);
  check_equal(tiles, {2, 3, 2}, exchanges);
  // the same with the batch last
  auto last = plx::pmap<"i">(plx::vmap([](auto v) { return plx::all_to_all<"i">(v, 0, 0); }, plx::in_axes<1>,
                                       plx::out_axes<1>))(counted(2, 2, 3));
  check_equal(last, {2, 2, 3}, std::vector<float>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11});
}

TEST_CASE("section 3: broadcasts and exchanges over nested axes") {
  // positions (i, j) of a 2 by 3 mesh hold 100(3i + j) + element
  auto x = plx::array<float, 3>::uninitialised({2, 3, 6});
  for (int p = 0; p < 6; ++p)
    for (int e = 0; e < 6; ++e) x.mutable_data()[6 * p + e] = static_cast<float>(100 * p + e);
  constexpr auto nested = plx::pmap<"i">([](auto rows) {
    return plx::pmap<"j">([](auto v) {
      return std::tuple{plx::pbroadcast<"i">(v, 1),
                        plx::pbroadcast<"j">(v, 2),
                        plx::pbroadcast<"i", "j">(v, 4),
                        plx::all_to_all<"i", "j">(v, 0, 0),
                        plx::all_to_all<"j">(v, 0, 0, gather_mode::tiled),
                        plx::grad([](auto u) { return plx::sum(plx::pbroadcast<"i", "j">(u, 4)); })(v)};
    })(rows);
  });
  auto [along_i, along_j, along_both, pieces, tiles, slope] = nested(x);
  std::vector<float> of_i, of_j, of_both, exchanges, joined, slopes;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int e = 0; e < 6; ++e) {
        of_i.push_back(x(1, j, e));
        of_j.push_back(x(i, 2, e));
        of_both.push_back(x(1, 1, e));
        exchanges.push_back(x(e / 3, e % 3, 3 * i + j));
        joined.push_back(x(i, e / 2, 2 * j + e % 2));
        slopes.push_back(i == 1 && j == 1 ? 6.f : 0.f);
      }
  check_equal(along_i, {2, 3, 6}, of_i);
  check_equal(along_j, {2, 3, 6}, of_j);
  check_equal(along_both, {2, 3, 6}, of_both);
  check_equal(pieces, {2, 3, 6}, exchanges);
  check_equal(tiles, {2, 3, 6}, joined);
  check_equal(slope, {2, 3, 6}, slopes);
}

} // namespace exchange_test
