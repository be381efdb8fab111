// Small arguments from the host, above all numbers: the arguments of a device come with the launch of one kernel.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/kernels/copies/copy_pieces.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `add` all values, then `send`, then ask for their addresses, which are valid as long as this lives.
template <device_api Api> class small_values {
 public:
  /// Larger ones are uploaded by themselves.
  static constexpr std::size_t most_bytes = 256;
  static bool takes(std::size_t bytes) { return bytes > 0 && bytes <= most_bytes; }

  explicit small_values(device<Api>& where) : to(where) {}

  /// Returns the value's number.
  std::size_t add(const std::byte* from, std::size_t bytes) {
    first_words.push_back(words.size());
    words.resize(words.size() + copy_pieces::words_of(bytes));
    std::memcpy(&words[first_words.back()], from, bytes);
    total_bytes += bytes;
    return first_words.size() - 1;
  }

  /// Enqueues what was added, and counts it.
  void send() {
    if (words.empty()) return;
    constexpr std::size_t word_bytes = copy_pieces::word_bytes;
    memory = allocate<Api>(to, words.size() * word_bytes);
    to.activate();
    for (std::size_t done = 0; done < words.size(); done += copy_pieces::most_given) {
      const std::size_t part = std::min<std::size_t>(words.size() - done, copy_pieces::most_given);
      copy_pieces::arguments a{};
      a.count = 1, a.tiles = copy_pieces::tiles_of(part * word_bytes);
      a.pieces[0] = {nullptr, address_of<Api>(memory) + done * word_bytes,
                     static_cast<std::uint32_t>(part * word_bytes), 0, 0};
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(done), part, a.given);
      check(Api::launch(copy_pieces{}, copy_pieces::shape(a, to.context()), to.stream(), a), to.number);
    }
    count_host_to_device(total_bytes);
  }

  std::byte* address(std::size_t number) const {
    return address_of<Api>(memory) + first_words[number] * copy_pieces::word_bytes;
  }

 private:
  device<Api>& to;
  std::vector<copy_pieces::word> words;
  std::vector<std::size_t> first_words; ///< by number
  std::size_t total_bytes = 0;
  buffer memory;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
