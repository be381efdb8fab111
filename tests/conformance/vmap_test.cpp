// Conformance cases of JAX's vmap: products, axes, selection, gradients of single examples.
#include "expected.hpp"

#include <string_view>

namespace vmap_test {

namespace {

using namespace conformance;

constexpr std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// one product of a batch: (3,4,5) with (3,5,6), given how to read elements of both
template <class Left, class Right> std::vector<float> batch_product(Left left, Right right) {
  std::vector<float> result;
  for (int n = 0; n < 10; ++n)
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j) {
          float sum = 0; // small integers: exact
          for (int k = 0; k < 5; ++k) sum += left(n, b, i, k) * right(n, b, k, j);
          result.push_back(sum);
        }
  return result;
}

// small integers, so that products are exact
template <class... Extent> auto small(Extent... extents) {
  auto x = counted(extents...);
  float* values = x.mutable_data();
  for (std::int64_t i = 0; i < x.size(); ++i) values[i] = static_cast<float>(i * 7 % 11 - 5);
  return x;
}

template <class W1, class B1, class W2, class B2> struct layers {
  W1 w1;
  B1 b1;
  W2 w2;
  B2 b2;
};

} // namespace

TEST_CASE("row 60: vmap of dot_general over any axes") {
  constexpr auto product = [](auto a, auto b) { return plx::dot_general(a, b, {{2}, {1}, {0}, {0}}); };
  {
    const auto a = small(10, 3, 4, 5);
    const auto b = small(10, 3, 5, 6);
    check_equal(plx::vmap(product)(a, b), {10, 3, 4, 6},
                batch_product([&](int n, int g, int i, int k) { return a(n, g, i, k); },
                              [&](int n, int g, int k, int j) { return b(n, g, k, j); }));
  }
  {
    const auto a = small(3, 4, 10, 5);
    const auto b = small(3, 10, 5, 6);
    check_equal(plx::vmap(product, plx::in_axes<2, 1>)(a, b), {10, 3, 4, 6},
                batch_product([&](int n, int g, int i, int k) { return a(g, i, n, k); },
                              [&](int n, int g, int k, int j) { return b(g, n, k, j); }));
  }
  {
    const auto a = small(3, 4, 5, 10);
    const auto b = small(3, 5, 6);
    check_equal(plx::vmap(product, plx::in_axes<3, plx::none>)(a, b), {10, 3, 4, 6},
                batch_product([&](int n, int g, int i, int k) { return a(g, i, k, n); },
                              [&](int, int g, int k, int j) { return b(g, k, j); }));
  }
  {
    const auto a = small(3, 4, 5);
    const auto b = small(3, 5, 10, 6);
    check_equal(plx::vmap(product, plx::in_axes<plx::none, 2>)(a, b), {10, 3, 4, 6},
                batch_product([&](int, int g, int i, int k) { return a(g, i, k); },
                              [&](int n, int g, int k, int j) { return b(g, k, n, j); }));
  }
  {
    const auto a = small(4);
    const auto b = small(4, 10);
    constexpr auto inner = [](auto x, auto y) { return plx::dot_general(x, y, {{0}, {0}}); };
    std::vector<float> expected;
    for (int n = 0; n < 10; ++n) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum += a(k) * b(k, n);
      expected.push_back(sum);
    }
    check_equal(plx::vmap(inner, plx::in_axes<plx::none, 1>)(a, b), {10}, expected);
  }
}

TEST_CASE("row 61: a matrix product from inner products") {
  constexpr auto product =
      plx::vmap(plx::vmap(plx::vdot, plx::in_axes<0, plx::none>), plx::in_axes<plx::none, 1>, plx::out_axes<1>);
  const auto a = small(4, 3);
  const auto b = small(3, 2);
  std::vector<float> expected;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += a(i, k) * b(k, j);
      expected.push_back(sum);
    }
  check_equal(product(a, b), {4, 2}, expected);
  static_assert(
      occurrences(plx::expression(product, plx::shaped<float, 4, 3>, plx::shaped<float, 3, 2>), "dot_general") == 1);
}

TEST_CASE("row 63: unmapped arguments and results") {
  constexpr auto f = [](auto x, auto y) { return std::pair{x + y, 2 * y}; };
  auto [sum, twice] = plx::vmap(f, plx::in_axes<0, plx::none>, plx::out_axes<0, plx::none>)(counted(2), 4.f);
  check_equal(sum, {2}, std::vector<float>{4, 5});
  check_equal(twice, {}, std::vector<float>{8});
  auto [sums, twices] = plx::vmap(f, plx::in_axes<0, plx::none>)(counted(2), 4.f);
  check_equal(sums, {2}, std::vector<float>{4, 5});
  check_equal(twices, {2}, std::vector<float>{8, 8});
}

