// Gradients inside and around shard_map, beside central differences of what it computes.
#include "conformance/expected.hpp"

#include <tuple>

namespace shard_map_gradients_test {

namespace {

using namespace conformance;

constexpr auto mesh = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 2)>;
using plx::in_specs;
using plx::out_specs;
using plx::spec;

/// A function's gradient, by its first argument, on each device.
template <class F> struct gradient_inside {
  constexpr auto operator()(auto w, auto x) const { return plx::grad(F{})(w, x); }
};

/// `f(w, x)` is one number that all instances share; `by_w` is how w lies on the mesh.
template <class F, auto ByW, auto ByX, auto WShape, auto XShape>
void check_gradients(F f, const plx::array<double, WShape>& w, const plx::array<double, XShape>& x) {
  constexpr auto in = in_specs<ByW, ByX>;
  const auto loss = [&](const std::vector<double>& values) {
    const plx::array<double, 0> y = plx::shard_map(f, mesh, in, out_specs<spec<>>)(
        plx::array<double, WShape>(w.shape(), std::span<const double>(values)), x);
    return y();
  };
  const std::vector<double> expected = differences(loss, w.to_vector());
  const plx::array inside = plx::shard_map(gradient_inside<F>{}, mesh, in, out_specs<ByW>)(w, x);
  const plx::array outside = plx::grad(plx::shard_map(f, mesh, in, out_specs<spec<>>))(w, x);
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(inside.values()[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-8));
    CHECK(outside.values()[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-8));
    most = std::max(most, std::abs(expected[i]));
  }
  CHECK(most > 1e-3);
}

plx::array<double, plx::extents<4>> four() { return {.3, -.7, 1.1, .5}; }
plx::array<double, plx::extents<4, 4>> table() {
  auto result = plx::array<double, plx::extents<4, 4>>();
  for (int i = 0; i < 16; ++i) result.mutable_data()[i] = std::sin(i * 1.7 + .2);
  return result;
}

} // namespace

TEST_CASE("what all instances share has the sum of their derivatives") {
  // a mean over the rows of which each device has some, and over all columns
  check_gradients<decltype([](auto w, auto x) {
                    return plx::pmean<"data", "model">(plx::mean(plx::tanh(plx::matmul(x, w))));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
  // the sum of what is different on each device, of a value that is cut along one axis only
  check_gradients<decltype([](auto w, auto x) {
                    return plx::psum<"data">(plx::psum<"model">(plx::sum(plx::sin(w * x) * w)));
                  }),
                  spec<"model">, spec<"data", "model">>({}, four(), table());
}

TEST_CASE("a layer whose weights are cut along columns, and the next one's along rows") {
  check_gradients<decltype([](auto x, auto w) {
                    const auto hidden = plx::tanh(plx::matmul(x, w));
                    const auto y = plx::psum<"model">(plx::matmul(hidden, plx::transpose(w)));
                    return plx::pmean<"data">(plx::sum(y * y));
                  }),
                  spec<"data">, spec<plx::none, "model">>({}, table(), table());
}

TEST_CASE("a value that all share, summed over the instances, counts for each") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto total = plx::psum<"data">(plx::sum(w * w)); // twice
                    return plx::psum<"model">(plx::psum<"data">(plx::sum(x)) * total * w[0]);
                  }),
                  spec<>, spec<"data", "model">>({}, four(), table());
}

