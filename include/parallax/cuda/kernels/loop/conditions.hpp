// Kernels that decide, within a graph, which of its nodes run their bodies.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Sets conditions by a truth value that has been computed, or to what is known.
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
    const std::uint8_t* truth; ///< null where nobody asks
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

/// Sets the condition of the branch that a number names, and clears those of the others.
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

/// Counts rounds, and sets a condition as long as there are more.
struct count_rounds {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 32;

  struct arguments {
    std::int64_t* count;
    std::int64_t before, added, rounds; ///< counts from `before` on where that is not negative, else from what there is
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
