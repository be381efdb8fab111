// The CUDA backend of this process: its logical devices, cliques of them, and how the host waits for them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/clique_cache.hpp>
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
#include <optional>
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
    slot()->forget_graphs();
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
          // NCCL's kernels reach into one another's arrays where they can, and do without where nobody can
          const status reached = Api::enable_peer_access(a, b);
          if (options.devices_per_gpu > 1 || reached.is != status::kind::unsupported) check(reached, a);
        }
  }

  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  ~backend() { forget_graphs(); }

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

  /// Waits until nothing goes on in the background of a clique.
  void wait_for_clique(const clique<Api>& each) {
    const deadline until(time_limit());
    listener others(*this);
    std::vector<bool> idle_members;
    while (!or_abort([&] { return each.is_idle(idle_members); })) {
      const shared_collective shared = meeting_of(each);
      others.look(shared);
      if (until.is_over()) miss(until, " for NCCL to get ready", shared);
    }
  }

  /// After a failure: waits until the devices no longer use what is about to be released, or until the deadline.
  void settle() noexcept {
    recorder.forget_begun();
    const deadline until(time_limit());
    for (device<Api>& each : devices) {
      try {
        auto wait = waiting();
        while (is_unfinished(each)) wait();
      } catch (const error&) { // has aborted the work that it waited for, or cannot ask
        while (is_unfinished(each) && !until.is_over()) std::this_thread::yield();
      }
    }
  }

  /// Ends all collectives, which will not end by themselves, and forgets the communicators.
  void abandon_cliques() noexcept {
    ++times_ended;
    last_failure.reset();
    forget_graphs();
    cliques.abandon();
  }

  /// A function for loops that wait for a device to call: it watches the collectives.
  std::function<void()> waiting() {
    return [watch = watching()]() mutable {
      watch();
      std::this_thread::yield();
    };
  }
  /// A function like that of `waiting`, for loops that let other threads enqueue. It watches now and then, unless
  /// another thread has the mutex: that one gives it up soon, or watches itself.
  std::function<void()> waiting_beside_others() {
    return [watch = watching(), calls = 0U]() mutable {
      if (calls++ % 64 == 0) {
        const std::unique_lock lock(mutex(), std::try_to_lock);
        if (lock.owns_lock()) watch();
      }
      std::this_thread::yield();
    };
  }

  /// The number of times that collectives were aborted. If it changes while a thread waits for a result, the result may
  /// be invalid: the thread then calls `check_collectives` with the old number, which throws the failure.
  std::uint64_t ended_collectives() const { return times_ended; }
  void check_collectives(std::uint64_t before) const {
    if (times_ended == before) return;
    if (last_failure) throw collective_error(*last_failure);
    throw error("collectives were given up while their result was waited for");
  }

  /// Called before a step of a program is enqueued. Keeps the host from running so far ahead of a collective that the
  /// driver's queues are full: behind a collective that never ends, it would wait for room in them for ever, with no
  /// deadline.
  void note_step() {
    recorder.note_step();
    if (!recorder.is_ahead(most_steps_ahead)) return;
    auto wait = waiting();
    while (recorder.is_ahead(most_steps_ahead)) wait();
  }

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

  /// Each step takes a few entries of a queue of about a thousand.
  static constexpr std::uint64_t most_steps_ahead = 128;

  /// A time that is over some time after it was made.
  class deadline {
   public:
    explicit deadline(std::chrono::nanoseconds after) : limit(after), start(std::chrono::steady_clock::now()) {}
    bool is_over() const { return limit.count() > 0 && std::chrono::steady_clock::now() - start > limit; }
    double seconds() const { return std::chrono::duration<double>(limit).count(); }
    std::string text() const { return std::to_string(seconds()) + " s"; }

   private:
    std::chrono::nanoseconds limit;
    std::chrono::steady_clock::time_point start;
  };

  /// The part of `waiting` that is done each time.
  std::function<void()> watching() {
    return [this, until = deadline(time_limit()), others = listener(*this), looks = 0U,
            progress = recorder.progress()]() mutable {
      cliques.for_each([this](const clique<Api>& each) { or_abort([&] { return each.is_idle(); }); });
      if (++looks % 16 == 0) others.look(recorder.waits_for_others());
      if (!until.is_over() || !recorder.is_going_on()) return;
      // the limit is of one collective, and many may have been enqueued
      const auto now = recorder.progress();
      if (now == progress)
        if (const auto shared = recorder.waits_for_others(); !may_take_any_time(shared)) miss(until, "", shared);
      progress = now;
      until = deadline(time_limit());
    };
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

  void forget_graphs() noexcept {
    for (device<Api>& each : devices) each.graphs.forget_exchanges();
  }

  static bool is_unfinished(const device<Api>& each) noexcept {
    kept_failure::keep(Api::set_device(each.physical));
    for (const auto stream : each.streams())
      if (Api::query_stream(stream).is == status::kind::not_ready) return true;
    return false;
  }

  /// Calls `ask`, which asks cliques; if one of them has failed, aborts all collectives.
  template <class Ask> auto or_abort(const Ask& ask) {
    try {
      return ask();
    } catch (const cuda_error& failure) {
      abort_all(failure.what());
    }
  }
  [[noreturn]] void abort_all(const std::string& reason) {
    collective_error failure = recorder.failure(reason);
    abandon_cliques();
    last_failure = failure;
    if (processes::world* const others = world_of_others()) others->fail(others->index(), failure.what(), true);
    throw failure;
  }

  // Other processes

  using shared_collective = typename flight_recorder<Api>::shared_collective;

  static processes::world* world_of_others() {
    processes::world* const all = processes::current_world();
    return all == nullptr || all->count() == 1 ? nullptr : all;
  }
  std::chrono::nanoseconds time_limit() const {
    processes::world* const others = world_of_others();
    return others == nullptr ? options.collective_timeout : others->timeout();
  }
  static shared_collective meeting_of(const clique<Api>& each) {
    if (!each.is_shared()) return {};
    return {.name = "the meeting of NCCL's members", .number = world_of_others()->shared_count()};
  }

  /// Watches other processes while this one waits for them.
  class listener {
   public:
    explicit listener(backend& of) : owner(&of) {}
    /// `shared` is the collective that this process waits in. Throws `process_error`, and aborts all collectives, if a
    /// process has failed or is gone, so that it will not come.
    void look(const shared_collective& shared) {
      processes::world* const others = world_of_others();
      if (others == nullptr || !shared) return;
      try {
        others->read_notes();
        if (others->first_gone() < 0) return;
        // the last messages of a process that has left may not have been seen here yet
        if (!until) until.emplace(std::chrono::milliseconds(500));
        if (until->is_over()) others->refuse_gone(others->first_gone(), shared.name);
      } catch (...) {
        owner->abandon_cliques();
        throw;
      }
    }

   private:
    backend* owner;
    std::optional<deadline> until;
  };
  /// Whether all processes have launched a graph, which may take any time to come to its collectives and between them.
  static bool may_take_any_time(const shared_collective& waits_in) {
    processes::world* const others = world_of_others();
    return others != nullptr && waits_in.in_graph && others->ask_who_waits(waits_in.number).second.empty();
  }
  /// Fails at the deadline. `shared` is the collective with other processes that this one waits in, if any.
  [[noreturn]] void miss(const deadline& after, const char* what, const shared_collective& shared) {
    processes::world* const others = world_of_others();
    if (others == nullptr || !shared) abort_all("waited " + after.text() + what);
    const auto [arrived, missing] = others->ask_who_waits(shared.number);
    try {
      others->miss(process_timeout(others->index(), shared.name, shared.number, after.seconds(), arrived, missing));
    } catch (...) {
      abandon_cliques();
      throw;
    }
  }

  std::deque<device<Api>> devices;
  clique_cache<Api> cliques;
  std::uint64_t times_ended = 0;
  std::optional<collective_error> last_failure; ///< the failure that they were aborted for the last time
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
