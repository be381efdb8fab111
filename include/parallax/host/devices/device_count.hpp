// The number of virtual devices of the host.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <atomic>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The number of devices that somebody asked for before the first use of one; otherwise 0.
inline constinit std::atomic<int> wanted_devices{0};

/// The wanted number, or PARALLAX_HOST_DEVICES, or the number of processors. Throws `error` for an impossible number.
PARALLAX_RUNTIME_FUNCTION int device_count();

/// Sets the number of the host's devices in this process. Throws `error` if it has another number already.
inline void set_device_count(int count) {
  wanted_devices.store(count);
  if (const int there = device_count(); there != count)
    throw error("distributed::initialize: this process uses " + std::to_string(there) +
                " devices of the host already, and is to have " + std::to_string(count) +
                "; call it before anything else");
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host

#if PARALLAX_DEFINES_RUNTIME
#include <parallax/host/devices/device_pool.hpp>
#endif
