// Kernels that decide, within a graph, which conditional nodes run their bodies.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Sets conditions to a truth value that a kernel has computed, or to a known one.
struct set_conditions {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 32;
  static constexpr int most = 4;

  enum class rule : unsigned char { as_computed, never, always };
  struct setting {
    graph_condition condition;
    rule how;
  };
  struct arguments {
    const std::uint8_t* truth; ///< null if no condition follows it
    int count;
    setting settings[most];

    void add(graph_condition condition, rule how) { settings[count++] = {condition, how}; }
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    if (block.thread() != 0) return;
    const unsigned computed = a.truth != nullptr && block.load(a.truth) != 0 ? 1 : 0;
    for (int i = 0; i < a.count; ++i) {
      const rule how = a.settings[i].how;
      block.set_condition(a.settings[i].condition.handle, how == rule::as_computed ? computed
                                                          : how == rule::always    ? 1U
                                                                                   : 0U);
    }
  }
};

/// Sets the condition of branch number `*chosen`, and clears those of the others.
struct choose_branch {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 32;
  static constexpr int most = 32;

  struct arguments {
    const std::int32_t* chosen;
    int first, count; ///< branches that have a condition here
    graph_condition conditions[most];
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    if (block.thread() != 0) return;
    const std::int32_t chosen = block.load(a.chosen);
    for (int i = 0; i < a.count; ++i) block.set_condition(a.conditions[i].handle, chosen == a.first + i ? 1 : 0);
  }
};

/// Counts rounds, and keeps a condition set while more rounds are left.
struct count_rounds {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 32;

  struct arguments {
    std::int64_t* count;
    std::int64_t before, added, rounds; ///< counts on from `before`, or from `*count` if `before` is negative
    graph_condition more;
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    if (block.thread() != 0) return;
    const std::int64_t now = (a.before >= 0 ? a.before : block.load(a.count)) + a.added;
    block.store(a.count, now);
    block.set_condition(a.more.handle, now < a.rounds ? 1 : 0);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
