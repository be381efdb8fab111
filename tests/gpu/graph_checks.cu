// Work that is captured from a stream and replayed.
#include "device_array.cuh"

#include <parallax/core/types/element_type.hpp>

namespace gpu {
namespace {

/// y += x.
struct add_kernel {
  struct arguments {
    const float* x;
    float* y;
    int count;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 128;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const int i = static_cast<int>(block.block()) * block.threads() + block.thread();
    if (i < a.count) block.store(a.y + i, block.load(a.y + i) + block.load(a.x + i));
  }
};

/// A graph that is destroyed when it is done with.
struct owned_graph {
  api::graph graph;
  owned_graph() = default;
  owned_graph(const owned_graph&) = delete;
  owned_graph& operator=(const owned_graph&) = delete;
  ~owned_graph() { parallax::cuda::kept_failure::keep(api::destroy_graph(graph)); }
};

constexpr int count = 1000;

parallax::cuda::status add(const queue& on, const device_array<float>& x, const device_array<float>& y) {
  return api::launch(add_kernel{}, {8, 128, 0}, on.get(), {x.data(), y.data(), count});
}

void check_replay() {
  const queue on;
  const device_array<float> one(on, std::vector<float>(count, 1.f)), two(on, std::vector<float>(count, 2.f));
  const device_array<float> sum(on, std::vector<float>(count, 0.f));
  owned_graph recorded;
  ok(api::begin_capture(on.get()));
  for (int i = 0; i < 3; ++i) ok(add(on, one, sum));
  ok(api::end_capture(on.get(), recorded.graph));
  ok(api::instantiate(recorded.graph));
  require(sum.values() == std::vector<float>(count, 0.f), "what is captured does not run");
  for (int i = 0; i < 5; ++i) ok(api::launch_graph(recorded.graph, on.get()));
  require(sum.values() == std::vector<float>(count, 15.f), "a graph runs each time it is launched");

  owned_graph updated;
  api::graph_node second{};
  ok(api::begin_capture(on.get()));
  ok(add(on, one, sum));
  ok(add(on, one, sum));
  ok(api::last_captured(on.get(), second));
  ok(add(on, one, sum));
  ok(api::end_capture(on.get(), updated.graph));
  ok(api::instantiate(updated.graph));
  for (int i = 0; i < 2; ++i) {
    ok(api::launch_graph(updated.graph, on.get())); // must not see what comes now
    ok(api::update_launch(updated.graph, second, add_kernel{}, {8, 128, 0}, {two.data(), sum.data(), count}));
  }
  require(sum.values() == std::vector<float>(count, 22.f), "a launch of a graph gets other arguments");
}

/// The other stream joins the capture by events.
void check_two_streams() {
  const queue first, second;
  const unique_event<api> forked, joined;
  const device_array<float> one(first, std::vector<float>(count, 1.f));
  const device_array<float> a(first, std::vector<float>(count, 0.f)), b(second, std::vector<float>(count, 0.f));
  owned_graph recorded;
  ok(api::begin_capture(first.get()));
  ok(api::record_event(forked.get(), first.get()));
  ok(api::wait_event(second.get(), forked.get()));
  ok(add(first, one, a));
  ok(add(second, one, b));
  ok(api::record_event(joined.get(), second.get()));
  ok(api::wait_event(first.get(), joined.get()));
  ok(add(first, b, a));
  ok(api::end_capture(first.get(), recorded.graph));
  ok(api::instantiate(recorded.graph));
  ok(api::launch_graph(recorded.graph, first.get()));
  require(a.values() == std::vector<float>(count, 2.f), "both streams' work is in the graph");
}

void check_products() {
  const queue on;
  constexpr std::size_t n = 64;
  std::vector<float> unit(n * n, 0.f);
  for (std::size_t i = 0; i < n; ++i) unit[i * n + i] = 2.f;
  const std::vector<float> values = numbers<float>(n * n);
  const device_array<float> left(on, unit), right(on, values), result(on, n * n);
  const device_array<std::byte> workspace(on, api::product_workspace_bytes);
  parallax::cuda::matrix_product p;
  p.rows = p.columns = p.depth = p.left_row = p.right_depth = n;
  p.left = left.data(), p.right = right.data(), p.result = result.data(), p.workspace = workspace.data();
  ok(api::multiply(p, 0, on.get())); // loads what the capture may not
  owned_graph recorded;
  ok(api::begin_capture(on.get()));
  ok(api::multiply(p, 0, on.get()));
  ok(api::end_capture(on.get(), recorded.graph));
  ok(api::instantiate(recorded.graph));
  ok(api::fill_zero(result.data(), n * n * sizeof(float), on.get()));
  ok(api::launch_graph(recorded.graph, on.get()));
  std::vector<float> expected = values;
  for (float& value : expected) value *= 2;
  require(result.values() == expected, "a product in a graph");
}

constexpr check all[] = {
    {"graphs: replay", check_replay}, {"graphs: two streams", check_two_streams}, {"graphs: products", check_products}};

} // namespace

std::span<const check> graph_checks() { return all; }

} // namespace gpu
