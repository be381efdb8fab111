// Which of a call's values lie at the same addresses as before: graphs work there, and copy the others.
#pragma once

#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The addresses of values in the last calls of a section. A loop that calls it again and again uses a few addresses in
/// turn: the result of one call is the argument of the next one, whose memory is the result of the call after that.
class address_history {
 public:
  static constexpr std::size_t most_calls = 8; ///< that are remembered

  /// Keeps those of a call's addresses, by value, that are likely to occur together again, and makes the others null.
  /// They occurred together in one earlier call, and for the same values as in the last call.
  void keep_repeated(plain_span<const std::byte*> now) {
    repeated.assign(now.size(), false);
    for (const auto& before : calls) {
      if (before.size() != now.size()) continue;
      same.assign(now.size(), false);
      for (std::size_t i = 0; i < now.size(); ++i) same[i] = now[i] != nullptr && before[i] == now[i];
      if (count_of(same) > count_of(repeated)) std::swap(same, repeated);
    }
    calls[next].assign(now.begin(), now.end());
    next = (next + 1) % most_calls;
    const bool is_steady = plain::equal(repeated, repeated_last);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (!is_steady || !repeated[i]) now[i] = nullptr;
    std::swap(repeated, repeated_last);
  }

 private:
  std::array<std::vector<const std::byte*>, most_calls> calls; ///< addresses, by value
  std::size_t next = 0;                                        ///< of these, which is forgotten next
  std::vector<char> repeated, repeated_last, same;             ///< by value; kept, so that a call takes no memory

  static std::ptrdiff_t count_of(const std::vector<char>& which) { return std::count(which.begin(), which.end(), 1); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
