// Device memory as buffers know it.
#pragma once

#include <parallax/cuda/devices/backend.hpp>
#include <parallax/cuda/names.hpp>

#include <memory>
#include <optional>

namespace parallax::cuda {

/// Memory of a logical device, given back in the order of its stream; or memory of others on it.
template <device_api Api> class allocation final : public device_memory {
 public:
  using stream = typename Api::stream;

  allocation(device<Api>& of, std::size_t bytes) : device_memory(of.number), home(of), start(of.take(bytes)) {}
  /// Others' memory: it is used here behind what has been enqueued on their stream, which waits for what was enqueued
  /// here as long as this lived.
  allocation(device<Api>& of, void* first, stream used_by) : device_memory(of.number), home(of), start(first) {
    check(home.wait_for_stream(used_by), home.number);
    others = used_by;
  }
  ~allocation() override {
    std::lock_guard lock(backend<Api>::mutex());
    if (others) {
      kept_failure::keep(home.let_wait(*others));
    } else {
      kept_failure::keep(Api::set_device(home.physical));
      kept_failure::keep(Api::release(start, home.stream()));
    }
  }

  void copy_to_host(std::byte* to, std::size_t bytes) override {
    std::lock_guard lock(backend<Api>::mutex());
    home.activate();
    home.host_copies.to_host(to, address(), bytes, backend<Api>::instance().waiting());
  }

  std::byte* address() const { return static_cast<std::byte*>(start); }

  device<Api>& home;

 private:
  void* start;
  std::optional<stream> others; ///< whose memory it is
};

/// `bytes` uninitialised bytes on a device; no memory for 0. Throws `out_of_memory`.
template <device_api Api> buffer allocate(device<Api>& on, std::size_t bytes) {
  if (bytes == 0) return {};
  return buffer::adopt(std::make_unique<allocation<Api>>(on, bytes), bytes);
}

/// Where a buffer lies on a device of this backend; null where it does not.
template <device_api Api> allocation<Api>* allocation_of(const buffer& b) {
  return dynamic_cast<allocation<Api>*>(b.on_device());
}

/// The first byte of a buffer that `allocate` gave.
template <device_api Api> std::byte* address_of(const buffer& b) {
  allocation<Api>* memory = allocation_of<Api>(b);
  return memory == nullptr ? nullptr : memory->address();
}

/// Copies host memory to a new buffer on a device, and counts it.
template <device_api Api> buffer upload(device<Api>& to, const std::byte* from, std::size_t bytes) {
  buffer result = allocate<Api>(to, bytes);
  to.activate();
  to.host_copies.to_device(address_of<Api>(result), from, bytes, backend<Api>::instance().waiting());
  count_host_to_device(bytes);
  return result;
}

/// Copies between devices, after what was enqueued on the source and before what will be, and counts it.
template <device_api Api>
void copy_across(device<Api>& to, std::byte* target, device<Api>& from, const std::byte* source, std::size_t bytes) {
  if (bytes == 0) return;
  to.wait_for(from);
  to.activate();
  check(Api::copy_between(target, to.physical, source, from.physical, bytes, to.stream()), to.number);
  try {
    from.wait_for(to);
  } catch (...) {
    backend<Api>::instance().settle(); // the source must not be released before the copy
    throw;
  }
  if (&to != &from) count_device_to_device(bytes);
}

} // namespace parallax::cuda
