// Where the values of a call are: on the host, in pieces, or on device 0, where programs read them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/graph_copies.hpp>
#include <parallax/cuda/run/whole_and_piece.hpp>
#include <parallax/runtime/value.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The values of one call, by number: its arguments, and then what its sections make.
template <device_api Api> class argument_locations {
 public:
  recycled_vector<runtime_value> values;

  explicit argument_locations(recycled_vector<runtime_value> of_call) : values(std::move(of_call)) {}

  /// From now on values are brought to this device.
  void bring_to(device<Api>& device_0) { home_device = &device_0; }
  device<Api>& home() const { return *home_device; }

  /// The first byte of an argument, on the host or a device; null if the argument is in pieces.
  const std::byte* first_byte(std::size_t number) const {
    const runtime_value& value = values[number];
    if (!value.on_host) return nullptr;
    return value.host.on_device() == nullptr ? value.host.data() : address_of<Api>(value.host);
  }

  /// Where a graph of device 0 reads a value: on the host if the value may be sent only once, otherwise on the device.
  argument_source source(std::size_t number) {
    runtime_value& value = values[number];
    if (!value.on_host && !lies_here(value.pieces)) value.host_data();
    if (value.on_host && allocation_of<Api>(value.host) == nullptr && !becomes_kept(value.host, value.bytes()))
      return {value.host.data(), true};
    return {address_of<Api>(at_home(value)), false};
  }

  /// The address of a value on device 0. Small values of the host are sent together.
  std::byte* address(std::size_t number) {
    if (!is_small(values[number])) return address_of<Api>(at_home(values[number]));
    if (!small_arguments) send_small_arguments();
    return small_arguments->address(*small_numbers[number]);
  }

  /// A value's elements in one buffer on device 0, which the value keeps for the rest of the call.
  const buffer& at_home(runtime_value& value) {
    if (!value.on_host && !value.devices.empty() && lies_here(value.pieces)) {
      value.host = gathered(home(), value);
      value.on_host = true;
    }
    if (!value.on_host) value.host_data(); // of another backend
    if (allocation<Api>* memory = allocation_of<Api>(value.host)) {
      if (&memory->home != home_device) value.host = moved(home(), value.host);
    } else if (value.host.bytes() > 0) {
      value.host = uploaded<Api>(home(), value.host, host_part::whole(value.host.data(), value.bytes()));
    }
    return value.host;
  }
  /// Whether all pieces are on devices of this backend.
  static bool lies_here(const recycled_vector<buffer>& pieces) {
    for (const buffer& piece : pieces)
      if (piece.bytes() > 0 && allocation_of<Api>(piece) == nullptr) return false;
    return true;
  }

 private:
  device<Api>* home_device = nullptr;
  std::optional<small_values<Api>> small_arguments;      ///< on device 0
  std::vector<std::optional<std::size_t>> small_numbers; ///< by value, those that are among them

  static bool is_small(const runtime_value& value) {
    return value.on_host && value.host.on_device() == nullptr && small_values<Api>::takes(value.bytes());
  }
  void send_small_arguments() {
    small_arguments.emplace(home());
    small_numbers.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_small(values[i])) small_numbers[i] = small_arguments->add(values[i].host.data(), values[i].bytes());
    small_arguments->send();
  }
  /// Whether it serves to keep a copy of the host's bytes: not if they are sent for the first time, and perhaps the
  /// last.
  static bool becomes_kept(const buffer& memory, std::size_t bytes) {
    return memory.may_keep_copies() && !small_values<Api>::takes(bytes) && memory.note_sent();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