TEST_CASE("exchanges along the axes of a mesh") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto passed = plx::ppermute<"data">(w * plx::cos(x), plx::rotate{1});
                    const auto all = plx::all_gather<"model">(w * w, 0, plx::gather_mode::tiled);
                    return plx::psum<"data", "model">(plx::sum(passed * x) + plx::sum(all * all * plx::sum(x)));
                  }),
                  spec<"model">, spec<"data", "model">>({}, four(), table());
  check_gradients<decltype([](auto w, auto x) {
                    const auto own = plx::psum_scatter<"data">(w * plx::sum(x), 0, plx::gather_mode::tiled);
                    const auto first = plx::pbroadcast<"model">(w * x, 1);
                    return plx::psum<"data", "model">(plx::sum(own * own) + plx::sum(first * x));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("loops of which a carry comes to differ, or holds a sum over instances") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto step = [&](auto, auto c) { return plx::tanh(c + plx::psum<"model">(x[0] * c)); };
                    return plx::psum<"data">(plx::sum(plx::fori_loop(0, 3, step, w)));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
  check_gradients<decltype([](auto w, auto x) {
                    // begins alike everywhere
                    const auto step = [&](auto c, auto row) { return std::pair{c * row + w, c * w}; };
                    const auto [last, all] = plx::scan(step, w, x);
                    return plx::psum<"data", "model">(plx::sum(last) + plx::sum(all));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("branches that differ between the instances") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto y = plx::cond(
                        plx::axis_index<"data">() == 0, [&](auto a) { return a * w; },
                        [&](auto a) { return 2. * a * plx::sin(w) + 1.; }, x);
                    return plx::psum<"data", "model">(plx::sum(y * y));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("gradients of gradients on a mesh") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto loss = [&](auto v) {
                      return plx::pmean<"data">(plx::sum(plx::sin(plx::psum<"model">(plx::matmul(x, v * v)))));
                    };
                    const auto slope = plx::grad(loss)(w);
                    return plx::psum<"model">(plx::sum(slope * slope));
                  }),
                  spec<"model">, spec<"data", "model">>({}, four(), table());
}

TEST_CASE("gradients of gradients around a mesh") {
  constexpr auto f = [](auto w, auto x) {
    const auto inner = plx::shard_map(
        [](auto v, auto own) { return plx::psum<"data">(plx::sum(plx::tanh(v) * plx::psum<"model">(plx::sum(own)))); },
        mesh, in_specs<spec<>, spec<"data", "model">>, out_specs<spec<>>);
    const auto slope = plx::grad(inner)(w, x);
    return plx::sum(slope * slope);
  };
  const auto x = table();
  const auto value = [&](const std::vector<double>& w) {
    return plx::array<double, 0>(plx::jit(f)(plx::array<double, plx::extents<4>>({4}, w), x))();
  };
  const auto expected = differences(value, four().to_vector());
  const plx::array second = plx::grad(f)(four(), x);
  for (int i = 0; i < 4; ++i) CHECK(second(i) == Approx(expected[static_cast<std::size_t>(i)]).epsilon(1e-6));
}

TEST_CASE("what is linear is its own linearisation") {
  constexpr auto f = plx::jit([](auto x, auto t) {
    const auto shared = plx::shard_map([](auto own) { return plx::psum<"data">(own); }, mesh, in_specs<spec<"data">>,
                                       out_specs<spec<"data">>);
    const auto [y, along] = plx::linearize(shared, x);
    return std::pair{shared(t), along(t)};
  });
  const auto [direct, along] = f(four(), plx::array<double, plx::extents<4>>{1, 10, 100, 1000});
  for (int i = 0; i < 4; ++i) {
    CHECK(direct(i) == (i % 2 == 0 ? 101. : 1010.));
    CHECK(along(i) == direct(i));
  }
}

TEST_CASE("rounds of which instances go different numbers") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto most = plx::sum(x[0] * x[0]) * 3.;
                    const auto rounds = plx::while_loop([&](auto k) { return k < most; }, [](auto k) { return k + 1.; },
                                                        plx::pvary<"data">(plx::stop_gradient(w[0]) * 0.));
                    return plx::psum<"data">(plx::sum(w * w) * rounds);
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("solutions of equations that differ between the instances") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto own = plx::sum(x * x, {0});
                    const auto f = [&](auto y) { return y * y * y + y - (w + own); };
                    const auto solve = [](auto g, auto first) {
                      return plx::fori_loop(0, 30, [&](auto, auto y) { return y - g(y) / (3. * y * y + 1.); }, first);
                    };
                    const auto linear = [](auto g, auto y) { return y / g(plx::ones_like(y)); };
                    const auto root = plx::custom_root(f, plx::ones_like(w) * 0.5, solve, linear);
                    return plx::psum<"data">(plx::sum(root * root));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
  check_gradients<decltype([](auto w, auto x) {
                    const auto product = [&](auto v) { return v * (2. + plx::sum(x * x, {0})); };
                    const auto y = plx::cg(product, w);
                    return plx::psum<"data">(plx::sum(y * y));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("second derivatives of branches, and gradients of tangents of loops") {
  check_gradients<decltype([](auto w, auto x) {
                    const auto loss = [&](auto v) {
                      const auto y = plx::cond(
                          plx::axis_index<"data">() >= 0, [&](auto a) { return plx::tanh(v) * a; },
                          [](auto a) { return a; }, x);
                      return plx::psum<"data">(plx::sum(y * y));
                    };
                    const auto slope = plx::grad(loss)(w);
                    return plx::sum(slope * slope);
                  }),
                  spec<>, spec<"data">>({}, four(), table());
  check_gradients<decltype([](auto w, auto x) {
                    const auto loop = [&](auto v) {
                      const auto step = [&](auto, auto c) { return plx::sin(x[0] + plx::psum<"data">(c) * v); };
                      return plx::fori_loop(0, 3, step, v);
                    };
                    const auto [y, along] = plx::jvp(loop, std::tuple{w}, std::tuple{plx::cos(w)});
                    return plx::psum<"data">(plx::sum(along * along));
                  }),
                  spec<>, spec<"data">>({}, four(), table());
}

TEST_CASE("batches and tangents of what runs on a mesh") {
  constexpr auto f = plx::shard_map([](auto w, auto x) { return plx::psum<"model">(plx::matmul(x, w)); }, mesh,
                                    in_specs<spec<"model">, spec<"data", "model">>, out_specs<spec<"data">>);
  const auto x = table();
  const auto all = plx::vmap(f, plx::in_axes<0, plx::none>)(x, x); // a vector for each row
  for (int b = 0; b < 4; ++b)
    for (int i = 0; i < 4; ++i) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += x(i, k) * x(b, k);
      CHECK(all(b, i) == Approx(sum).margin(1e-12));
    }
  const auto [y, along] = plx::jvp(f, std::tuple{four(), x}, std::tuple{four(), x * 0.});
  for (int i = 0; i < 4; ++i) CHECK(along(i) == Approx(y(i)).margin(1e-12)); // it is linear
}

} // namespace shard_map_gradients_test
