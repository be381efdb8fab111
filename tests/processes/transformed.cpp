// Gradients, nested pmaps, loops and errors of programs that run on several processes.
#include "rows.hpp"

#include <cmath>
#include <string>
#include <tuple>

namespace process_tests {

namespace {

/// The text of the exception of type `Error` that a call throws.
template <class Error, class Call> std::string thrown_by(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("gradients of replicated parameters are sums over all instances") {
  const auto x = table_of<double>(3, [](std::size_t r, std::size_t i) { return static_cast<double>(3 * r + i + 1); });
  plx::array<double, 1> w{1, -2, .5};
  // the loss of this process' rows, of which the gradient goes over all
  const auto loss = [](auto weights, auto rows) {
    return plx::sum(plx::pmap<"i">([](auto v, auto row) { return plx::pmean<"i">(plx::square(plx::dot(v, row))); },
                                   plx::in_axes<plx::none, 0>)(weights, rows));
  };
  const auto inside = plx::pmap<"i">(
      [](auto v, auto row) {
        auto g = plx::grad([](auto u, auto r) { return plx::square(plx::dot(u, r)); })(v, row);
        return plx::pmean<"i">(g);
      },
      plx::in_axes<plx::none, 0>, plx::out_axes<plx::none>);
  const plx::array by_instance = inside(w, own(x, 3));
  const plx::array through = plx::grad(loss)(w, own(x, 3));
  const double n = static_cast<double>(all_rows());
  for (std::int64_t i = 0; i < 3; ++i) {
    double mean = 0;
    for (const auto& row : x)
      mean += 2 * (row[0] * w(0) + row[1] * w(1) + row[2] * w(2)) * row[static_cast<std::size_t>(i)] / n;
    CHECK(by_instance(i) == Approx(mean));
    // each of the n results is the mean, and all of them are added up
    CHECK(through(i) == Approx(n * mean));
  }
}

TEST_CASE("an unmapped result's cotangent counts once") {
  const auto x = table_of<double>(1, [](std::size_t r, std::size_t) { return static_cast<double>(r + 1); });
  const auto loss = [](auto rows) {
    return plx::pmap<"i">([](auto v) { return plx::psum<"i">(v * v); }, plx::in_axes<0>,
                          plx::out_axes<plx::none>)(rows);
  };
  check_rows(plx::grad(loss)(own(x)),
             table_of<double>(1, [](std::size_t r, std::size_t) { return 2 * static_cast<double>(r + 1); }));
}

TEST_CASE("pmaps inside a pmap: the outer axis goes over processes") {
  if (own_rows() % 2 != 0) return;
  const std::int64_t rows = own_rows() / 2;
  const std::int64_t all = all_rows() / 2;
  const std::int64_t first = first_row() / 2;
  const auto value = [](std::int64_t r, std::int64_t c) { return static_cast<float>(10 * r + c); };
  auto x = plx::array<float, 2>::uninitialised({rows, 2});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < 2; ++c) x.mutable_data()[2 * r + c] = value(first + r, c);
  const auto f = plx::pmap<"i">([](auto row) {
    return plx::pmap<"j">([](auto v) {
      return std::tuple{plx::psum<"i">(v), plx::psum<"j">(v), plx::psum<"i", "j">(v), plx::axis_index<"i", "j">(),
                        plx::ppermute<"i">(v, plx::rotate{1})};
    })(row);
  });
  const auto [over_rows, over_columns, over_both, index, turned] = f(x);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < 2; ++c) {
      float sum = 0, total = 0;
      for (std::int64_t k = 0; k < all; ++k) sum += value(k, c), total += value(k, 0) + value(k, 1);
      CHECK(over_rows(r, c) == sum);
      CHECK(over_columns(r, c) == value(first + r, 0) + value(first + r, 1));
      CHECK(over_both(r, c) == total);
      CHECK(index(r, c) == 2 * (first + r) + c);
      CHECK(turned(r, c) == value((first + r + all - 1) % all, c));
    }
}

TEST_CASE("two pmaps of which one gives the first process fewer rows") {
  if (own_rows() < 4 || plx::distributed::process_count() == 1) return;
  const int me = plx::distributed::process_index();
  const auto check = [&](std::int64_t of_first, int factor, const auto& f) {
    const std::int64_t rows = me == 0 ? of_first : 2;
    const std::int64_t before = me == 0 ? 0 : of_first + 2 * (me - 1);
    auto x = plx::array<std::int32_t, 2>::uninitialised({rows, 2});
    for (std::int64_t k = 0; k < x.size(); ++k) x.mutable_data()[k] = static_cast<std::int32_t>(10 * me + k);
    const plx::array y = plx::pmap<"i">(plx::pmap<"j">(f))(x);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < 2; ++c) CHECK(y(r, c) == factor * (20 * me + 4 * r + 1) + 100 * (before + r));
  };
  check(1, 1, [](auto v) { return plx::psum<"j">(v) + 100 * plx::axis_index<"i">(); });
  check(2, 2, [](auto v) { return plx::psum<"j">(2 * v) + 100 * plx::axis_index<"i">(); });
}

