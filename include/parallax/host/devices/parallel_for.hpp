// Loops over all cores.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Calls `body(begin, end)` for disjoint ranges that cover 0 to `count`, on all cores: see `worker_pool`. The ranges
/// begin at multiples of `grain`, the least number of iterations that is worth another thread. Everything runs in the
/// calling thread when there are no more than `grain`, inside another parallel loop, inside a run of several devices
/// and while another thread's loop has the workers. The first exception is rethrown after all ranges have ended; ranges
/// not begun by then are left out. Throws `error` if the system refuses a thread.
PARALLAX_RUNTIME_FUNCTION void parallel_for(std::int64_t count, std::int64_t grain,
                                            function_ref<void(std::int64_t, std::int64_t)> body);

} // namespace parallax::PARALLAX_INLINE_VERSION::host

#if PARALLAX_DEFINES_RUNTIME
#include <parallax/host/devices/worker_pool.hpp>
#endif
