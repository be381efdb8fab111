// How much memory the intermediates of a program take, beside what is live at one time.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace memory_plan_test {

namespace plx = parallax;
using plx::shaped;
using plx::compiled::buffer_kind, plx::compiled::buffer_record, plx::compiled::step_kind;

namespace {

struct bytes {
  std::int64_t planned = 0; ///< of all slots, without what lies in outputs
  std::int64_t live = 0;    ///< the most that is live in any step, each memory once
  int clashes = 0;          ///< buffers that share bytes in a step in which neither takes the other's place
};

std::int64_t size_of_buffer(const buffer_record& of) {
  return of.count.number() * static_cast<std::int64_t>(plx::size_of(of.type));
}

/// When a section's buffers are in use: from the first step to the last. Those of one origin may be in one memory.
struct lifetimes {
  std::vector<std::size_t> first, last, origin;
  bool has(std::size_t buffer, std::size_t step) const { return first[buffer] <= step && step <= last[buffer]; }
};

lifetimes lifetimes_in(const lowered::plan::plan_builder& plan, const lowered::plan::section_record& section) {
  const auto buffers = plan[section.buffers];
  const auto steps = plan[section.steps];
  std::vector<std::size_t> first(buffers.size(), steps.size()), last(buffers.size(), 0);
  for (std::size_t s = 0; s < steps.size(); ++s)
    plx::compiled::visit_buffers(plan, steps[s], [&](plx::detail::buffer_id id) {
      const auto b = static_cast<std::size_t>(id);
      first[b] = std::min(first[b], s), last[b] = s;
    });
  // An exchange may run together with those beside it, and at any time until its result is used. An all-reduce whose
  // operand nothing else uses from then on may put its result there.
  std::vector<std::size_t> origin(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) origin[b] = b;
  for (std::size_t s = 0, begin = 0; s < steps.size(); ++s) {
    if (steps[s].kind != step_kind::exchange) {
      begin = s + 1;
      continue;
    }
    const auto& exchange = plan.at<plx::compiled::exchange_step>(steps[s].index);
    const auto source = static_cast<std::size_t>(exchange.source), result = static_cast<std::size_t>(exchange.result);
    std::size_t others = 0, used = steps.size() - 1;
    for (std::size_t other = steps.size(); other-- > begin;) {
      if (other > s && plx::detail::touches(plan, steps[other], exchange.result)) used = other;
      if (other == s || !plx::detail::touches(plan, steps[other], exchange.source)) continue;
      const bool makes = steps[other].kind == step_kind::exchange && other < s &&
                         plan.at<plx::compiled::exchange_step>(steps[other].index).result == exchange.source;
      others += !makes;
    }
    if (exchange.kind == plx::detail::exchange_kind::all_reduce && others == 0) origin[result] = origin[source];
    first[result] = std::min(first[result], begin), last[source] = std::max(last[source], used);
  }
  return {first, last, origin};
}

/// Of a section of a program of static extents, the main one by default. Buffers that begin at one place in one step
/// are one: a result that takes over an operand's memory.
template <int Section = 0, class Function, class... Arguments>
bytes memory_of(const Function&, const Arguments&... arguments) {
  const auto plan = lowered::program(Function{}, arguments...);
  const auto& section = lowered::section(plan, Section);
  const auto buffers = plan[section.buffers];
  const auto steps = plan[section.steps];
  const lifetimes in_use = lifetimes_in(plan, section);
  auto takes_memory = [&](std::size_t b) { return buffers[b].kind == buffer_kind::slot && buffers[b].output < 0; };
  std::map<int, std::int64_t> slots;
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (takes_memory(b)) {
      std::int64_t& size = slots[buffers[b].number];
      size = std::max(size, buffers[b].offset + size_of_buffer(buffers[b]));
    }
  bytes result;
  for (const auto& [number, size] : slots) result.planned += size;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    std::set<std::pair<int, std::int64_t>> places;
    std::int64_t live = 0;
    for (std::size_t b = 0; b < buffers.size(); ++b)
      if (takes_memory(b) && in_use.has(b, s))
        if (places.emplace(buffers[b].number, buffers[b].offset).second) live += size_of_buffer(buffers[b]);
    result.live = std::max(result.live, live);
    for (std::size_t a = 0; a < buffers.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        auto is_here = [&](std::size_t k) { return buffers[k].kind == buffer_kind::slot && in_use.has(k, s); };
        if (!is_here(a) || !is_here(b) || buffers[a].number != buffers[b].number) continue;
        if (in_use.origin[a] == in_use.origin[b]) continue;
        const bool apart = buffers[a].offset + size_of_buffer(buffers[a]) <= buffers[b].offset ||
                           buffers[b].offset + size_of_buffer(buffers[b]) <= buffers[a].offset;
        const bool replaces = buffers[a].offset == buffers[b].offset && (in_use.last[a] == s || in_use.last[b] == s) &&
                              (in_use.first[a] == s || in_use.first[b] == s);
        result.clashes += !apart && !replaces;
      }
  }
  return result;
}
template <int Hidden>
constexpr auto loss = [](auto weights, auto x, auto target) {
  auto [w1, b1, w2, b2, w3, b3] = weights;
  auto activation = [](auto h) {
    if constexpr (Hidden == 0) return plx::tanh(h);
    else return plx::relu(h);
  };
  auto h = activation(plx::matmul(x, w1) + b1);
  h = activation(plx::matmul(h, w2) + b2);
  auto scores = plx::matmul(h, w3) + b3;
  return -plx::mean(plx::sum(target * (scores - plx::logsumexp(scores, 1, plx::keepdims)), 1));
};
template <int Hidden> struct perceptron_step {
  constexpr auto operator()(auto weights, auto x, auto target) const {
    return plx::tree_map([](auto w, auto by_w) { return w - 0.1f * by_w; }, weights,
                         plx::grad(loss<Hidden>)(weights, x, target));
  }
};
constexpr std::tuple perceptron_weights{shaped<float, 784, 256>, shaped<float, 256>,     shaped<float, 256, 256>,
                                        shaped<float, 256>,      shaped<float, 256, 10>, shaped<float, 10>};

