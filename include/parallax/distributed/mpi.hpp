// Processes that MPI joins. Files that include this are linked with the target parallax::mpi.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/distributed/session.hpp>

#include <mpi.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

namespace detail {

/// Messages by MPI, on a communicator of our own. Calls are made one at a time, so that MPI_THREAD_SERIALIZED is
/// enough.
class mpi_transport final : public processes::transport {
 public:
  /// Duplicates `borrowed`. If `owns_mpi`, MPI is finalised at the end.
  mpi_transport(MPI_Comm borrowed, bool finalises) : owns_mpi(finalises) {
    check(MPI_Comm_dup(borrowed, &own), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    // MPICH's MPI_Test uses the error handler of MPI_COMM_WORLD, whichever communicator the message is of
    if (owns_mpi) check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(own, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(own, &size), "MPI_Comm_size");
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
    check(MPI_Comm_size(here, &on_host), "MPI_Comm_size");
    check(MPI_Comm_rank(here, &before_on_host), "MPI_Comm_rank");
    check(MPI_Comm_free(&here), "MPI_Comm_free");
    // MPI_Finalize does this first, while messages can still be sent
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &end_before_mpi, &own_key, nullptr), "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, own_key, nullptr), "MPI_Comm_set_attr");
  }

  int index() const noexcept override { return rank; }
  int count() const noexcept override { return size; }
  int count_on_host() const noexcept override { return on_host; }
  int index_on_host() const noexcept override { return before_on_host; }
  std::string_view name() const noexcept override { return "MPI"; }

  processes::transfer send(int to, int tag, const void* data, std::size_t bytes) override {
    std::lock_guard lock(one_at_a_time);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data, counted(bytes), MPI_BYTE, to, tag, own, &request), "MPI_Isend");
    return as_transfer(request);
  }
  processes::transfer receive(int from, int tag, void* data, std::size_t bytes) override {
    std::lock_guard lock(one_at_a_time);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(data, counted(bytes), MPI_BYTE, from, tag, own, &request), "MPI_Irecv");
    return as_transfer(request);
  }
  bool is_done(processes::transfer& which) override {
    std::lock_guard lock(one_at_a_time);
    MPI_Request request;
    std::memcpy(&request, which.handle, sizeof request);
    int done = 0;
    const int status = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    std::memcpy(which.handle, &request, sizeof request);
    check(status, "MPI_Test");
    return done != 0;
  }
  bool has_come(int tag, int& from, std::size_t& bytes) override {
    std::lock_guard lock(one_at_a_time);
    int come = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, tag, own, &come, &status), "MPI_Iprobe");
    if (come == 0) return false;
    int length = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    from = status.MPI_SOURCE;
    bytes = static_cast<std::size_t>(length);
    return true;
  }
  bool is_gone(int) const noexcept override { return false; } // if it were gone, MPI would end this process too
  [[noreturn]] void abort(int code) noexcept override {
    MPI_Abort(own, code);
    std::_Exit(code);
  }
  void close() override {
    {
      std::lock_guard lock(one_at_a_time);
      check(MPI_Comm_free(&own), "MPI_Comm_free");
    }
    if (is_mpi_ending) return; // by its user
    check(MPI_Comm_delete_attr(MPI_COMM_SELF, own_key), "MPI_Comm_delete_attr");
    check(MPI_Comm_free_keyval(&own_key), "MPI_Comm_free_keyval");
    if (owns_mpi) check(MPI_Finalize(), "MPI_Finalize");
  }

 private:
  static_assert(sizeof(MPI_Request) <= sizeof(processes::transfer::handle));

  /// Whether MPI_Finalize has been called while the session was open.
  inline static bool is_mpi_ending = false;
  /// Called by MPI_Finalize if the session lives longer than MPI, as an object with static storage may.
  static int end_before_mpi(MPI_Comm, int, void*, void*) {
    if (processes::current_world() == nullptr) return MPI_SUCCESS; // the session has been closed
    is_mpi_ending = true;
    try {
      session::close();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "parallax: at the end of MPI: %s\n", e.what());
      return MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
  }

  static processes::transfer as_transfer(MPI_Request request) {
    processes::transfer result{};
    std::memcpy(result.handle, &request, sizeof request);
    return result;
  }
  static int counted(std::size_t bytes) {
    if (bytes > INT_MAX) throw error("MPI: a message of " + std::to_string(bytes) + " bytes is longer than 2 GiB");
    return static_cast<int>(bytes);
  }
  static void check(int status, const char* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
  }

  /// Held for each call of MPI; no call waits.
  class spin_lock {
   public:
    void lock() noexcept {
      while (is_held.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() noexcept { is_held.store(false, std::memory_order_release); }

   private:
    std::atomic<bool> is_held{false};
  };

  spin_lock one_at_a_time;
  MPI_Comm own = MPI_COMM_NULL;
  bool owns_mpi;
  int own_key = MPI_KEYVAL_INVALID;
  int rank = 0, size = 1, on_host = 1, before_on_host = 0;
};

inline session open_mpi(MPI_Comm communicator, const options& given, const launch& found) {
  session::refuse_second();
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw error("distributed::initialize: MPI is finalised already");
  int granted = MPI_THREAD_SINGLE;
  if (initialized == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted);
  else MPI_Query_thread(&granted);
  if (granted < MPI_THREAD_SERIALIZED)
    throw error("distributed::initialize: MPI was initialised without MPI_THREAD_SERIALIZED, but devices are threads: "
                "use MPI_Init_thread");
  int known = 1;
  MPI_Comm_size(communicator, &known);
  if (known == 1 && found.count > 1)
    throw error(
        "distributed::initialize: there are " + std::to_string(found.count) + " processes (" + found.reason +
        "), but MPI knows of this one alone: start them with mpirun of the MPI that the program is linked with");
  return session::over(std::make_unique<mpi_transport>(communicator, initialized == 0), given, found);
}

inline session open_world(const launch& found, const options& given) { return open_mpi(MPI_COMM_WORLD, given, found); }
inline const bool mpi_is_entered = [] {
  mpi_engine.store(&open_world);
  return true;
}();

} // namespace detail

/// Opens a session of the processes of a communicator, which is duplicated. MPI is initialised only if that has not
/// been done yet, and finalised only then. A process has one device of the host, as is usual in MPI programs, unless
/// `options.host_devices` or PARALLAX_HOST_DEVICES says otherwise. The session ends with its object, or in
/// MPI_Finalize.
[[nodiscard]] inline session initialize(MPI_Comm borrowed, options given = {}) {
  if (given.host_devices == 0 && std::getenv("PARALLAX_HOST_DEVICES") == nullptr) given.host_devices = 1;
  return detail::open_mpi(borrowed, given,
                          {.local_index = given.local_process_index, .reason = "a communicator was given"});
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
