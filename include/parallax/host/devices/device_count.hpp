// How many virtual devices the host has.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/host/names.hpp>

namespace parallax::host {

/// PARALLAX_HOST_DEVICES, or the number of processors. Throws `error` for a number that cannot be.
PARALLAX_RUNTIME_FUNCTION int device_count();

} // namespace parallax::host

#if PARALLAX_DEFINES_RUNTIME
#include <parallax/host/devices/device_pool.hpp>
#endif