constexpr auto block = [](auto weights, auto x) {
  auto normalised = [](auto rows) {
    auto centred = rows - plx::mean(rows, 1, plx::keepdims);
    return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f);
  };
  auto [query, key, value, out, up, down] = weights;
  auto h = normalised(x);
  auto scores = plx::matmul(plx::matmul(h, query), plx::transpose(plx::matmul(h, key))) * 0.125f;
  auto y = x + plx::matmul(plx::matmul(plx::softmax(scores, 1), plx::matmul(h, value)), out);
  return y + plx::matmul(plx::gelu(plx::matmul(normalised(y), up)), down);
};
constexpr auto block_gradient = plx::grad([](auto w, auto x) { return plx::mean(plx::square(block(w, x))); });
constexpr std::tuple block_weights{shaped<float, 256, 256>, shaped<float, 256, 256>,  shaped<float, 256, 256>,
                                   shaped<float, 256, 256>, shaped<float, 256, 1024>, shaped<float, 1024, 256>};

/// Sums over devices of what ends there, of what does not, and of others' results.
constexpr auto sums = plx::pmap<"i">([](auto x, auto w) {
  auto y = plx::psum<"i">(plx::sin(plx::matmul(x, w)));
  auto z = plx::psum<"i">(plx::pmax<"i">(plx::sin(plx::matmul(y, w))));
  auto kept = plx::matmul(z, w);
  auto [sum, most] = std::pair{plx::psum<"i">(kept), plx::pmax<"i">(kept)};
  return plx::sum(plx::matmul(plx::psum<"i">(plx::matmul(sum, w)), most));
});
constexpr auto gradients = plx::pmap<"i">(
    [](auto weights, auto x, auto target) { return plx::pmean<"i">(plx::grad(loss<0>)(weights, x, target)); });

void check(const bytes& memory, double most) {
  CAPTURE(memory.planned, memory.live);
  CHECK(memory.live > 0);
  CHECK(memory.clashes == 0);
  CHECK(static_cast<double>(memory.planned) <= most * static_cast<double>(memory.live));
}

} // namespace

TEST_CASE("a training step's intermediates take little more memory than is live at one time") {
  check(memory_of(perceptron_step<0>{}, perceptron_weights, shaped<float, 32, 784>, shaped<float, 32, 10>), 1.1);
  check(memory_of(perceptron_step<0>{}, perceptron_weights, shaped<float, 256, 784>, shaped<float, 256, 10>), 1.1);
  check(memory_of(perceptron_step<0>{}, perceptron_weights, shaped<float, 2048, 784>, shaped<float, 2048, 10>), 1.1);
  check(memory_of(perceptron_step<1>{}, perceptron_weights, shaped<float, 256, 784>, shaped<float, 256, 10>), 1.1);
  check(memory_of(perceptron_step<1>{}, perceptron_weights, shaped<float, 2048, 784>, shaped<float, 2048, 10>), 1.1);
  check(memory_of(block_gradient, block_weights, shaped<float, 256, 256>), 1.1);
  check(memory_of(block, block_weights, shaped<float, 256, 256>), 1.1);
}

TEST_CASE("sums over devices lie where their operands ended, and nothing else does while they may run") {
  constexpr std::int64_t matrix = 64 * 64 * sizeof(float);
  const bytes of_sums = memory_of<1>(sums, shaped<float, 4, 64, 64>, shaped<float, 4, 64, 64>);
  check(of_sums, 1.1);
  CHECK(of_sums.planned < 5 * matrix); // what is read again, its two results, and one of the next
  constexpr std::tuple weights{shaped<float, 4, 784, 256>, shaped<float, 4, 256>,     shaped<float, 4, 256, 256>,
                               shaped<float, 4, 256>,      shaped<float, 4, 256, 10>, shaped<float, 4, 10>};
  check(memory_of<1>(gradients, weights, shaped<float, 4, 32, 784>, shaped<float, 4, 32, 10>), 1.1);
}

} // namespace memory_plan_test
