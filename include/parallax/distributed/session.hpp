// The beginning and the end of a session of several processes.
#pragma once

#include <parallax/backends/execute.hpp>
#include <parallax/core/version.hpp>
#include <parallax/distributed/launch.hpp>
#include <parallax/distributed/options.hpp>
#include <parallax/distributed/tcp.hpp>
#include <parallax/host/devices/device_count.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/processes/gather_bytes.hpp>
#include <parallax/processes/host_place.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/runtime/environment.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

/// While it lives, this process is one of several: pmaps use the devices of all of them.
class session {
 public:
  session(session&& other) noexcept : all(std::move(other.all)), exceptions(other.exceptions) {}
  session& operator=(session&&) = delete;
  /// Ends the session. If an exception ends it, the other processes are told, and stop waiting for this one.
  ~session() {
    if (!all) return;
    if (std::uncaught_exceptions() > exceptions) all->fail(all->index(), "it left its session by an exception", true);
    if (processes::current_world() == all.get()) close();
    if (all->failed()) {
      // the library below would wait for processes that never come
      [[maybe_unused]] processes::world* const left_alone = all.release();
    }
  }

  /// Ends this process' session, if it has one, before the object ends: when the library below ends.
  static void close() {
    processes::world* const all = processes::current_world();
    if (all == nullptr) return;
    leave_devices(*all);
    processes::world_of_process.store(nullptr, std::memory_order_release);
    all->end();
    if (!all->failed()) all->by().close();
  }

  /// Opens this process' session over a transport. Throws `error` if one is open.
  static session over(std::unique_ptr<processes::transport> by, const options& given, const launch& found) {
    refuse_second();
    set_devices(given);
    if (by->index() == 0)
      std::fprintf(stderr, "parallax: %d processes by %.*s: %s\n", by->count(), static_cast<int>(by->name().size()),
                   by->name().data(), found.reason.c_str());
    session opened(std::make_unique<processes::world>(std::move(by), given.then,
                                                      given.timeout.value_or(runtime::collective_timeout())));
    opened.set_place(found.local_index);
    opened.count_devices();
    processes::world_of_process.store(opened.all.get(), std::memory_order_release);
    return opened;
  }
  /// Throws `error` if this process has a session.
  static void refuse_second() {
    if (processes::current_world() != nullptr)
      throw error("distributed::initialize: this process has a session already");
  }
  /// The session of a process that is alone.
  static session alone(const options& given) {
    set_devices(given);
    return session(nullptr);
  }

 private:
  /// Others may wait for work that this process' devices have not finished yet.
  static void leave_devices(processes::world& all) noexcept {
    try {
      parallax::detail::leave_processes(all.failed());
    } catch (const std::exception& e) {
      all.fail(all.index(), std::string("at the end of its session: ") + e.what(), true);
    }
  }
  static void set_devices(const options& given) {
    if (given.host_devices == 0) return;
    if (given.host_devices < 0 || given.host_devices > host::max_devices)
      throw error("distributed::initialize: options.host_devices is " + std::to_string(given.host_devices) +
                  "; it is from 1 to " + std::to_string(host::max_devices));
    host::set_device_count(given.host_devices);
  }
  explicit session(std::unique_ptr<processes::world> of) : all(std::move(of)) {}

  /// Chooses this process' GPUs: its part of those that all processes see, or all if the launcher has given each
  /// process its own.
  void set_place(int local_index) {
    const int on_host = all->by().count_on_host();
    if (local_index >= on_host)
      throw error("distributed::initialize: process " + std::to_string(all->index()) + " is to be number " +
                  std::to_string(local_index) + " on its host, where " + std::to_string(on_host) +
                  " processes are; numbers begin at 0");
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    processes::byte_writer own;
    own.put(std::string(visible == nullptr ? "" : visible));
    processes::world::call now(*all);
    const auto said =
        processes::gather_bytes(*all, processes::gathering::visible_devices, "the GPUs there are", own.bytes);
    const bool is_divided = std::any_of(said.begin(), said.end(), [&](const auto& each) { return each != said[0]; });
    if (is_divided) processes::set_host_place({});
    else processes::set_host_place({local_index >= 0 ? local_index : all->by().index_on_host(), on_host});
  }
  void count_devices() {
    all->set_own_devices(std::max(parallax::device_count(), host::device_count()));
    processes::byte_writer own;
    own.put(parallax::device_count());
    processes::world::call now(*all);
    const auto counts =
        processes::gather_bytes(*all, processes::gathering::device_counts, "the number of devices", own.bytes);
    for (int process = 0; process < count_of(counts); ++process) {
      const std::vector<std::byte>& each = counts[index_of(process)];
      const int devices = processes::byte_reader(each.data(), each.size()).take<int>();
      all->device_counts.push_back(devices);
      all->all_devices += devices;
      if (process < all->index()) all->devices_before += devices;
    }
  }

  std::unique_ptr<processes::world> all; ///< null if this process is alone
  int exceptions = std::uncaught_exceptions();
};

namespace detail {
/// Opens a session for a launch. The header of an engine sets it.
using engine = session (*)(const launch&, const options&);
inline std::atomic<engine> mpi_engine{nullptr};
} // namespace detail

/// Makes this process one of several, as the options or the environment say (docs/processes.md gives the order). All
/// processes call it once, before the first program. Processes that mpirun or srun starts use MPI if one file includes
/// <parallax/distributed/mpi.hpp>, and otherwise TCP, for which they need the address of process 0. Throws `error` if
/// there are several processes and neither is possible. JAX: jax.distributed.initialize
[[nodiscard]] inline session initialize(const options& given = {}) {
  session::refuse_second();
  const launch found = find_launch(given);
  const bool by_launcher = found.by == launcher::mpi || found.by == launcher::slurm;
  if (const detail::engine mpi = detail::mpi_engine.load(); mpi != nullptr && by_launcher) return mpi(found, given);
  if (found.count == 1) return session::alone(given);
  if (!found.coordinator.empty()) {
    const auto [host, port] = detail::parts_of_address(found.coordinator);
    detail::tcp_meeting met(found.index, found.count, host, port,
                            std::chrono::steady_clock::now() + given.startup_limit, detail::session_secret());
    return session::over(std::make_unique<detail::tcp_transport>(std::move(met), found.index), given, found);
  }
  throw error("distributed::initialize: there are " + std::to_string(found.count) + " processes (" + found.reason +
              "), but nothing joins them: include <parallax/distributed/mpi.hpp>, link with parallax::mpi and start "
              "them with mpirun or srun, or name process 0's address, PARALLAX_COORDINATOR=host:port");
}

/// The number of this process; 0 without a session. JAX: jax.process_index
inline int process_index() noexcept {
  const processes::world* all = processes::current_world();
  return all == nullptr ? 0 : all->index();
}
/// The number of processes; 1 without a session. JAX: jax.process_count
inline int process_count() noexcept {
  const processes::world* all = processes::current_world();
  return all == nullptr ? 1 : all->count();
}
/// The number of devices of all processes. JAX: jax.device_count
inline int device_count() {
  const processes::world* all = processes::current_world();
  return all == nullptr ? parallax::device_count() : all->all_devices;
}
/// The number of this process' devices. JAX: jax.local_device_count
inline int local_device_count() { return parallax::device_count(); }

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
