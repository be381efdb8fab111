// Changes of shape: broadcasting, reshaping, transposing, slicing, concatenating, padding.
#include "ops/reference.hpp"

namespace shape_test {

namespace {

namespace plx = parallax;
using plx::dyn, plx::extents, plx::none;
using reference::coordinates;
using reference::table;

using dynamic = plx::array<double, 3>;
using fixed = plx::array<double, extents<2, 3, 4>>;
using partly = plx::array<double, extents<2, dyn, 4>>;

const table cube = reference::numbers({2, 3, 4}, -1, 1);

template <class F> void check(F f, const std::vector<table>& expected) {
  auto check_as = [&]<class Array>(std::type_identity<Array>) {
    std::vector<table> actual = reference::tables_of(plx::jit(f)(reference::array_of<Array>(cube)));
    REQUIRE(actual.size() == expected.size());
    for (std::size_t k = 0; k < actual.size(); ++k) {
      INFO("result " << k << " of an array of type " << plx::detail::shape_for<typename Array::extents_type>.rank);
      compare(actual[k], expected[k]);
    }
  };
  check_as(std::type_identity<fixed>{});
  check_as(std::type_identity<partly>{});
  reference::check_gradient(f, reference::array_of<fixed>(cube));
  reference::check_gradient(f, reference::array_of<partly>(cube));
  reference::check_batching<0>(f, reference::array_of<fixed>(cube));
  reference::check_batching<2>(f, reference::array_of<partly>(cube));
}

/// The element at every index of a shape, as an index into the cube.
template <class F> table pick(const coordinates& shape, F from) {
  return reference::tabulate(shape, [&](const coordinates& at) { return cube[from(at)]; });
}
table flat_as(const coordinates& shape) { return {shape, cube.values}; }

} // namespace

TEST_CASE("reshape, with one extent left open") {
  check(
      [](auto x) {
        return std::tuple(plx::reshape(x, {2, 12}), plx::reshape(x, {-1, 4}), plx::reshape(x, {4, -1}), plx::ravel(x),
                          plx::reshape(x, {2, -1, 2, 2}), plx::expand_dims(x, 0), plx::expand_dims(x, -1),
                          plx::squeeze(plx::expand_dims(x, 2), 2));
      },
      {flat_as({2, 12}), flat_as({6, 4}), flat_as({4, 6}), flat_as({24}), flat_as({2, 3, 2, 2}), flat_as({1, 2, 3, 4}),
       flat_as({2, 3, 4, 1}), cube});
}

TEST_CASE("transpose and moveaxis permute axes") {
  check(
      [](auto x) {
        return std::tuple(plx::transpose(x), plx::transpose(x, {1, 2, 0}), plx::transpose(x, {-3, -1, 1}),
                          plx::moveaxis(x, 0, -1), plx::moveaxis(x, 2, 0), plx::reshape(plx::transpose(x), {6, 4}));
      },
      {pick({4, 3, 2}, [](const coordinates& i) { return coordinates{i[2], i[1], i[0]}; }),
       pick({3, 4, 2}, [](const coordinates& i) { return coordinates{i[2], i[0], i[1]}; }),
       pick({2, 4, 3}, [](const coordinates& i) { return coordinates{i[0], i[2], i[1]}; }),
       pick({3, 4, 2}, [](const coordinates& i) { return coordinates{i[2], i[0], i[1]}; }),
       pick({4, 2, 3}, [](const coordinates& i) { return coordinates{i[1], i[2], i[0]}; }),
       pick({6, 4}, [](const coordinates& i) {
         std::int64_t n = 4 * i[0] + i[1];
         return coordinates{n % 2, n / 2 % 3, n / 6};
       })});
}

TEST_CASE("broadcast_to repeats along new axes and those of extent 1") {
  constexpr auto broadcast = [](auto number, auto row, auto column) {
    return std::tuple(plx::broadcast_to(number, {2, 3}), plx::broadcast_to(row, {2, 4, 3}),
                      plx::broadcast_to(column, {2, 4, 3}), plx::broadcast_to(row, {3}));
  };
  auto number = reference::array_of<double, 0>(reference::numbers({}, -1, 1));
  auto row = reference::array_of<double, 1>(reference::numbers({3}, -1, 1));
  auto column = reference::array_of<plx::array<double, extents<4, 1>>>(reference::numbers({4, 1}, -1, 1));
  auto [all, rows, columns, same] = plx::jit(broadcast)(number, row, column);
  reference::compare(all, reference::tabulate({2, 3}, [&](const coordinates&) { return number.item(); }));
  reference::compare(rows, reference::tabulate({2, 4, 3}, [&](const coordinates& i) { return row(i[2]); }));
  reference::compare(columns, reference::tabulate({2, 4, 3}, [&](const coordinates& i) { return column(i[1], 0); }));
  CHECK(plx::array_equal(same, row));
  reference::check_gradient(broadcast, number, row, column);
  reference::check_batching<0, 1, 2>(broadcast, number, row, column);
  reference::check_batching<-1, -1, 0>(broadcast, number, row, column);
}

TEST_CASE("slice takes every n-th element between bounds") {
  check(
      [](auto x) {
        return std::tuple(plx::slice(x, {0, 1, 0}, {2, 3, 4}), plx::slice(x, {1, 0, 1}, {2, 3, 4}, {1, 2, 2}),
                          plx::slice(x, {0, 0, 0}, {2, 3, 4}, {2, 1, 3}), plx::slice(x, {0, 2, 1}, {2, 2, 4}),
                          plx::slice(x, {0, 2, 1}, {2, 2, 4}, {1, 2, 1}));
      },
      {pick({2, 2, 4}, [](const coordinates& i) { return coordinates{i[0], i[1] + 1, i[2]}; }),
       pick({1, 2, 2}, [](const coordinates& i) { return coordinates{i[0] + 1, 2 * i[1], 2 * i[2] + 1}; }),
       pick({1, 3, 2}, [](const coordinates& i) { return coordinates{2 * i[0], i[1], 3 * i[2]}; }),
       table{{2, 0, 3}, {}}, table{{2, 0, 3}, {}}});
}

TEST_CASE("slice_in_dim and index_in_dim count negative bounds from the end") {
  check(
      [](auto x) {
        return std::tuple(plx::slice_in_dim(x, 1, 3, 1, 1), plx::slice_in_dim(x, -2, none, 1, 1),
                          plx::slice_in_dim(x, none, -1, 1, -1), plx::slice_in_dim(x, none, none, 3, 2),
                          plx::slice_in_dim(x, 1, -1, 1, 2), plx::index_in_dim(x, 1), plx::index_in_dim(x, -1, 1),
                          plx::index_in_dim(x, -4, 2), plx::slice_in_dim(x, -2, 2));
      },
      {pick({2, 2, 4}, [](const coordinates& i) { return coordinates{i[0], i[1] + 1, i[2]}; }),
       pick({2, 2, 4}, [](const coordinates& i) { return coordinates{i[0], i[1] + 1, i[2]}; }),
       pick({2, 3, 3}, [](const coordinates& i) { return i; }),
       pick({2, 3, 2}, [](const coordinates& i) { return coordinates{i[0], i[1], 3 * i[2]}; }),
       pick({2, 3, 2}, [](const coordinates& i) { return coordinates{i[0], i[1], i[2] + 1}; }),
       pick({3, 4}, [](const coordinates& i) { return coordinates{1, i[0], i[1]}; }),
       pick({2, 4}, [](const coordinates& i) { return coordinates{i[0], 2, i[1]}; }),
       pick({2, 3}, [](const coordinates& i) { return coordinates{i[0], i[1], 0}; }), cube});
}

TEST_CASE("concatenate and stack join along any axis") {
  check(
      [](auto x) {
        auto part = plx::slice_in_dim(x, 1, 3, 1, 1);
        return std::tuple(plx::concatenate({x, part, x}, 1), plx::concatenate({part, 2 * part}),
                          plx::concatenate({x, x}, -1), plx::stack({x, -x}), plx::stack({x, -x, x}, 2),
                          plx::stack({x, x}, -1), plx::concatenate({x}, 1));
      },
      {pick({2, 8, 4},
            [](coordinates i) {
              i[1] = i[1] < 3 ? i[1] : i[1] < 5 ? i[1] - 2 : i[1] - 5;
              return i;
            }),
       reference::tabulate({4, 2, 4},
                           [](const coordinates& i) { return (i[0] < 2 ? 1 : 2) * cube[{i[0] % 2, i[1] + 1, i[2]}]; }),
       pick({2, 3, 8}, [](const coordinates& i) { return coordinates{i[0], i[1], i[2] % 4}; }),
       reference::tabulate({2, 2, 3, 4},
                           [](const coordinates& i) { return (i[0] == 0 ? 1 : -1) * cube[{i[1], i[2], i[3]}]; }),
       reference::tabulate({2, 3, 3, 4},
                           [](const coordinates& i) { return (i[2] == 1 ? -1 : 1) * cube[{i[0], i[1], i[3]}]; }),
       pick({2, 3, 4, 2}, [](const coordinates& i) { return coordinates{i[0], i[1], i[2]}; }), cube});
}

namespace {
struct amounts {
  std::int64_t low, high, interior;
};
/// JAX's lax.pad by definition: where the padded index comes from, or the fill.
table padded(const table& x, double fill, const std::vector<amounts>& p) {
  coordinates shape;
  for (std::size_t i = 0; i < p.size(); ++i)
    shape.push_back(p[i].low + p[i].high + x.shape[i] + (x.shape[i] > 0 ? x.shape[i] - 1 : 0) * p[i].interior);
  return reference::tabulate(shape, [&](const coordinates& at) {
    coordinates from = at;
    for (std::size_t i = 0; i < p.size(); ++i) {
      std::int64_t place = at[i] - p[i].low, step = p[i].interior + 1;
      if (place < 0 || place % step != 0 || place / step >= x.shape[i]) return fill;
      from[i] = place / step;
    }
    return x[from];
  });
}
} // namespace

TEST_CASE("pad puts a value before, after and between, or cuts off") {
  check(
      [](auto x) {
        return std::tuple(
            plx::pad(x, 0.25, {{1, 2, 0}, {0, 0, 0}, {0, 1, 0}}), plx::pad(x, 7, {{0, 0, 1}, {0, 0, 2}, {1, 1, 1}}),
            plx::pad(x, 0, {{0, 0, 0}, {-1, 0, 0}, {-1, -2, 0}}), plx::pad(x, -1, {{2, -1, 0}, {-1, 2, 1}, {0, -1, 2}}),
            plx::pad(x, 1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
      },
      {padded(cube, 0.25, {{1, 2, 0}, {0, 0, 0}, {0, 1, 0}}), padded(cube, 7, {{0, 0, 1}, {0, 0, 2}, {1, 1, 1}}),
       padded(cube, 0, {{0, 0, 0}, {-1, 0, 0}, {-1, -2, 0}}), padded(cube, -1, {{2, -1, 0}, {-1, 2, 1}, {0, -1, 2}}),
       cube});
}

TEST_CASE("the value that pads has a gradient and may be mapped") {
  constexpr auto pad = [](auto x, auto value) { return plx::pad(x, value, {{1, 0, 1}, {-1, 2, 0}}); };
  auto x = reference::array_of<double, 2>(reference::numbers({2, 3}, -1, 1));
  auto value = reference::array_of<double, 0>(reference::numbers({}, -1, 1, 0.3));
  reference::check_gradient(pad, x, value);
  reference::check_batching<0, -1>(pad, x, value);
  reference::check_batching<-1, 0>(pad, x, value);
  reference::check_batching<2, 0>(pad, x, value);
}

} // namespace shape_test
