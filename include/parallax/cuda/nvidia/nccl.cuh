// Collectives between GPUs through NCCL.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// The status of `call`, which returned `code`. NCCL adds a text of its own to the code's meaning.
inline status nccl_status(const char* call, ncclResult_t code) {
  if (code == ncclSuccess) [[likely]]
    return {};
  if (code == ncclInProgress) return {status::kind::not_ready, code, "NCCL", call, "in progress"};
  char meaning[512];
  const char* last = ncclGetLastError(nullptr);
  if (last == nullptr || *last == '\0') std::snprintf(meaning, sizeof meaning, "%s", ncclGetErrorString(code));
  else std::snprintf(meaning, sizeof meaning, "%s: %s", ncclGetErrorString(code), last);
  return {status::kind::failure, code, "NCCL", call, kept_text(meaning)};
}

/// The status of a call that may go on in the background: that is a success, and `communicator_state` tells its end.
inline status nccl_begun(const char* call, ncclResult_t code) {
  return nccl_status(call, code == ncclInProgress ? ncclSuccess : code);
}

/// Booleans travel as bytes.
constexpr ncclDataType_t nccl_type(element_type type) {
  switch (type) {
  case element_type::boolean:
  case element_type::uint8: return ncclUint8;
  case element_type::int32: return ncclInt32;
  case element_type::uint32: return ncclUint32;
  case element_type::int64: return ncclInt64;
  case element_type::uint64: return ncclUint64;
  case element_type::float16: return ncclFloat16;
  case element_type::bfloat16: return ncclBfloat16;
  case element_type::float32: return ncclFloat32;
  case element_type::float64: break;
  }
  return ncclFloat64;
}

/// For booleans, the sum and the maximum are "any", the minimum is "all".
constexpr ncclRedOp_t nccl_operation(reduction_kind how, element_type type) {
  switch (how) {
  case reduction_kind::sum: return type == element_type::boolean ? ncclMax : ncclSum;
  case reduction_kind::max: return ncclMax;
  case reduction_kind::min: return ncclMin;
  }
  return ncclSum;
}

} // namespace detail

/// The part of `device_api` that NCCL does. Communicators do not block: a call may go on in a thread of NCCL's, and its
/// kernels are on their streams only once `communicator_state` says that it is over. Only then may the streams get more
/// work, and the communicators another group.
struct nccl_calls {
  using communicator = ncclComm_t;

  using clique_id = ncclUniqueId;

