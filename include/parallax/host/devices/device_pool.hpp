// The host backend's virtual devices: a pool of threads that run the parts of a program side by side.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/device_count.hpp>
#include <parallax/host/devices/process_wide.hpp>
#include <parallax/host/devices/start_thread.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/host/devices/thread_state.hpp>
#include <parallax/host/devices/wait.hpp>
#include <parallax/host/names.hpp>
#include <parallax/processes/errors.hpp>
#include <parallax/runtime/environment.hpp>

#include <atomic>
#include <bitset>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// N virtual devices, each a thread with a queue of work; the threads start when first needed. Any number of threads
/// may call `run` at the same time: a device works for one run after another, and all devices see the runs in the same
/// order, so that runs which wait for their own devices never wait for each other in a circle.
class device_pool {
 public:
  /// A pool of `size` devices, from 1 to 4096.
  explicit device_pool(int size) : device_total(size) {
    if (size < 1 || size > max_devices) throw error("a pool has from 1 to 4096 devices, not " + std::to_string(size));
    all_devices = std::make_unique<device[]>(index_of(size));
  }

  ~device_pool() {
    for (int i = 0; i < device_total; ++i) {
      device& each = all_devices[index_of(i)];
      if (!each.thread.joinable()) continue;
      {
        std::lock_guard lock(each.mutex);
        each.stop = true;
      }
      each.ring();
      each.thread.join();
    }
  }

  device_pool(const device_pool&) = delete;
  device_pool& operator=(const device_pool&) = delete;

  /// The devices of this process: the wanted number, or `PARALLAX_HOST_DEVICES`, or the number of processors. They
  /// serve until the process ends; a child of fork has others.
  static device_pool& instance() {
    return process_wide<device_pool>::get([] {
      const int wanted = wanted_devices.load();
      return device_pool(wanted > 0 ? wanted
                                    : environment_integer("PARALLAX_HOST_DEVICES", core_count(), 1, max_devices));
    });
  }

  /// How many devices there are.
  int size() const noexcept { return device_total; }

  /// Runs `body(position)` on `devices[position]` for every position and returns when all have ended. The first part
  /// runs in the calling thread when its device is idle; a run on one idle device involves no other thread.
  ///
  /// Throws `device_error` with the first failure of a part, after all have ended; and `error` when a device does not
  /// exist or occurs twice, when called by a part of another run, or when the system refuses a thread.
  void run(plain_span<const int> devices, function_ref<void(int)> body) { run_job(devices, body, nullptr); }

  /// Runs `body(position)` on the devices of a team, whose collectives it may call. When a part fails, the others are
  /// released from their collectives. Afterwards the team can be used again.
  void run(team& shared, function_ref<void(int)> body) {
    if (shared.in_use.exchange(true)) throw error("a team of devices serves one run at a time");
    struct release {
      team& used;
      ~release() {
        if (used.aborted()) used.reset();
        used.in_use.store(false);
      }
    } at_end{shared};
    run_job(shared.devices(), body, &shared);
  }

 private:
  // One call of `run`. It lives in the caller's frame: `done` is the last member that another thread touches.
  struct job {
    function_ref<void(int)> body;
    team* shared;
    plain_span<const int> devices;
    std::atomic<int> remaining;
    wait_word done{};
    std::mutex mutex{};
    std::exception_ptr failure{};
    int failed_device = -1;
    bool only_released = true;

    void run_part(int position) noexcept {
      const int device = devices[index_of(position)];
      thread_state_scope scope({device, devices.size() > 1});
      try {
        body(position);
      } catch (const peer_failed&) {
        fail(device, true);
      } catch (...) {
        fail(device, false);
      }
    }

    void fail(int device, bool released) noexcept {
      {
        std::lock_guard lock(mutex);
        if (!failure || (only_released && !released)) {
          failure = std::current_exception();
          failed_device = device;
          only_released = released;
        }
      }
      if (shared) shared->abort();
    }

    void end_part() noexcept {
      if (remaining.fetch_sub(1, std::memory_order_acq_rel) == 1) done.store(1);
    }

