// Independent reductions in the launches of one: each has some of the blocks, and their second launches, if any, are
// one launch too.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise_group.hpp>
#include <parallax/cuda/kernels/reductions/reduce.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// One thread's view of those blocks of a launch that belong to one member.
template <class Block> struct part_of_launch {
  const Block& whole;
  std::int64_t first, count;

  PARALLAX_DEVICE PARALLAX_INLINE int thread() const { return whole.thread(); }
  PARALLAX_DEVICE PARALLAX_INLINE int threads() const { return whole.threads(); }
  PARALLAX_DEVICE PARALLAX_INLINE std::int64_t block() const { return whole.block() - first; }
  PARALLAX_DEVICE PARALLAX_INLINE std::int64_t blocks() const { return count; }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE T load(const T* from) const { return whole.load(from); }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE void store(T* to, const T& value) const { whole.store(to, value); }
  PARALLAX_DEVICE PARALLAX_INLINE std::byte* shared() const { return whole.shared(); }
  PARALLAX_DEVICE PARALLAX_INLINE void barrier() const { whole.barrier(); }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE T shuffle_down(const T& value, int distance) const {
    return whole.shuffle_down(value, distance);
  }
  template <class T> PARALLAX_DEVICE PARALLAX_INLINE T shuffle_xor(const T& value, int distance) const {
    return whole.shuffle_xor(value, distance);
  }
};

/// Launches of these kernels as one.
template <class... Kernels> struct joined_launches {
  static constexpr bool barriers = (Kernels::barriers || ...);
  static constexpr int max_threads = std::max({Kernels::max_threads...});
  static constexpr std::size_t largest = (std::max({sizeof(typename Kernels::arguments)...}) + 15) / 16 * 16;
  static constexpr int most_members = static_cast<int>(std::clamp<std::size_t>(4000 / largest, 1, 4));

  struct member {
    std::uint32_t first_block;
    std::int32_t kernel;
  };
  struct arguments {
    std::int32_t count = 0; ///< of members
    member members[std::size_t{most_members}] = {};
    alignas(16) std::byte given[std::size_t{most_members} * largest] = {}; ///< each kernel's arguments
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    int number = 0;
    while (number + 1 < a.count && a.members[number + 1].first_block <= block_of(block)) ++number;
    const member& own = a.members[number];
    const std::uint32_t end = number + 1 < a.count ? a.members[number + 1].first_block : blocks_of(block);
    const part_of_launch<Block> part{block, own.first_block, end - own.first_block};
    run_as(part, own.kernel, a.given + std::size_t{largest} * static_cast<unsigned>(number),
           std::make_integer_sequence<int, static_cast<int>(sizeof...(Kernels))>{});
  }

 private:
  template <class Block, int... K>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_as(const Block& block, int kernel, const std::byte* given,
                                                     std::integer_sequence<int, K...>) {
    ((kernel == K ? Kernels::run(block, *reinterpret_cast<const typename Kernels::arguments*>(given)) : void()), ...);
  }
};

