// The CUDA backend of this process: its logical devices, cliques of them, and how the host waits for them.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/devices/clique.hpp>
#include <parallax/cuda/devices/flight_recorder.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/environment.hpp>

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace parallax::cuda {

/// What the environment sets, or a test.
struct backend_options {
  int devices_per_gpu = environment_integer("PARALLAX_CUDA_DEVICES_PER_GPU", 1, 1, 64);
  std::chrono::nanoseconds collective_timeout = runtime::collective_timeout(); ///< zero: none
  /// Whether blocks of programs become CUDA graphs at their second call: those of at least `graph_steps` steps, and of
  /// each device's the `cached_sections` that were called last.
  bool graphs = environment_integer("PARALLAX_CUDA_GRAPHS", 1, 0, 1) != 0;
  int graph_steps = 2; ///< a graph's launch costs as much as a kernel's
  /// Whether graphs decide by themselves how often loops go round and which branches run, where the driver allows it.
  bool conditional_graphs = environment_integer("PARALLAX_CUDA_CONDITIONAL_GRAPHS", 1, 0, 1) != 0;
  std::size_t cached_sections = 256;
  std::size_t graph_memory = std::size_t{64} << 20; ///< of all graphs of a device
  /// Collectives wait for one another as long as their results are not needed; so many bytes of operands then run on
  /// the side streams, while the devices compute on.
  std::size_t overlap_bytes = std::size_t{4} << 20;
};

/// Made at its first use, and never destroyed: arrays with static storage may outlive any other object. One thread at a
/// time enqueues work, under `mutex()`, so that all devices see collectives in the same order.
template <device_api Api> class backend {
 public:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex& only = *new std::recursive_mutex;
    return only;
  }
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
  /// Waits for all work and gives everything back. No buffer may lie on a device any more. For tests.
  static void shut_down() {
    std::lock_guard lock(mutex());
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
    for (int gpu = 0; gpu < gpus; ++gpu)
      for (int i = 0; i < options.devices_per_gpu; ++i) devices.emplace_back(count_of(devices), gpu);
    for (int a = 0; a < gpus; ++a)
      for (int b = 0; b < gpus; ++b)
        if (a != b) {
          // NCCL's kernels reach into one another's arrays where they can, and do without where nobody can
          const status reached = Api::enable_peer_access(a, b);
          if (options.devices_per_gpu > 1 || reached.is != status::kind::unsupported) check(reached, a);
        }
  }

  int device_count() const { return count_of(devices); }
  device<Api>& device_at(int number) {
    if (number < 0 || number >= device_count())
      throw error("there is no device " + std::to_string(number) + ": the CUDA backend has " +
                  std::to_string(device_count()));
    return devices[index_of(number)];
  }

  /// The clique of these devices, made at its first use. The order is that of the ranks.
  clique<Api>& clique_of(plain_span<device<Api>* const> members) {
    if (clique<Api>* known = known_clique(members)) return *known;
    cliques.push_back(std::make_unique<clique<Api>>(members));
    wait_for_clique(*cliques.back());
    return *cliques.back();
  }
  /// The cliques of groups of a program's devices. Where NCCL serves all devices together, they are split from the
  /// clique of all, which costs less than making them anew.
  std::vector<clique<Api>*> cliques_of(const std::vector<device<Api>*>& all,
                                       const std::vector<std::vector<device<Api>*>>& groups) {
    std::vector<clique<Api>*> found, parts;
    for (const auto& group : groups) found.push_back(known_clique(group));
    if (!plain::contains(found, nullptr)) return found;
    clique<Api>& whole = clique_of(all);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!whole.uses_nccl() || groups[i] == all) found[i] = &clique_of(groups[i]);
      if (found[i] != nullptr) continue;
      parts.push_back(cliques.emplace_back(std::make_unique<clique<Api>>(groups[i], whole)).get());
      found[i] = parts.back();
    }
    if (parts.empty()) return found;
    try {
      wait_for_all(); // NCCL wants nothing outstanding on a communicator that it splits
      whole.split(parts);
    } catch (...) {
      abandon_cliques();
      throw;
    }
    wait_for_clique(whole);
    for (const clique<Api>* part : parts) wait_for_clique(*part);
    return found;
  }

  /// Waits until nothing goes on in the background of a clique.
  void wait_for_clique(const clique<Api>& each) {
    const deadline until(options.collective_timeout);
    while (!idle_or_abort(each))
      if (until.is_over()) abort_all("waited " + until.text() + " for NCCL to get ready");
  }

  /// After a failure: waits until the devices no longer use what is about to be released, or until the deadline.
  void settle() noexcept {
    const deadline until(options.collective_timeout);
    for (device<Api>& each : devices) {
      try {
        auto wait = waiting();
        while (is_unfinished(each)) wait();
      } catch (const error&) { // has aborted what it waited for, or cannot ask
        while (is_unfinished(each) && !until.is_over()) std::this_thread::yield();
      }
    }
  }

  /// Ends all collectives, which will not end by themselves, and forgets the communicators.
  void abandon_cliques() noexcept {
    for (auto& each : cliques) each->abort();
    cliques.clear();
  }

  /// What a loop that waits for a device calls: watches the collectives.
  std::function<void()> waiting() {
    return [this, until = deadline(options.collective_timeout)] {
      for (auto& each : cliques) idle_or_abort(*each);
      if (until.is_over() && recorder.is_going_on()) abort_all("waited " + until.text());
      std::this_thread::yield();
    };
  }

  /// Waits until all that was enqueued is done.
  void wait_for_all() {
    auto wait = waiting();
    for (device<Api>& each : devices) {
      each.activate();
      for (const auto stream : each.streams())
        while (!is_ready(Api::query_stream(stream), each.number)) wait();
    }
  }

  flight_recorder<Api> recorder;
  const backend_options options;

 private:
  /// A time that is over some time after it was made.
  class deadline {
   public:
    explicit deadline(std::chrono::nanoseconds after) : limit(after), start(std::chrono::steady_clock::now()) {}
    bool is_over() const { return limit.count() > 0 && std::chrono::steady_clock::now() - start > limit; }
    std::string text() const { return std::to_string(std::chrono::duration<double>(limit).count()) + " s"; }

   private:
    std::chrono::nanoseconds limit;
    std::chrono::steady_clock::time_point start;
  };

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

  clique<Api>* known_clique(plain_span<device<Api>* const> members) {
    for (auto& known : cliques)
      if (known->is_of(members)) return known.get();
    return nullptr;
  }

  static bool is_unfinished(const device<Api>& each) noexcept {
    kept_failure::keep(Api::set_device(each.physical));
    for (const auto stream : each.streams())
      if (Api::query_stream(stream).is == status::kind::not_ready) return true;
    return false;
  }

  bool idle_or_abort(const clique<Api>& each) {
    try {
      return each.is_idle();
    } catch (const cuda_error& failure) {
      abort_all(failure.what());
    }
  }
  [[noreturn]] void abort_all(const std::string& reason) {
    collective_error failure = recorder.failure(reason);
    abandon_cliques();
    throw failure;
  }

  std::deque<device<Api>> devices;
  std::vector<std::unique_ptr<clique<Api>>> cliques;
};

/// Whether there is a device at all, and the libraries work.
template <device_api Api> bool has_devices() {
  int count = 0;
  return Api::device_count(count).ok() && count > 0;
}

} // namespace parallax::cuda