    void rethrow() const {
      if (!failure) return;
      try {
        std::rethrow_exception(failure);
      } catch (const device_error&) {
        throw; // it says already which device it was
      } catch (const process_error&) {
        throw; // and this one which process
      } catch (...) {
        throw device_error(failed_device, std::current_exception());
      }
    }
  };

  struct task {
    job* of = nullptr;
    int position = 0;
    task* next = nullptr;
  };

  struct device {
    std::mutex mutex;
    task* first = nullptr;
    task* last = nullptr;
    bool busy = false;
    bool stop = false;
    wait_word bell;
    std::thread thread;

    bool idle() const { return !busy && !first; }

    void push(task& added) {
      (first ? last->next : first) = &added;
      last = &added;
    }

    void ring() noexcept {
      std::uint32_t count = bell.load();
      while (!bell.compare_exchange(count, (count + 1) & wait_word::mask)) count = bell.load();
    }

    void ensure_started() {
      if (!thread.joinable()) thread = start_thread([this] { serve(); }, "PARALLAX_HOST_DEVICES");
    }

    void release() noexcept {
      bool more;
      {
        std::lock_guard lock(mutex);
        busy = false;
        more = first != nullptr;
      }
      if (more) ring();
    }

    void serve() noexcept {
      std::chrono::nanoseconds spin{0};
      while (true) {
        const std::uint32_t count = bell.load();
        task* current = nullptr;
        {
          std::lock_guard lock(mutex);
          if (!busy && first) {
            current = first;
            first = current->next;
            busy = true;
          } else if (stop) {
            return;
          }
        }
        if (!current) {
          bell.wait(count, {spin, {}});
          continue;
        }
        job& of = *current->of;
        spin = spin_for(count_of(of.devices));
        of.run_part(current->position);
        {
          std::lock_guard lock(mutex);
          busy = false;
        }
        of.end_part();
      }
    }
  };

  void run_job(plain_span<const int> devices, function_ref<void(int)> body, team* shared) {
    if (current_device() >= 0) {
      throw error("device " + std::to_string(current_device()) +
                  " called run: a part of a run cannot start another, the devices that it needs may wait for it");
    }
    check(devices);
    if (devices.empty()) return;
    job made{body, shared, devices, count_of(devices)};
    recycled_vector<task> tasks(devices.size());
    if (enqueue(made, tasks)) {
      made.run_part(0);
      device_of(made, 0).release();
      made.end_part();
    }
    made.done.wait(0, {spin_for(count_of(devices)), {}});
    made.rethrow();
  }

  void check(plain_span<const int> devices) const {
    std::bitset<max_devices> seen;
    for (int each : devices) {
      if (each < 0 || each >= device_total) {
        throw error("there is no device " + std::to_string(each) + ": the host has " + std::to_string(device_total) +
                    " (PARALLAX_HOST_DEVICES)");
      }
      if (seen[index_of(each)]) throw error("a run names device " + std::to_string(each) + " twice");
      seen.set(index_of(each));
    }
  }

  device& device_of(const job& of, std::size_t position) { return all_devices[index_of(of.devices[position])]; }

  // Puts the parts into the queues, under one lock for all of them. Returns whether the caller is to run the first one.
  bool enqueue(job& of, recycled_vector<task>& tasks) {
    std::lock_guard order(order_mutex);
    // Threads first: starting one may fail, and then no part may wait in a queue yet.
    for (std::size_t i = 1; i < tasks.size(); ++i) device_of(of, i).ensure_started();
    bool first_here = false;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      device& target = device_of(of, i);
      tasks[i] = {&of, static_cast<int>(i), nullptr};
      {
        std::lock_guard lock(target.mutex);
        if (i == 0 && target.idle()) {
          target.busy = first_here = true;
          continue;
        }
        if (i == 0) target.ensure_started();
        target.push(tasks[i]);
      }
      target.ring();
    }
    return first_here;
  }

  int device_total;
  std::unique_ptr<device[]> all_devices;
  std::mutex order_mutex;
};

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION int device_count() { return device_pool::instance().size(); }
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::host
