// Numbers and texts as bytes of a message, and back.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/processes/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// Appends values, one behind another.
class byte_writer {
 public:
  std::vector<std::byte> bytes;

  void put(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    put(&value, sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    put(text.data(), text.size());
  }
};

/// Reads the values that a `byte_writer` wrote. Throws `error` if bytes are missing.
class byte_reader {
 public:
  byte_reader(const std::byte* data, std::size_t size) : at(data), left(size) {}

  const std::byte* take(std::size_t size) {
    if (size > left) throw error("a message of another process ends too early");
    left -= size;
    return std::exchange(at, at + size);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string take_text() {
    const auto size = take<std::size_t>();
    return {reinterpret_cast<const char*>(take(size)), size};
  }

 private:
  const std::byte* at;
  std::size_t left;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
