// A device policy whose calls do nothing, or nothing but take the time that a driver's take: what is left is the cost
// of the backend's own orchestration.
#pragma once

#include <parallax/cuda/api/api.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

struct idle_api {
  using status = parallax::cuda::status;
  using element_type = parallax::element_type;
  using reduction_kind = parallax::detail::reduction_kind;
  template <class Tag> struct handle {
    std::uint64_t number = 0;
    bool operator==(const handle&) const = default;
  };
  using stream = handle<struct stream_tag>;
  using event = handle<struct event_tag>;
  using graph = handle<struct graph_tag>;
  using graph_node = handle<struct graph_node_tag>;
  using communicator = handle<struct communicator_tag>;
  using clique_id = handle<struct clique_id_tag>;

  static inline int devices = 8;
  static inline int threads = 1;
  /// How long each call takes that gives a device work.
  static inline std::chrono::nanoseconds enqueue_time{0};

  static constexpr std::size_t scratch_bytes = std::size_t{1} << 16;
  static constexpr std::size_t product_workspace_bytes = std::size_t{1} << 16;

  static int host_threads() { return threads; }
  static status device_count(int& count) { return count = devices, status{}; }
  static status set_device(int) { return {}; }
  static status properties_of(parallax::cuda::device_properties& properties, int) {
    properties = {"idle", 132, std::size_t{227} << 10, std::size_t{80} << 30};
    return {};
  }
  static status enable_peer_access(int, int) { return {}; }

  /// Addresses that nobody reads.
  static status allocate(void*& pointer, std::size_t bytes, stream) {
    static std::atomic<std::uintptr_t> next{std::uintptr_t{1} << 40};
    pointer = reinterpret_cast<void*>(next.fetch_add((bytes + 255) / 256 * 256));
    return {};
  }
  static status release(void*, stream) { return {}; }
  static status memory_info(std::size_t& free, std::size_t& total) {
    free = total = std::size_t{80} << 30;
    return {};
  }
  static status trim_memory() { return {}; }
  static status allocate_pinned(void*& pointer, std::size_t bytes) {
    pointer = ::operator new(bytes);
    return {};
  }
  static status release_pinned(void* pointer) {
    ::operator delete(pointer);
    return {};
  }
  static status copy_to_device(void*, const void*, std::size_t, stream) { return enqueue(); }
  static status copy_to_host(void*, const void*, std::size_t, stream) { return enqueue(); }
  static status copy_between(void*, int, const void*, int, std::size_t, stream) { return enqueue(); }
  static status copy_rows(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, stream) {
    return enqueue();
  }
  static status fill_zero(void*, std::size_t, stream) { return enqueue(); }

  static status create_stream(stream& made) { return make(made); }
  static status destroy_stream(stream) { return {}; }
  static status query_stream(stream) { return {}; }
  static status create_event(event& made) { return make(made); }
  static status destroy_event(event) { return {}; }
  static status record_event(event, stream) { return {}; }
  static status wait_event(stream, event) { return {}; }
  static status query_event(event) { return {}; }

  static status can_multiply(const parallax::cuda::matrix_product&, int) { return {}; }
  static status multiply(const parallax::cuda::matrix_product&, int, stream) { return enqueue(); }
  static status proposed_algorithms(int&, const parallax::cuda::matrix_product&, int) { return {}; }
  static status time_algorithm(double&, int, const parallax::cuda::matrix_product&, int, stream) { return {}; }
  static status choose_algorithm(int, const parallax::cuda::matrix_product&, int) { return {}; }
  template <class K>
  static status launch(K, const parallax::cuda::launch_shape&, stream, const typename K::arguments&) {
    return enqueue();
  }

  static status create_clique(std::span<communicator> clique, std::span<const int>) {
    for (communicator& each : clique) make(each).ok();
    return {};
  }
  static status create_clique_id(clique_id& made) { return make(made); }
  static status join_clique(std::span<communicator> clique, std::span<const int> all, std::span<const int>, int,
                            const clique_id&) {
    return create_clique(clique, all);
  }
  static status split_clique(std::span<communicator* const> children, std::span<const communicator>,
                             std::span<const parallax::cuda::clique_place>) {
    for (communicator* each : children) make(*each).ok();
    return {};
  }
  static status communicator_state(communicator) { return {}; }
  static status destroy_communicator(communicator) { return {}; }
  static status abort_communicators(std::span<const communicator>) { return {}; }
  static status group_start() { return {}; }
  static status group_end() { return {}; }
  static status all_reduce(const void*, void*, std::size_t, element_type, reduction_kind, communicator, stream) {
    return enqueue();
  }
  static status all_gather(const void*, void*, std::size_t, element_type, communicator, stream) { return enqueue(); }
  static status reduce_scatter(const void*, void*, std::size_t, element_type, reduction_kind, communicator, stream) {
    return enqueue();
  }
  static status broadcast(const void*, void*, std::size_t, element_type, int, communicator, stream) {
    return enqueue();
  }
  static status send(const void*, std::size_t, element_type, int, communicator, stream) { return enqueue(); }
  static status receive(void*, std::size_t, element_type, int, communicator, stream) { return enqueue(); }

  using capture_mode = int;
  static constexpr capture_mode relaxed_capture_mode = 0;
  static status exchange_capture_mode(capture_mode&) { return {}; }
  static status begin_capture(stream) { return {}; }
  static status last_captured(stream, graph_node& made) { return make(made); }
  static status end_capture(stream, graph& made) { return make(made); }
  static status can_branch(bool& possible) { return possible = true, status{}; }
  static status create_condition(parallax::cuda::graph_condition&, stream) { return {}; }
  static status begin_body(parallax::cuda::conditional_kind, parallax::cuda::graph_condition, stream, stream) {
    return {};
  }
  static status end_body(stream) { return {}; }
  static status instantiate(graph&) { return {}; }
  static status launch_graph(graph, stream) { return enqueue(); }
  static status destroy_graph(graph) { return {}; }
  template <class K>
  static status update_launch(graph, graph_node, K, const parallax::cuda::launch_shape&, const typename K::arguments&) {
    return {};
  }

 private:
  template <class Handle> static status make(Handle& made) {
    static std::atomic<std::uint64_t> last{0};
    made.number = ++last;
    return {};
  }
  static status enqueue() {
    if (enqueue_time.count() == 0) return {};
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < enqueue_time) {
    }
    return {};
  }
};

static_assert(parallax::cuda::device_api<idle_api>);

} // namespace bench