TEST_CASE("pmaps in rounds of a loop") {
  const auto x = table_of<double>(1, [](std::size_t r, std::size_t) { return static_cast<double>(r); });
  const auto rounds = [](auto rows, auto count) {
    return plx::fori_loop(
        0, count, [](auto, auto v) { return plx::pmap<"i">([](auto y) { return y / 2 + plx::psum<"i">(y); })(v); },
        rows);
  };
  const plx::array y = plx::jit(rounds)(own(x), plx::count(5));
  std::vector<double> expected = column(x, 0);
  for (int round = 0; round < 5; ++round) {
    const double sum = tree_sum(expected);
    for (double& v : expected) v = v / 2 + sum;
  }
  const std::int64_t first = first_row();
  for (std::int64_t r = 0; r < own_rows(); ++r) CHECK(y(r) == Approx(expected[static_cast<std::size_t>(first + r)]));
}

TEST_CASE("a loop inside: collectives in each of its rounds") {
  const auto x = table_of<double>(2, [](std::size_t r, std::size_t i) { return static_cast<double>(r + i); });
  const auto f = plx::pmap<"i">([](auto row) {
    return plx::fori_loop(
        0, 20, [](auto, auto v) { return v + 0.5 * (plx::ppermute<"i">(v, plx::rotate{1}) - v); }, row);
  });
  table<double> expected = x;
  for (int round = 0; round < 20; ++round) {
    const table<double> before = expected;
    for (std::size_t r = 0; r < before.size(); ++r)
      for (std::size_t i = 0; i < 2; ++i)
        expected[r][i] = before[r][i] + 0.5 * (before[(r + before.size() - 1) % before.size()][i] - before[r][i]);
  }
  check_rows(f(own(x, 2)), expected);
}

TEST_CASE("an axis whose extent is known while compiling is that of all processes") {
  if (plx::distributed::process_count() == 1 || own_rows() != 4) return;
  plx::array<float, plx::extents<4>> x{1, 2, 3, 4};
  const auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v) / plx::psum<"i">(1.f); });
  CHECK(
      has(thrown_by<plx::shape_error>([&] { return sum(x); }),
          "pmap: the mapped axis has 8 instances on all processes, but 4 is what the program was compiled with; map an "
          "axis of dynamic extent"));
}

TEST_CASE("trees, barriers and their mistakes") {
  const int me = plx::distributed::process_index(), count = plx::distributed::process_count();
  const auto trees = plx::distributed::gather(std::pair{plx::array<float, 1>{1.f * static_cast<float>(me), 7}, me});
  REQUIRE(trees.size() == static_cast<std::size_t>(count));
  for (int p = 0; p < count; ++p) {
    CHECK(trees[static_cast<std::size_t>(p)].first(0) == static_cast<float>(p));
    CHECK(trees[static_cast<std::size_t>(p)].second == p);
  }
  // more than what goes with the first message
  auto large = plx::array<double, 1>::uninitialised({me == count - 1 ? 5000 : 3});
  for (std::int64_t i = 0; i < large.size(); ++i) large.mutable_data()[i] = static_cast<double>(i);
  const auto last = plx::distributed::broadcast_from(count - 1, large);
  CHECK(last.shape(0) == 5000);
  CHECK(last(4999) == 4999);
  plx::distributed::barrier("here");
  CHECK(has(thrown_by<plx::error>([&] { return plx::distributed::broadcast_from(count, large); }),
            "there is no process"));
  if (count > 1)
    CHECK(has(thrown_by<plx::process_error>([&] {
                plx::distributed::barrier(me == 0 ? "one" : "other");
                return 0;
              }),
              "barrier: process"));
}

TEST_CASE("processes that do not call the same are told so, and go on") {
  const int me = plx::distributed::process_index();
  if (plx::distributed::process_count() == 1) return;
  const auto ones = [](std::int64_t width) {
    return table_of<float>(width, [](std::size_t, std::size_t) { return 1.f; });
  };
  const auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); });
  const auto most = plx::pmap<"i">([](auto v) { return plx::pmax<"i">(2 * v); });
  // another program
  const std::string other = thrown_by<plx::process_error>([&]() -> int {
    if (me == 0) static_cast<void>(sum(own(ones(2), 2)));
    else static_cast<void>(most(own(ones(2), 2)));
    return 0;
  });
  CHECK(has(other, "processes do not call the same: another program: process 0 calls one with arguments of shapes (["));
  // other extents
  const std::int64_t width = me == 0 ? 20 : 30;
  const std::string shapes = thrown_by<plx::process_error>([&] { return sum(own(ones(width), width)); });
  CHECK(has(shapes, "axis 1 of argument 0: process 0 calls a program with arguments of shapes (["));
  CHECK(has(shapes, ",20])"));
  CHECK(has(shapes, ",30])"));
  // and they can still do the right thing
  check_rows(sum(own(ones(2), 2)),
             table_of<float>(2, [](std::size_t, std::size_t) { return static_cast<float>(all_rows()); }));
}

TEST_CASE("what a guard of one process refuses, all refuse") {
  if (plx::distributed::process_count() == 1) return;
  const auto f = plx::pmap<"i">([](auto v) { return plx::psum_scatter<"i">(v, 0, plx::gather_mode::tiled); });
  const auto x = table_of<float>(all_rows() + 1, [](std::size_t, std::size_t) { return 1.f; });
  CHECK(has(thrown_by<plx::shape_error>([&] { return f(own(x, all_rows() + 1)); }), "must be divisible by"));
}

} // namespace process_tests