  static status create_clique_id(clique_id& created) {
    return detail::nccl_status("ncclGetUniqueId", ncclGetUniqueId(&created));
  }
  /// One communicator for each of `devices`, which are different GPUs; goes on in the background. Leaves the current
  /// device as it was. After a failure there are none.
  static status create_clique(plain_span<communicator> clique, plain_span<const int> devices) {
    ncclUniqueId id;
    if (status s = create_clique_id(id); !s.ok()) return s;
    std::vector<int> ranks(clique.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return join_clique(clique, devices, ranks, static_cast<int>(clique.size()), id);
  }
  /// As `create_clique`, for the members of this process in a clique of `members` members.
  static status join_clique(plain_span<communicator> clique, plain_span<const int> devices, plain_span<const int> ranks,
                            int members, const clique_id& id) {
    for (communicator& member : clique) member = nullptr;
    int current = 0;
    if (status s = detail::runtime_status("cudaGetDevice", cudaGetDevice(&current)); !s.ok()) return s;
    status first = begin_members(clique, devices, ranks, members, id);
    keep_first(first, detail::runtime_status("cudaSetDevice", cudaSetDevice(current)));
    if (!first.ok()) {
      std::ignore = abort_communicators(clique); // the failure is reported already
      for (communicator& member : clique) member = nullptr;
    }
    return first;
  }

  /// New communicators for all members of `clique` in this process; goes on in the background. The entry in `children`
  /// of a member that gets none stays null.
  static status split_clique(plain_span<communicator* const> children, plain_span<const communicator> clique,
                             plain_span<const clique_place> places) {
    status first = group_start();
    if (!first.ok()) return first;
    for (std::size_t i = 0; i < clique.size() && first.ok(); ++i) {
      *children[i] = nullptr;
      const int color = places[i].clique < 0 ? NCCL_SPLIT_NOCOLOR : places[i].clique;
      // without a configuration of its own, a child does not block either
      first =
          detail::nccl_begun("ncclCommSplit", ncclCommSplit(clique[i], color, places[i].rank, children[i], nullptr));
    }
    keep_first(first, detail::nccl_begun("ncclGroupEnd", ncclGroupEnd()));
    return first;
  }

  /// Whether work goes on, or the error that ended the communicator.
  static status communicator_state(communicator asked) {
    ncclResult_t state = ncclSuccess;
    if (status s = detail::nccl_status("ncclCommGetAsyncError", ncclCommGetAsyncError(asked, &state)); !s.ok())
      return s;
    if (status s = detail::nccl_status("ncclCommGetAsyncError", state); !s.ok()) return s;
    // NCCL of about 2.19 cleans up finished work only at the communicator's next use. Until then another communicator's
    // group in this thread finds the members of this group in its list; from another thread, it finds a list that is
    // gone.
    int members = 0;
    return detail::nccl_status("ncclCommCount", ncclCommCount(asked, &members));
  }

  /// Destroys a communicator that is idle. To be called for all of a clique.
  static status destroy_communicator(communicator old) {
    if (old == nullptr) return {};
    return detail::nccl_status("ncclCommDestroy", ncclCommDestroy(old));
  }
  /// Aborts communicators, all of this process together: an abort may wait for a device that runs the kernels of
  /// another communicator until that is aborted too. Gives up after `abort_seconds`.
  static status abort_communicators(plain_span<const communicator> old) {
    struct ending {
      std::vector<communicator> all;
      std::mutex mutex;
      std::condition_variable ended;
      std::optional<status> result;
    };
    const auto shared = std::make_shared<ending>();
    for (communicator each : old)
      if (each != nullptr) shared->all.push_back(each);
    if (shared->all.empty()) return {};
    std::thread beside = started([shared] {
      const status result = abort_together(shared->all);
      const std::lock_guard lock(shared->mutex);
      shared->result = result;
      shared->ended.notify_one();
    });
    if (beside.joinable()) beside.detach();
    std::unique_lock lock(shared->mutex);
    if (shared->ended.wait_for(lock, std::chrono::seconds(abort_seconds), [&] { return shared->result.has_value(); }))
      return *shared->result;
    return {status::kind::failure, ncclInProgress, "NCCL", "ncclCommAbort", "has not returned, and is given up"};
  }

  static status group_start() { return detail::nccl_status("ncclGroupStart", ncclGroupStart()); }
  static status group_end() { return detail::nccl_status("ncclGroupEnd", ncclGroupEnd()); }

  static status all_reduce(const void* from, void* to, std::size_t count, element_type type, reduction_kind how,
                           communicator among, cudaStream_t stream) {
    return detail::nccl_begun("ncclAllReduce", ncclAllReduce(from, to, count, detail::nccl_type(type),
                                                             detail::nccl_operation(how, type), among, stream));
  }
  static status all_gather(const void* from, void* to, std::size_t count, element_type type, communicator among,
                           cudaStream_t stream) {
    return detail::nccl_begun("ncclAllGather", ncclAllGather(from, to, count, detail::nccl_type(type), among, stream));
  }
  static status reduce_scatter(const void* from, void* to, std::size_t count, element_type type, reduction_kind how,
                               communicator among, cudaStream_t stream) {
    return detail::nccl_begun("ncclReduceScatter", ncclReduceScatter(from, to, count, detail::nccl_type(type),
                                                                     detail::nccl_operation(how, type), among, stream));
  }
  static status broadcast(const void* from, void* to, std::size_t count, element_type type, int member,
                          communicator among, cudaStream_t stream) {
    return detail::nccl_begun("ncclBroadcast",
                              ncclBroadcast(from, to, count, detail::nccl_type(type), member, among, stream));
  }
  static status send(const void* from, std::size_t count, element_type type, int member, communicator among,
                     cudaStream_t stream) {
    return detail::nccl_begun("ncclSend", ncclSend(from, count, detail::nccl_type(type), member, among, stream));
  }
  static status receive(void* to, std::size_t count, element_type type, int member, communicator among,
                        cudaStream_t stream) {
    return detail::nccl_begun("ncclRecv", ncclRecv(to, count, detail::nccl_type(type), member, among, stream));
  }

 private:
  static constexpr int abort_seconds = 10;

  /// A thread that calls `f`; if the system refuses a thread, the calling thread calls `f` itself.
  template <class F> static std::thread started(const F& f) {
    try {
      return std::thread(f);
    } catch (const std::system_error&) {
      f();
      return {};
    }
  }

  static status abort_together(const std::vector<communicator>& all) {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
    status first = group_start();
    if (!first.ok()) return first;
    for (communicator each : all) keep_first(first, detail::nccl_begun("ncclCommAbort", ncclCommAbort(each)));
    keep_first(first, detail::nccl_begun("ncclGroupEnd", ncclGroupEnd()));
    return first;
#else
    // NCCL's groups do not support aborts yet
    std::vector<status> results(all.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < all.size(); ++i)
      threads.push_back(started([&, i] { results[i] = detail::nccl_status("ncclCommAbort", ncclCommAbort(all[i])); }));
    for (std::thread& each : threads)
      if (each.joinable()) each.join();
    status first;
    for (const status& each : results) keep_first(first, each);
    return first;
#endif
  }

  static void keep_first(status& first, const status& next) {
    if (first.ok()) first = next;
  }

  /// Goes on in the background. The member's device is current.
  static status create_member(communicator& created, int members, const ncclUniqueId& id, int member) {
    // only communicators that do not block can be aborted safely
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return detail::nccl_begun("ncclCommInitRankConfig", ncclCommInitRankConfig(&created, members, id, member, &config));
  }

  /// A group that was started is ended whatever happens in between.
  static status begin_members(plain_span<communicator> clique, plain_span<const int> devices,
                              plain_span<const int> ranks, int members, const clique_id& id) {
    status first = group_start();
    if (!first.ok()) return first;
    for (std::size_t i = 0; i < clique.size() && first.ok(); ++i) {
      first = detail::runtime_status("cudaSetDevice", cudaSetDevice(devices[i]));
      if (first.ok()) first = create_member(clique[i], members, id, ranks[i]);
    }
    keep_first(first, detail::nccl_begun("ncclGroupEnd", ncclGroupEnd()));
    return first;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
