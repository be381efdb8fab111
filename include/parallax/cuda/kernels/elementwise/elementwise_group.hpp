// Independent elementwise loops in one launch: each has some of the blocks. Their operands are contiguous arrays and
// scalars, so that a loop is described by their addresses and the number of elements.
#pragma once

#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// One such loop as `evaluator` takes it: of one dimension.
template <int Operands, int Constants> struct flat_loop {
  static constexpr bool moves = false;
  static constexpr int rank = 1;
  loop_operand operands[std::size_t{Operands}];
  std::uint64_t constants[std::size_t{Constants > 0 ? Constants : 1}];
};

/// A group of loops of these kernels, any number of each.
template <class... Kernels> struct elementwise_group {
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;
  static constexpr int kernel_count = static_cast<int>(sizeof...(Kernels));
  static constexpr int operand_count = std::max({evaluator<Kernels>::operand_count...});
  static constexpr int constant_count = (0 + ... + evaluator<Kernels>::constant_count);

  struct member {
    std::byte* data[std::size_t{operand_count}];
    std::uint32_t count;       ///< of elements
    std::uint32_t vectors;     ///< of as many as the kernel takes together; the other elements are computed one by one
    std::uint32_t first_block; ///< of the launch
    std::int32_t kernel;
  };
  /// CUDA passes 4 KiB of arguments to kernels of any device and toolkit. The number of members is a power of two,
  /// since a block finds its member by bisection.
  static constexpr std::size_t argument_bytes = 4096;
  static constexpr std::size_t bytes_beside = 16 + 8 * index_of(constant_count);
  static constexpr int most_members = [] {
    int most = 1;
    while (most < 64 && bytes_beside + index_of(2 * most) * sizeof(member) <= argument_bytes) most *= 2;
    return most;
  }();

  struct arguments {
    std::int32_t count = 0; ///< of members
    std::uint64_t constants[std::size_t{constant_count > 0 ? constant_count : 1}] =
        {}; ///< one kernel's after another's
    member members[std::size_t{most_members}] = {};
  };
  static_assert(sizeof(arguments) <= argument_bytes);

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    int number = 0;
    PARALLAX_DEVICE_UNROLL
    for (int step = most_members / 2; step > 0; step /= 2)
      if (number + step < a.count && a.members[number + step].first_block <= block_of(block)) number += step;
    const member& own = a.members[number];
    const std::uint32_t end = number + 1 < a.count ? a.members[number + 1].first_block : blocks_of(block);
    run_as(block, a, own, end - own.first_block, std::make_integer_sequence<int, kernel_count>{});
  }

  /// Where a kernel's constants begin.
  static PARALLAX_HD constexpr int first_constant(int kernel) {
    constexpr int counts[] = {evaluator<Kernels>::constant_count...};
    int first = 0;
    for (int k = 0; k < kernel; ++k) first += counts[k];
    return first;
  }

 private:
  template <class Block, int... K>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_as(const Block& block, const arguments& a, const member& own,
                                                     std::uint32_t blocks, std::integer_sequence<int, K...>) {
    ((own.kernel == K ? run_member<Kernels, K>(block, a, own, blocks) : void()), ...);
  }
  template <class Kernel, int Number, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_member(const Block& block, const arguments& a, const member& own,
                                                         std::uint32_t blocks) {
    using evaluate = evaluator<Kernel>;
    flat_loop<evaluate::operand_count, evaluate::constant_count> l;
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < evaluate::operand_count; ++i) l.operands[i].data = own.data[i];
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < evaluate::constant_count; ++i) l.constants[i] = a.constants[first_constant(Number) + i];
    const std::uint32_t threads = threads_of(block), step = blocks * threads;
    const std::uint32_t first = (block_of(block) - own.first_block) * threads + thread_of(block);
    coordinates p;
    for (std::uint32_t i = first; i < own.vectors; i += step) {
      p.inner = static_cast<std::int32_t>(i) * evaluate::width;
      write<Kernel, evaluate::width>(block, l, p);
    }
    for (std::uint32_t i = own.vectors * std::uint32_t{evaluate::width} + first; i < own.count; i += step) {
      p.inner = static_cast<std::int32_t>(i);
      write<Kernel, 1>(block, l, p);
    }
  }
  template <class Kernel, int Width, class Block, class Loop>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const Loop& l, const coordinates& p) {
    using T = typename evaluator<Kernel>::value_type;
    const lanes<T, Width> results = evaluator<Kernel>::template run<Width>(block, l, p);
    vector_of<T, Width> vector;
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width; ++i) vector.values[i] = results.value[i];
    block.store(reinterpret_cast<vector_of<T, Width>*>(detail::address<T>(l, 0, p.inner)), vector);
  }
};

