// Attention over a sequence that is cut into one block for each device: keys and values go round a ring, and softmax is
// computed as they come by, so that a device scores one block at a time. The gradient goes round the ring the other
// way.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <tuple>

namespace plx = parallax;

namespace {

constexpr int width = 32;            // of a query, a key and a value
constexpr float scale = 0.17677670f; // 1 / sqrt(width)
constexpr float never = -1e30f;      // the score of what is not to be looked at

// (rows, rows of keys): how well queries fit keys; those that come later than the query do not count. The block of
// keys begins `behind` rows behind that of queries in the sequence.
constexpr auto causal_scores = [](auto query, auto key, auto behind) {
  const auto rows = query.shape(0), keys = key.shape(0);
  auto here = plx::broadcasted_iota<std::int32_t, 0>({rows, keys});
  auto there = plx::broadcasted_iota<std::int32_t, 1>({rows, keys}) + behind;
  return plx::where(plx::less_equal(there, here), scale * plx::dot(query, plx::transpose(key)), never);
};

// One head on one device: (length, width).
constexpr auto attention = [](auto query, auto key, auto value) {
  return plx::dot(plx::softmax(causal_scores(query, key, 0), 1), value);
};

// One head on a ring of devices: (rows, width) of each. Softmax is kept as the largest score so far, the sum of the
// exponentials of all scores less that, and the sum of the values weighted so.
constexpr auto ring_attention = [](auto query, auto key, auto value, auto devices) {
  const auto rows = query.shape(0);
  auto number = plx::axis_index<"ring">();
  auto count = plx::axis_size<"ring">();
  auto look = [&](auto round, auto carry) {
    auto [k, v, largest, total, weighted] = carry;
    auto owner = (number - round + count) % count; // of the keys at hand
    auto scores = causal_scores(query, k, (owner - number) * rows);
    auto larger = plx::stop_gradient(plx::maximum(largest, plx::max(scores, 1, plx::keepdims)));
    auto shrink = plx::exp(largest - larger), weights = plx::exp(scores - larger);
    return std::tuple{plx::ppermute<"ring">(k, plx::rotate{1}), plx::ppermute<"ring">(v, plx::rotate{1}), larger,
                      total * shrink + plx::sum(weights, 1, plx::keepdims), weighted * shrink + plx::dot(weights, v)};
  };
  auto nothing = plx::zeros({rows, 1});
  auto [k, v, largest, total, weighted] = plx::fori_loop(
      0, devices, look, std::tuple{key, value, plx::full({rows, 1}, never), nothing, plx::zeros_like(query)});
  return weighted / total;
};

// All heads: (heads, length, width), and (heads, devices, rows, width).
constexpr auto all_attention = plx::vmap(attention);
constexpr auto all_ring_attention = plx::pmap<"ring">(plx::vmap(ring_attention, plx::in_axes<0, 0, 0, plx::none>),
                                                      plx::in_axes<1, 1, 1, plx::none>, plx::out_axes<1>);

// Their derivatives by queries, keys and values, of the sum of all results weighted by `by`.
constexpr auto gradient =
    plx::grad([](auto query, auto key, auto value, auto by) { return plx::sum(by * all_attention(query, key, value)); },
              plx::argnums<0, 1, 2>);
constexpr auto ring_gradient =
    plx::grad([](auto query, auto key, auto value, auto by,
                 auto devices) { return plx::sum(by * all_ring_attention(query, key, value, devices)); },
              plx::argnums<0, 1, 2>);

void run() {
  constexpr std::int64_t heads = 4, length = 512;
  std::int64_t devices = std::min<std::int64_t>(plx::device_count(), length);
  while (length % devices != 0) --devices;
  auto random = [](int seed) {
    return plx::array<float, 3>(plx::random::normal(plx::random::key(seed), {heads, length, width}));
  };
  auto cut = [&](const auto& x) { return plx::reshape(x, {heads, devices, length / devices, width}); };
  const auto query = random(1), key = random(2), value = random(3), by = random(4);

  auto compare = [](const std::string& what, const plx::array<float, 3>& whole, const auto& blocks) {
    const plx::array<float, 3> joined = plx::reshape(plx::array<float, 4>(blocks), {heads, length, width});
    const float error = plx::array(plx::max(plx::abs(joined - whole))).item();
    const float largest = plx::array(plx::max(plx::abs(whole))).item();
    std::cout << "  " << what << ": " << error << ", of values up to " << largest << '\n';
    examples::claim(error < 1e-5f * largest, "a ring gives the same " + what);
  };
  std::cout << heads << " heads over " << length << " characters on a ring of " << devices
            << (devices == 1 ? " device" : " devices") << "; scores at once " << length / devices << " x "
            << length / devices << " instead of " << length << " x " << length << "; differences:\n";
  compare("attention", plx::jit(all_attention)(query, key, value),
          all_ring_attention(cut(query), cut(key), cut(value), plx::count(devices)));
  const auto [by_query, by_key, by_value] = plx::jit(gradient)(query, key, value, by);
  const auto [ring_by_query, ring_by_key, ring_by_value] =
      plx::jit(ring_gradient)(cut(query), cut(key), cut(value), cut(by), plx::count(devices));
  compare("gradient by queries", by_query, ring_by_query);
  compare("gradient by keys", by_key, ring_by_key);
  compare("gradient by values", by_value, ring_by_value);
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("ring_attention", argc, argv, [](std::span<const char* const>) { run(); });
}
