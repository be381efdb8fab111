// What g++ precompiles: everything, and a few programs. It compiles a template's function when a constant first needs
// it, and a precompiled header keeps that, so what is compiled here no other file has to compile. clang++ gains
// nothing.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/parallax.hpp>

#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::precompiled {

struct layer {
  constexpr auto operator()(auto w, auto b, auto x) const { return sum(square(tanh(dot(x, w) + b))); }
};
struct gradient {
  constexpr auto operator()(auto w, auto b, auto x) const { return value_and_grad(layer{}, argnums<0, 1>)(w, b, x); }
};
struct loops {
  constexpr auto operator()(auto x, auto key) const {
    auto scanned = scan([](auto c, auto y) { return std::pair{c * y + 1, c}; }, sum(x), x).first;
    auto last = while_loop([](auto v) { return v < 3; }, [](auto v) { return v + 1; }, scanned);
    auto chosen = cond(last > 1, [](auto v) { return v; }, [](auto v) { return -v; }, last);
    auto updated = fori_loop(0, 5, [&](auto i, auto v) { return v.at(i).add(x[i]); }, x);
    auto sorted = sort(updated) + cumsum(x) + where(x > 0, x, 0.f);
    return max(sorted) + chosen + logsumexp(random::normal(key, {3})) + mean(concatenate({x, updated}));
  }
};
struct over_devices {
  constexpr auto operator()(auto x) const {
    return pmap<"i">([](auto y) { return psum<"i">(y); })(x);
  }
};

static_assert(cost(gradient{}, shaped<float, 3, 2>, shaped<float, 2>, shaped<float, 4, 3>).flops > 0);
static_assert(cost(loops{}, shaped<float, 3>, shaped<std::uint32_t, 2>).flops > 0);
static_assert(cost(over_devices{}, shaped<float, 3, 4>).collectives() > 0);

} // namespace parallax::PARALLAX_INLINE_VERSION::precompiled
