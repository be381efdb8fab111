// Gradients and batches of what reads and changes elements at places that are data.
#include "indices.hpp"

#include <tuple>
#include <utility>

namespace indexing_derivatives_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;

} // namespace

namespace {

/// The gradient of f by differences.
template <class F> numbers slopes(const F& f, plx::array<double, 2> x) {
  numbers result;
  const double step = 1e-6;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    const double value = x.values()[static_cast<std::size_t>(k)];
    x.mutable_data()[k] = value + step;
    const double above = plx::array<double, 0>(f(x)).item();
    x.mutable_data()[k] = value - step;
    result.push_back((above - plx::array<double, 0>(f(x)).item()) / (2 * step));
    x.mutable_data()[k] = value;
  }
  return result;
}
constexpr auto weigh = [](auto x) { return plx::sum(plx::sin(x) * (plx::arange<double>(x.shape(1)) + 1.)); };

} // namespace

TEST_CASE("gradients by the array and by the updates, beside differences") {
  const auto x = waves<2>({5, 3});
  const plx::array<double, 2> y = 0.7 * waves<2>({10, 3}) + 0.31;
  const auto i = indices(mixed);
  auto check = [&](auto f) {
    const auto of_x = plx::jit(plx::grad(f, plx::argnums<0>))(x, y, i);
    const auto of_y = plx::jit(plx::grad(f, plx::argnums<1>))(x, y, i);
    check_close<double>(of_x, {5, 3}, slopes([&](const auto& z) { return plx::jit(f)(z, y, i); }, x), 1e-6, 1e-6);
    check_close<double>(of_y, {10, 3}, slopes([&](const auto& z) { return plx::jit(f)(x, z, i); }, y), 1e-6, 1e-6);
  };
  check([](auto a, auto b, auto j) { return weigh(a[j] * b); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).set(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).add(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).max(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).min(b)); });
  check([](auto a, auto b, auto) {
    auto k = plx::arange<int>(3);
    return weigh(a.at(k).multiply(plx::slice_in_dim(b, 0, 3), plx::unique_indices)) + plx::sum(b);
  });
  check([](auto a, auto b, auto j) {
    auto k = plx::index_in_dim(j, 0);
    return weigh(plx::dynamic_update_slice(a, plx::slice_in_dim(b, 0, 2), std::tuple{k, 0})) +
           weigh(plx::dynamic_slice(b, std::tuple{k, k}, {4, 2}));
  });
  check([](auto a, auto b, auto j) { return weigh(plx::segment_sum(b, j, 4)) + plx::sum(a[j] * b); });
}

TEST_CASE("second derivatives, and equal extremes share") {
  const auto x = waves<1>({5});
  const auto i = indices(mixed);
  const auto second = plx::jit(plx::grad([](auto a, auto j) {
    return plx::sum(plx::grad([j](auto b) { return plx::sum(b[j] * b[j] * b[j]); })(a));
  }))(x, i);
  numbers expected(5);
  for (auto index : mixed) expected[static_cast<std::size_t>(clipped(index, 5))] += 6 * x(clipped(index, 5));
  check_close<double>(second, {5}, expected, 1e-14, 1e-14);
  const auto [of_array, of_updates] =
      plx::jit(plx::grad([](auto a, auto b, auto j) { return plx::sum(a.at(j).max(b)); }, plx::argnums<0, 1>))(
          plx::array<double, 1>{1, 2}, plx::array<double, 1>{2, 2, 0}, indices({1, 1, 0}));
  check_close<double>(of_array, {2}, {1, 1. / 3}, 1e-15);
  check_close<double>(of_updates, {3}, {1. / 3, 1. / 3, 0}, 1e-15);
}

