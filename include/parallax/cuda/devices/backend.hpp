// The CUDA backend of this process: its options, its logical devices, and cliques of them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/clique_cache.hpp>
#include <parallax/cuda/devices/collective_watch.hpp>
#include <parallax/cuda/devices/enqueue_mutex.hpp>
#include <parallax/cuda/devices/enqueue_threads.hpp>
#include <parallax/cuda/devices/flight_recorder.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/processes/host_place.hpp>
#include <parallax/runtime/environment.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Options that the environment sets, or a test.
struct backend_options {
  int devices_per_gpu = environment_integer("PARALLAX_CUDA_DEVICES_PER_GPU", 1, 1, 64);
  std::chrono::nanoseconds collective_timeout = runtime::collective_timeout(); ///< zero: none
  /// Whether sections of programs become CUDA graphs at their second call: sections of at least `graph_steps` steps,
  /// and on each device only the `cached_sections` that were called last.
  bool graphs = environment_integer("PARALLAX_CUDA_GRAPHS", 1, 0, 1) != 0;
  int graph_steps = 2; ///< a graph's launch costs as much as a kernel's
  /// Whether graphs count the rounds of loops and choose branches on the device, if the driver allows it.
  bool conditional_graphs = environment_integer("PARALLAX_CUDA_CONDITIONAL_GRAPHS", 1, 0, 1) != 0;
  std::size_t cached_sections = 256;
  std::size_t graph_memory = std::size_t{64} << 20; ///< of all graphs of a device
  /// Whether floating numbers of several GPUs are combined in the host's order instead of NCCL's.
  bool deterministic = environment_integer("PARALLAX_DETERMINISTIC", 0, 0, 1) != 0;
  /// Whether the library's algorithms for a product are measured before it is multiplied for the first time.
  bool measured_products = environment_integer("PARALLAX_CUDA_AUTOTUNE", 0, 0, 1) != 0;
  /// Collectives wait for one another until a step needs their results. If their operands have this many bytes
  /// together, they run on the side streams, while the devices go on computing.
  std::size_t overlap_bytes = std::size_t{4} << 20;
};