namespace detail {

/// Different types, in the order in which they are first named.
template <class... T> struct kernel_list {
  template <class K> static constexpr int number_of() {
    constexpr bool is_same[] = {std::is_same_v<K, T>...};
    int number = 0;
    while (!is_same[number]) ++number;
    return number;
  }
  template <class K> using with = std::conditional_t<(std::is_same_v<K, T> || ...), kernel_list, kernel_list<T..., K>>;
  using joined = joined_launches<T...>;
};
template <class List, class... K> struct appended_kernels {
  using type = List;
};
template <class List, class K, class... Others> struct appended_kernels<List, K, Others...> {
  using type = typename appended_kernels<typename List::template with<K>, Others...>::type;
};
/// The kernels that reductions are launched as.
template <class List, class... Kernels> struct reduction_kernels {
  using type = List;
};
template <class List, class Kernel, class... Others> struct reduction_kernels<List, Kernel, Others...> {
  using combination = combine_pieces<typename Kernel::reduction, typename evaluator<Kernel>::value_type>;
  using own = typename appended_kernels<List, reduce_rows<Kernel>, reduce_columns<Kernel>, combination>::type;
  using type = typename reduction_kernels<own, Others...>::type;
};

/// A policy that keeps launches for later, with arguments for the kernels of a list.
template <class List> struct collecting_api {
  using joined = typename List::joined;
  static constexpr int most_launches = 4; ///< one after another; further ones are made at once
  struct kept_launch {
    int kernel = 0;
    launch_shape shape{};
    alignas(16) std::byte arguments[joined::largest] = {};
  };
  struct launch_list {
    int count = 0;
    kept_launch launches[std::size_t{most_launches}];
  };
  using stream = launch_list*;

  template <class K>
  static status launch(K, const launch_shape& shape, stream on, const typename K::arguments& arguments) {
    if (on->count < most_launches) {
      kept_launch& kept = on->launches[on->count];
      kept.kernel = List::template number_of<K>();
      kept.shape = shape;
      std::memcpy(kept.arguments, &arguments, sizeof arguments);
    }
    ++on->count;
    return {};
  }
};

/// Launches a few reductions, each of one kernel of `Kernels`.
template <launch_api Api, class... Kernels> class reduction_group_launch {
 public:
  explicit reduction_group_launch(const launch_context<Api>& context) : where(context) {}

  /// All members of `kernels` from `first` on, at most as many as a launch takes. Returns the first failing status.
  status run(plain_span<const int> kernels, group_part part, int first) {
    const int count = std::min(static_cast<int>(kernels.size()) - first, joined::most_members);
    status done{};
    const std::size_t scratch = where.scratch_bytes / 16 / index_of(count) * 16;
    for (int m = 0; m < count && done.ok(); ++m) {
      const launch_context<collecting> own{&members[m], where.properties,
                                           static_cast<std::byte*>(where.scratch) + scratch * index_of(m), scratch,
                                           where.largest};
      const int kernel = kernels[index_of(first + m)];
      members[m].count = 0;
      kernel_arguments a;
      part(first + m, a);
      done = launch_with(kernel, a, own);
      if (!done.ok() || members[m].count <= collecting::most_launches) continue;
      members[m].count = 0;
      a = {};
      part(first + m, a);
      done = launch_with(kernel, a, where);
    }
    for (int round = 0; round < collecting::most_launches && done.ok(); ++round) done = launch_round(round, count);
    return done;
  }
  static constexpr int most_members() { return joined::most_members; }

 private:
  using list = typename reduction_kernels<kernel_list<>, Kernels...>::type;
  using joined = typename list::joined;
  using collecting = collecting_api<list>;
  const launch_context<Api>& where;
  typename collecting::launch_list members[std::size_t{joined::most_members}];

  template <class Policy> static status launch_with(int kernel, kernel_arguments& a, const launch_context<Policy>& on) {
    status done{};
    a.collapse();
    [&]<int... K>(std::integer_sequence<int, K...>) {
      ((kernel == K ? void(done = reduction_launch<Policy, Kernels>(a, on).run(a)) : void()), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Kernels))>{});
    return done;
  }

  /// Makes launch number `round` of all members; launches with blocks of the same size become one.
  status launch_round(int round, int count) {
    bool is_done[std::size_t{joined::most_members}] = {};
    for (int m = 0; m < count; ++m) is_done[m] = members[m].count <= round;
    for (int m = 0; m < count; ++m) {
      if (is_done[m]) continue;
      typename joined::arguments all;
      launch_shape whole = members[m].launches[round].shape;
      whole.blocks = 0;
      for (int other = m; other < count; ++other) {
        const typename collecting::kept_launch& each = members[other].launches[round];
        if (is_done[other] || each.shape.threads != whole.threads) continue;
        is_done[other] = true;
        std::memcpy(all.given + joined::largest * index_of(all.count), each.arguments, joined::largest);
        all.members[all.count++] = {whole.blocks, each.kernel};
        whole.blocks += each.shape.blocks;
        whole.shared_bytes = std::max(whole.shared_bytes, each.shape.shared_bytes);
      }
      const status done = Api::launch(joined{}, whole, where.stream, all);
      if (!done.ok()) return done;
    }
    return {};
  }
};

} // namespace detail

/// Launches reductions; `kernels` gives the number of each one's kernel among `Kernels`. Each has its part of the
/// scratch memory, which limits the number of pieces of a result.
template <launch_api Api, class... Kernels>
status launch_reduction_group(plain_span<const int> kernels, group_part part, const launch_context<Api>& where) {
  detail::reduction_group_launch<Api, Kernels...> launch(where);
  for (int first = 0; first < static_cast<int>(kernels.size()); first += launch.most_members())
    if (const status done = launch.run(kernels, part, first); !done.ok()) return done;
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
