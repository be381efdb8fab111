// A simulated block's shared memory, and which of its bytes two threads access in no order.
#pragma once

#include "support/simulator/random.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace simulator {

class shared_memory {
 public:
  static constexpr int nobody = -1, several = -2;

  /// An access of a byte: by which thread of the cluster, whether one of the block itself.
  struct access {
    int thread;
    bool is_own, writes;
    std::uint32_t cluster_period; ///< counts the barriers of clusters, from 1
  };
  /// An earlier one that nothing orders with it.
  struct conflict {
    int thread;
    bool was_own, wrote;
  };

  explicit shared_memory(std::size_t bytes)
      : memory_((bytes + 2 * guard_bytes) / sizeof(aligned_bytes) + 1), touched_(bytes) {}

  std::byte* data() { return memory_[0].bytes + guard_bytes; }
  /// Whether an address lies here or beside.
  bool is_near(const void* address) {
    const auto* at = static_cast<const std::byte*>(address);
    return !std::less<>{}(at, data() - guard_bytes) && std::less<>{}(at, data() + touched_.size() + guard_bytes);
  }

  /// A new block has it, and something in it; its cluster's periods are later ones than all before.
  void forget(generator& random) {
    for (std::size_t i = 0; i < touched_.size(); ++i) data()[i] = static_cast<std::byte>(random.below(256));
    last_visit_ = 0;
  }
  /// The block's own barrier.
  void pass_barrier() { ++period_; }
  bool is_visited_since(std::uint32_t cluster_period) const { return last_visit_ == cluster_period; }

  /// Accesses of the block's threads are ordered by its barriers, all others by the cluster's alone.
  std::optional<conflict> touch(std::size_t at, const access& a) {
    history& h = touched_[at];
    const auto meets = [&](const past_access& past, bool was_own) __attribute__((always_inline)) {
      return past.thread != nobody && past.thread != a.thread && past.cluster_period == a.cluster_period &&
             !(a.is_own && was_own && past.period != period_);
    };
    if (meets(h.writer, h.writer_is_own)) return conflict{h.writer.thread, h.writer_is_own, true};
    if (a.writes && meets(h.reader, true)) return conflict{h.reader.thread, true, false};
    if (a.writes && meets(h.visitor, false)) return conflict{h.visitor.thread, false, false};
    if (!a.is_own) last_visit_ = a.cluster_period;
    const past_access now{a.thread, period_, a.cluster_period};
    if (a.writes) {
      h.writer = now;
      h.writer_is_own = a.is_own;
      return {};
    }
    past_access& own_kind = a.is_own ? h.reader : h.visitor;
    const bool is_beside = own_kind.thread != nobody && own_kind.thread != a.thread &&
                           own_kind.cluster_period == a.cluster_period && (!a.is_own || own_kind.period == period_);
    own_kind = now;
    if (is_beside) own_kind.thread = several;
    return {};
  }

 private:
  static constexpr std::size_t guard_bytes = 4096;
  struct alignas(16) aligned_bytes {
    std::byte bytes[16];
  };
  struct past_access {
    int thread = nobody;
    std::uint32_t period = 0, cluster_period = 0;
  };
  /// Who accessed a byte last: wrote it, read it in the block itself, read it from others.
  struct history {
    past_access writer, reader, visitor;
    bool writer_is_own = true;
  };

  std::vector<aligned_bytes> memory_;
  std::vector<history> touched_;
  std::uint32_t period_ = 1; ///< counts the block's barriers
  std::uint32_t last_visit_ = 0;
};

} // namespace simulator