namespace detail {

/// Fills launches with loops, and launches them as they are full.
template <launch_api Api, class... Kernels> class group_launch {
 public:
  explicit group_launch(const launch_context<Api>& context) : where(context) {}

  /// Adds the loop that `a` describes, of kernel number `Number`. Returns the status of the launches that were made for
  /// it.
  template <class Kernel, int Number> status add(kernel_arguments& a) {
    using evaluate = evaluator<Kernel>;
    a.collapse();
    std::int64_t left = 1;
    for (int d = 0; d < a.rank; ++d) left *= a.extents[d];
    std::byte* data[std::size_t{evaluate::operand_count}];
    for (int i = 0; i < evaluate::operand_count; ++i) data[i] = a.operands[i].data;
    const bool is_scalar = a.rank == 0;
    while (left > 0) {
      status done = make_room<Kernel, Number>(a);
      if (!done.ok()) return done;
      const std::int64_t count = std::min(left, largest_part());
      const int width = is_scalar ? 0 : evaluate::vector_width(a);
      typename group::member& added = next.members[next.count++];
      std::copy(data, data + evaluate::operand_count, added.data);
      added.count = static_cast<std::uint32_t>(count);
      added.vectors = static_cast<std::uint32_t>(width > 0 ? count / width : 0);
      added.first_block = blocks;
      added.kernel = Number;
      blocks += block_count(std::max<std::int64_t>(added.vectors, count - added.vectors * std::int64_t{width}),
                            elementwise_threads, where);
      for (int i = 0; i < evaluate::operand_count; ++i) {
        const operand& o = a.operands[i];
        if (!is_scalar && o.strides[a.rank - 1] != 0) data[i] += count * o.element_bytes;
      }
      left -= count;
    }
    return {};
  }
  status finish() {
    if (next.count == 0) return {};
    const status done = Api::launch(group{}, launch_shape{blocks, elementwise_threads}, where.stream, next);
    next = {};
    blocks = 0;
    return done;
  }

 private:
  using group = elementwise_group<Kernels...>;
  const launch_context<Api>& where;
  typename group::arguments next;
  unsigned blocks = 0;
  bool is_used[sizeof...(Kernels)] = {}; ///< whether a kernel's constants are those of a member

  /// The elements of each part of a loop but the last: a multiple of 16, so that aligned operands stay aligned.
  std::int64_t largest_part() const { return std::max<std::int64_t>(where.largest / 16 * 16, 16); }

  /// Launches what is there if another member does not fit: a launch has one set of constants for each kernel.
  template <class Kernel, int Number> status make_room(const kernel_arguments& a) {
    constexpr int first = group::first_constant(Number);
    bool fits = next.count < group::most_members;
    for (int i = 0; i < evaluator<Kernel>::constant_count && is_used[Number]; ++i)
      fits = fits && next.constants[first + i] == a.constants[i].bits;
    status done{};
    if (!fits) {
      done = finish();
      std::fill(std::begin(is_used), std::end(is_used), false);
    }
    for (int i = 0; i < evaluator<Kernel>::constant_count; ++i) next.constants[first + i] = a.constants[i].bits;
    is_used[Number] = true;
    return done;
  }
};

} // namespace detail

/// Describes loop `number` of a group; the description is valid until the next one is asked for.
using group_part = function_ref<void(int, kernel_arguments&)>;

/// Launches loops; `kernels` gives the number of each one's kernel among `Kernels`.
template <launch_api Api, class... Kernels>
status launch_elementwise_group(plain_span<const int> kernels, group_part part, const launch_context<Api>& where) {
  detail::group_launch<Api, Kernels...> launch(where);
  status done{};
  for (std::size_t k = 0; k < kernels.size() && done.ok(); ++k) {
    kernel_arguments a;
    part(static_cast<int>(k), a);
    [&]<int... K>(std::integer_sequence<int, K...>) {
      ((kernels[k] == K ? void(done = launch.template add<Kernels, K>(a)) : void()), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Kernels))>{});
  }
  return done.ok() ? launch.finish() : done;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