/// Made at its first use, and never destroyed: arrays with static storage may outlive any other object. Only the thread
/// that holds `mutex()`, and its helpers, enqueue work, so that all devices see collectives in the same order. A thread
/// that reads a result waits for it without the mutex.
template <device_api Api> class backend {
 public:
  static enqueue_mutex<Api>& mutex() { return enqueue_mutex<Api>::instance(); }
  static backend& instance() {
    std::lock_guard lock(mutex());
    if (!slot()) slot() = std::make_unique<backend>(backend_options{});
    return *slot();
  }
  /// Starts anew with other options; no buffer may lie on a device of the old one. For tests.
  static backend& restart(const backend_options& options) {
    std::lock_guard lock(mutex());
    shut_down();
    slot() = std::make_unique<backend>(options);
    return *slot();
  }
  /// At the end of a session: waits for all enqueued work, and forgets the communicators. After a failure it aborts the
  /// work instead, since other processes may not come.
  static void leave_processes(bool has_failed) {
    std::lock_guard lock(mutex());
    if (!slot()) return;
    if (has_failed) return slot()->abandon_cliques();
    slot()->wait_for_all();
    slot()->watch.forget_graphs();
    slot()->cliques.forget();
  }
  /// Waits for all work and releases everything. No buffer may lie on a device any more, except for copies of the
  /// host's memory. For tests.
  static void shut_down() {
    std::lock_guard lock(mutex());
    runtime::block_cache::forget_kept_copies();
    mutex().give_back_released();
    std::exception_ptr failed;
    try {
      if (slot()) slot()->wait_for_all();
    } catch (const error&) {
      failed = std::current_exception();
      slot()->settle();
    }
    slot().reset();
    if (failed) std::rethrow_exception(failed);
    kept_failure::check_kept();
  }

  explicit backend(const backend_options& given) : options(allowed(given)) {
    int gpus = 0;
    check(Api::device_count(gpus));
    const auto [first, end] = processes::part_of_host(gpus);
    for (int gpu = first; gpu < end; ++gpu)
      for (int i = 0; i < options.devices_per_gpu; ++i) {
        devices.emplace_back(count_of(devices), gpu, options.devices_per_gpu);
        devices.back().measures_products = options.measured_products;
      }
    for (int a = first; a < end; ++a)
      for (int b = first; b < end; ++b)
        if (a != b) {
          // NCCL's kernels reach into arrays of other devices if they can, and do without if none can
          const status reached = Api::enable_peer_access(a, b);
          if (options.devices_per_gpu > 1 || reached.is != status::kind::unsupported) check(reached, a);
        }
  }

  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  ~backend() { watch.forget_graphs(); }

  int device_count() const { return count_of(devices); }
  device<Api>& device_at(int number) {
    if (number < 0 || number >= device_count())
      throw error("there is no device " + std::to_string(number) + ": the CUDA backend has " +
                  std::to_string(device_count()));
    return devices[index_of(number)];
  }

  /// The cliques of groups of a program's devices: see `clique_cache`.
  std::vector<clique<Api>*> cliques_of(const mesh<Api>& all, bool crosses,
                                       const std::vector<std::vector<int>>& groups) {
    try {
      return cliques.of(
          all, crosses, groups, [this](const clique<Api>& each) { wait_for_clique(each); }, [this] { wait_for_all(); });
    } catch (...) {
      abandon_cliques();
      throw;
    }
  }

  // How the host waits: see `collective_watch`

  void wait_for_clique(const clique<Api>& each) { watch.wait_for_clique(each); }
  void settle() noexcept { watch.settle(); }
  void abandon_cliques() noexcept { watch.abandon_cliques(); }
  std::function<void()> waiting() { return watch.waiting(); }
  std::function<void()> waiting_beside_others() { return watch.waiting_beside_others(); }
  std::uint64_t ended_collectives() const { return watch.ended_collectives(); }
  void check_collectives(std::uint64_t before) const { watch.check_collectives(before); }
  void note_step() { watch.note_step(); }

  /// Waits for all enqueued work.
  void wait_for_all() {
    wait_for_devices([](const device<Api>&) { return true; });
  }
  /// Waits for all work that was enqueued for one physical device.
  void wait_for_gpu(const device<Api>& on) {
    wait_for_devices([&](const device<Api>& each) { return each.physical == on.physical; });
  }

  flight_recorder<Api> recorder;
  const backend_options options;
  enqueue_threads threads{Api::host_threads()};

 private:
  template <class Condition> void wait_for_devices(const Condition& is_meant) {
    auto wait = waiting();
    for (device<Api>& each : devices) {
      if (!is_meant(each)) continue;
      each.activate();
      for (const auto stream : each.streams())
        while (!is_ready(Api::query_stream(stream), each.number)) wait();
    }
  }

  static backend_options allowed(backend_options wanted) {
    bool possible = false;
    check(Api::can_branch(possible));
    wanted.conditional_graphs = wanted.conditional_graphs && possible;
    return wanted;
  }

  static std::unique_ptr<backend>& slot() {
    static std::unique_ptr<backend>& only = *new std::unique_ptr<backend>;
    return only;
  }

  std::deque<device<Api>> devices;
  clique_cache<Api> cliques;
  collective_watch<Api> watch{devices, cliques, recorder, options.collective_timeout};
};

/// Whether there is any device. Throws `error` if there is one that does not work: programs would be slower on the
/// host, and nobody would know why.
template <device_api Api> bool has_devices() {
  int count = 0;
  try {
    const status asked = Api::device_count(count);
    if (asked.is == status::kind::unsupported) return false;
    check(asked);
  } catch (const cuda_error& failure) {
    throw error(std::string(failure.what()) + "; PARALLAX_BACKEND=host runs programs on the host without GPUs");
  }
  return count > 0;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
