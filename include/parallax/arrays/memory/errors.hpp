// The exceptions thrown at run time.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The base of every exception that this library throws. A call of a program throws `out_of_memory` if there is no
/// memory. Outside of programs, as in `to_vector`, the standard library's `std::bad_alloc` is thrown if there is none
/// for a text or a container.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The shapes of a call's arguments disagree, or differ from those that the program was compiled for.
class shape_error : public error {
 public:
  using error::error;
};

/// A device's memory is exhausted.
class out_of_memory : public error {
 public:
  /// `bytes` is the size of the allocation that failed, `memory` a name of the memory, such as "device 3", and `device`
  /// the logical device's number (-1: the host).
  out_of_memory(std::size_t bytes, const std::string& memory, int device = -1);

  /// The host has no memory for a call's own lists and texts. The size that failed is unknown.
  static out_of_memory for_lists();

  /// This error with `more` appended to its text.
  out_of_memory with(const std::string& more) const;

  /// The size of the allocation that failed, 0 if it is not known.
  std::size_t bytes() const noexcept { return wanted_bytes; }
  /// The device whose memory is exhausted; -1 for the host.
  int device() const noexcept { return failed_device; }

 private:
  out_of_memory(const std::string& text, std::size_t bytes, int device)
      : error(text), wanted_bytes(bytes), failed_device(device) {}

  std::size_t wanted_bytes;
  int failed_device;
};

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION out_of_memory::out_of_memory(std::size_t bytes, const std::string& memory, int device)
    : out_of_memory("out of memory: " + std::to_string(bytes) + " bytes asked of " + memory, bytes, device) {}

PARALLAX_RUNTIME_FUNCTION out_of_memory out_of_memory::for_lists() {
  return {"out of memory: the host has none for the lists that a call needs", 0, -1};
}

PARALLAX_RUNTIME_FUNCTION out_of_memory out_of_memory::with(const std::string& more) const {
  return {std::string(what()) + more, wanted_bytes, failed_device};
}
#endif

namespace runtime {
inline std::string message_of(const std::exception_ptr& original) {
  try {
    std::rethrow_exception(original);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

inline std::string in_seconds(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}
inline std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}
} // namespace runtime

/// A device's part of a program failed; the other devices were stopped.
class device_error : public error {
 public:
  /// Wraps the exception thrown on the device and quotes its message.
  device_error(int device, std::exception_ptr original)
      : error("device " + std::to_string(device) + ": " + runtime::message_of(original)),
        failed_device(device),
        first_error(std::move(original)) {}

  /// The device that failed.
  int device() const noexcept { return failed_device; }

  /// The exception thrown on the device, for `std::rethrow_exception`; null if this object is itself the first report.
  const std::exception_ptr& original() const noexcept { return first_error; }

 protected:
  device_error(int device, const std::string& text)
      : error("device " + std::to_string(device) + ": " + text), failed_device(device) {}

 private:
  int failed_device;
  std::exception_ptr first_error;
};

/// A device waited in a collective for longer than the deadline.
class timeout_error : public device_error {
 public:
  /// `device` waited for `seconds` in the `sequence`-th `collective` over `axes`; `arrived` and `missing` are the
  /// devices of its group that had entered it and that had not.
  timeout_error(int device, const std::string& collective, const std::string& axes, std::uint64_t sequence,
                double seconds, std::vector<int> arrived, std::vector<int> missing)
      : device_error(device, "waited " + runtime::in_seconds(seconds) + " in " + collective + " over " + axes +
                                 " (collective number " + std::to_string(sequence) + " over them); arrived: " +
                                 runtime::list_of(arrived) + "; missing: " + runtime::list_of(missing)),
        stuck_collective(collective),
        stuck_axes(axes),
        sequence_number(sequence),
        arrived_devices(std::move(arrived)),
        missing_devices(std::move(missing)) {}

  /// The collective's name, such as "all_reduce".
  const std::string& collective() const noexcept { return stuck_collective; }
  /// The mesh axes it goes over.
  const std::string& axes() const noexcept { return stuck_axes; }
  /// How many collectives over these axes the device had entered, this one included.
  std::uint64_t sequence() const noexcept { return sequence_number; }
  /// The devices of the group that had entered it.
  const std::vector<int>& arrived() const noexcept { return arrived_devices; }
  /// The devices of the group that had not.
  const std::vector<int>& missing() const noexcept { return missing_devices; }

 private:
  std::string stuck_collective;
  std::string stuck_axes;
  std::uint64_t sequence_number;
  std::vector<int> arrived_devices;
  std::vector<int> missing_devices;
};

namespace detail {

/// Ends the part of a device that waited for a failed one. The caller gets the failure itself instead.
class peer_failed : public error {
 public:
  peer_failed() : error("released from a collective because another device failed") {}
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