TEST_CASE("row 64: negative axes") {
  const auto x = counted(3, 4, 5);
  constexpr auto sum = [](auto v) { return plx::sum(v); };
  constexpr auto same = [](auto v) { return v; };
  std::vector<float> first(3), second(4), third(5), moved(60), last(60);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 5; ++k) {
        first[static_cast<std::size_t>(i)] += x(i, j, k);
        second[static_cast<std::size_t>(j)] += x(i, j, k);
        third[static_cast<std::size_t>(k)] += x(i, j, k);
        moved[static_cast<std::size_t>((j * 3 + i) * 5 + k)] = x(i, j, k);
        last[static_cast<std::size_t>((j * 5 + k) * 3 + i)] = x(i, j, k);
      }
  check_equal(plx::vmap(sum, plx::in_axes<-3>)(x), {3}, first);
  check_equal(plx::vmap(sum, plx::in_axes<-2>)(x), {4}, second);
  check_equal(plx::vmap(sum, plx::in_axes<-1>)(x), {5}, third);
  check_equal(plx::vmap(same, plx::out_axes<-3>)(x), {3, 4, 5}, x.to_vector());
  check_equal(plx::vmap(same, plx::out_axes<-2>)(x), {4, 3, 5}, moved);
  check_equal(plx::vmap(same, plx::out_axes<-1>)(x), {4, 5, 3}, last);
}

TEST_CASE("row 65: gradients of single examples") {
  constexpr auto loss = [](auto net, auto x) {
    auto hidden = plx::tanh(plx::dot(net.w1, x) + net.b1);
    return plx::sum(plx::square(plx::tanh(plx::dot(net.w2, hidden) + net.b2)));
  };
  const plx::array<float, 2> w1{{.1f, -.2f, .3f}, {.4f, .5f, -.6f}};
  const plx::array<float, 1> b1{.05f, -.1f};
  const plx::array<float, 2> w2{{.7f, -.8f}, {.9f, .2f}, {-.3f, .4f}, {.6f, -.5f}};
  const plx::array<float, 1> b2{.1f, .2f, -.3f, -.1f};
  auto xs = counted(5, 3);
  for (std::int64_t i = 0; i < xs.size(); ++i) xs.mutable_data()[i] = static_cast<float>(i) * .2f - 1.3f;

  std::vector<double> dw1, db1, dw2, db2;
  for (int n = 0; n < 5; ++n) {
    double h[2], dh[2]{};
    for (int i = 0; i < 2; ++i) {
      double sum = static_cast<double>(b1(i));
      for (int k = 0; k < 3; ++k) sum += static_cast<double>(w1(i, k)) * static_cast<double>(xs(n, k));
      h[i] = std::tanh(sum);
    }
    for (int o = 0; o < 4; ++o) {
      double sum = static_cast<double>(b2(o));
      for (int i = 0; i < 2; ++i) sum += static_cast<double>(w2(o, i)) * h[i];
      const double y = std::tanh(sum), before = 2 * y * (1 - y * y);
      db2.push_back(before);
      for (int i = 0; i < 2; ++i) {
        dw2.push_back(before * h[i]);
        dh[i] += before * static_cast<double>(w2(o, i));
      }
    }
    for (int i = 0; i < 2; ++i) {
      const double before = dh[i] * (1 - h[i] * h[i]);
      db1.push_back(before);
      for (int k = 0; k < 3; ++k) dw1.push_back(before * static_cast<double>(xs(n, k)));
    }
  }
  auto gradients = plx::vmap(plx::grad(loss), plx::in_axes<plx::none, 0>)(layers{w1, b1, w2, b2}, xs);
  check_close(gradients.w1, {5, 2, 3}, dw1, 1e-5, 1e-6);
  check_close(gradients.b1, {5, 2}, db1, 1e-5, 1e-6);
  check_close(gradients.w2, {5, 4, 2}, dw2, 1e-5, 1e-6);
  check_close(gradients.b2, {5, 4}, db2, 1e-5, 1e-6);
}

TEST_CASE("row 67: vmap of a selection") {
  constexpr auto select = [](auto condition, auto on, auto off) { return plx::where(condition, on, off); };
  const plx::array<float, 1> on{0, 1}, off{2, 3};
  check_equal(plx::vmap(select)(plx::array<bool, 1>{true, false}, on, off), {2}, std::vector<float>{0, 3});
  check_equal(plx::vmap(select, plx::in_axes<0, plx::none, plx::none>)(plx::array<bool, 1>{false, true}, on, off),
              {2, 2}, std::vector<float>{2, 3, 0, 1});
  check_equal(plx::vmap(select, plx::in_axes<0, plx::none, 1>, plx::out_axes<1>)(
                  plx::array<bool, 1>{false, true}, plx::array<float, 1>{2}, plx::array<float, 2>{{3, 4}}),
              {1, 2}, std::vector<float>{3, 2});
}

TEST_CASE("row 69, one index for all") {
  check_equal(plx::vmap([](auto x) { return plx::index_in_dim(x, 1); })(counted(10, 3)), {10},
              std::vector<float>{1, 4, 7, 10, 13, 16, 19, 22, 25, 28});
}

} // namespace vmap_test