TEST_CASE("batches of arrays, of indices and of both are as call by call") {
  const auto x = waves<3>({4, 5, 3});
  const auto one = waves<2>({5, 3});
  const plx::array<std::int32_t, 2> i{{0, -1, 7}, {2, 2, 1}, {-9, 4, 3}, {1, 0, 2}};
  const auto few = indices({3, -2, 3});
  const plx::array<double, 3> y = 2 * waves<3>({4, 3, 3}) - 0.3;
  static constexpr auto read = [](auto a, auto j) { return a[j]; };
  static constexpr auto write = [](auto a, auto j, auto b) { return a.at(j).add(b); };
  static constexpr auto part = [](auto a, auto j) { return plx::dynamic_slice_in_dim(a, j[0], 2); };
  static constexpr auto along = [](auto a, auto j) {
    return plx::take_along_axis(a, plx::broadcast_to(plx::reshape(j, {3, 1}), {3, 3}), 0, plx::mode::clip);
  };
  const auto of = [](const auto& whole, std::int64_t k) {
    return plx::jit([](auto a, auto number) { return plx::dynamic_index_in_dim(a, number); })(
        whole, plx::array<std::int32_t, 0>(static_cast<std::int32_t>(k)));
  };
  auto compare = [&](const auto& batch, std::int64_t count, const auto& single) {
    numbers expected;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto own = on_host(single(k)).to_vector();
      expected.insert(expected.end(), own.begin(), own.end());
    }
    const auto whole = on_host(batch);
    CHECK(whole.to_vector() == expected);
  };
  compare(plx::jit(plx::vmap(read))(x, i), 4, [&](std::int64_t k) { return plx::jit(read)(of(x, k), of(i, k)); });
  compare(plx::jit(plx::vmap(read, plx::in_axes<0, plx::none>))(x, few), 4,
          [&](std::int64_t k) { return plx::jit(read)(of(x, k), few); });
  compare(plx::jit(plx::vmap(read, plx::in_axes<plx::none, 0>))(one, i), 4,
          [&](std::int64_t k) { return plx::jit(read)(one, of(i, k)); });
  compare(plx::jit(plx::vmap(write))(x, i, y), 4,
          [&](std::int64_t k) { return plx::jit(write)(of(x, k), of(i, k), of(y, k)); });
  compare(plx::jit(plx::vmap(write, plx::in_axes<plx::none, 0, 0>))(one, i, y), 4,
          [&](std::int64_t k) { return plx::jit(write)(one, of(i, k), of(y, k)); });
  compare(plx::jit(plx::vmap(part))(x, i), 4, [&](std::int64_t k) { return plx::jit(part)(of(x, k), of(i, k)); });
  compare(plx::jit(plx::vmap(along))(x, i), 4, [&](std::int64_t k) { return plx::jit(along)(of(x, k), of(i, k)); });
  static constexpr auto joined = [](auto a, auto j, auto b) {
    return plx::concatenate({plx::take(a, j, 0, plx::mode::clip),
                             plx::dynamic_update_slice_in_dim(a, plx::slice_in_dim(b, 0, 2), j[0]),
                             plx::segment_sum(b, j, 4)});
  };
  compare(plx::jit(plx::vmap(joined))(x, i, y), 4,
          [&](std::int64_t k) { return plx::jit(joined)(of(x, k), of(i, k), of(y, k)); });
  static constexpr auto slope = [](auto a, auto j, auto b) {
    return plx::grad([=](auto c) { return plx::sum(plx::sin(c.at(j).add(b)) * c[plx::index_in_dim(j, 0)]); })(a);
  };
  compare(plx::jit(plx::vmap(slope))(x, i, y), 4,
          [&](std::int64_t k) { return plx::jit(slope)(of(x, k), of(i, k), of(y, k)); });
}

TEST_CASE("rounds of a loop read and write at places of their own") {
  // x[k] = x[i[k]] + 1 for k = 0, 1, ...
  const places from{4, 0, 0, 2, 1, 3, -1, 5};
  const auto x = waves<1>({8});
  static constexpr auto follow = [](auto a, auto i) {
    return plx::fori_loop(0, a.shape(0), [=](auto k, auto b) { return b.at(k).set(b[i[k]] + 1.); }, a);
  };
  numbers expected = x.to_vector();
  for (std::size_t k = 0; k < 8; ++k) expected[k] = expected[static_cast<std::size_t>(clipped(from[k], 8))] + 1;
  check_close<double>(plx::jit(follow)(x, indices(from)), {8}, expected, 1e-14);
  const auto gradient = plx::jit(plx::grad([](auto a, auto i) { return plx::sum(follow(a, i)); }))(x, indices(from));
  numbers weights(8, 1);
  for (std::size_t k = 8; k-- > 0;) {
    const double own = weights[k];
    weights[k] = 0;
    weights[static_cast<std::size_t>(clipped(from[k], 8))] += own;
  }
  check_close<double>(gradient, {8}, weights, 1e-14);
}

} // namespace indexing_derivatives_test
