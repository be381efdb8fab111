// Vector clocks: what is known to have happened before what.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

/// One operation's access to memory. `time` counts the operations of `stream`, from 1.
struct access {
  const char* name = ""; ///< of the operation; static
  int device = -1;
  std::uint32_t stream = 0;
  std::uint32_t time = 0;

  bool operator==(const access& other) const { return stream == other.stream && time == other.time; }
};

/// How far into each stream everything has happened before a point of time.
class vector_clock {
 public:
  std::uint32_t operator[](std::size_t stream) const { return stream < times_.size() ? times_[stream] : 0; }

  /// Whether that access happened before.
  bool covers(const access& what) const { return (*this)[what.stream] >= what.time; }

  /// One operation further in `stream`; returns the operation's time.
  std::uint32_t advance(std::size_t stream) {
    if (stream >= times_.size()) times_.resize(stream + 1, 0);
    return ++times_[stream];
  }

  /// What happened before either.
  void join(const vector_clock& other) {
    if (times_.size() < other.times_.size()) times_.resize(other.times_.size(), 0);
    for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i] = std::max(times_[i], other.times_[i]);
  }

 private:
  std::vector<std::uint32_t> times_;
};

} // namespace simulator
