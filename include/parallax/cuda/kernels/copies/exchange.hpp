// Collectives between devices that can read each other's memory, or that are one: a kernel combines the operands of all
// members into one member's result. Each element is combined in pairs of members, then pairs of pairs, as the host
// does, so that all get the same bits.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/math/scalar_math.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The members of a group whose operands one launch can combine.
inline constexpr int most_members = 64;

/// result[o][i] = combine over members m of operand_m[o][position][i], with operands [outer][group][inner].
/// An all-reduce has outer = group = 1; in a reduce-scatter each member computes its own position.
struct combined_slices {
  std::int64_t outer = 1, group = 1, inner = 0, position = 0;
};

template <class T> struct combine_members {
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;
  /// For 16 bits, 8 values of each member that waits would not fit the registers.
  static constexpr int width = sizeof(T) == 2 ? 4 : 16 / static_cast<int>(sizeof(T));

  struct arguments {
    const T* operands[most_members];
    T* result;
    int members;
    reduction_kind how;
    std::int64_t vectors, singles; ///< vectors, and elements behind them, of each of the `outer` rows
    combined_slices slices;
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    run_pieces<width>(block, a, a.vectors, 0);
    run_pieces<1>(block, a, a.singles, a.vectors * width);
  }

 private:
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_pieces(const Block& block, const arguments& a, std::int64_t per_row,
                                                         std::int64_t start) {
    const std::int64_t count = a.slices.outer * per_row;
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < count;
         i += block.blocks() * block.threads()) {
      const std::int64_t row = a.slices.outer > 1 ? i / per_row : 0, inner = start + (i - row * per_row) * Width;
      const std::int64_t from = (row * a.slices.group + a.slices.position) * a.slices.inner + inner;
      vector_of<T, Width> whole[levels]; // of 1, 2, 4, ... members that wait for as many more
      for (int m = 0; m < a.members; ++m)
        add(a.how, whole, m, block.load(reinterpret_cast<const vector_of<T, Width>*>(a.operands[m] + from)));
      block.store(reinterpret_cast<vector_of<T, Width>*>(a.result + row * a.slices.inner + inner),
                  total(a.how, whole, a.members));
    }
  }
  static constexpr int levels = 7; // of up to 64 members

  /// Adds member `m`. Level k holds the combination of 2^k members that waits for as many more, if bit k of `m` is 1.
  template <int Width>
  static PARALLAX_DEVICE PARALLAX_INLINE void add(reduction_kind how, vector_of<T, Width> (&whole)[levels], int m,
                                                  vector_of<T, Width> value) {
    bool is_placed = false;
    PARALLAX_DEVICE_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (is_placed) continue;
      if ((m >> level & 1) != 0) value = combine(how, whole[level], value);
      else whole[level] = value, is_placed = true;
    }
  }
  /// The combination of all levels that wait, those with the fewest members first.
  template <int Width>
  static PARALLAX_DEVICE PARALLAX_INLINE vector_of<T, Width>
  total(reduction_kind how, const vector_of<T, Width> (&whole)[levels], int members) {
    vector_of<T, Width> value{};
    bool is_first = true;
    PARALLAX_DEVICE_UNROLL
    for (int level = 0; level < levels; ++level) {
      if ((members >> level & 1) == 0) continue;
      value = is_first ? whole[level] : combine(how, whole[level], value);
      is_first = false;
    }
    return value;
  }
  template <int Width>
  static PARALLAX_DEVICE PARALLAX_INLINE vector_of<T, Width> combine(reduction_kind how, const vector_of<T, Width>& x,
                                                                     const vector_of<T, Width>& y) {
    vector_of<T, Width> result;
    PARALLAX_DEVICE_UNROLL
    for (int k = 0; k < Width; ++k) result.values[k] = combine(how, x.values[k], y.values[k]);
    return result;
  }
  static PARALLAX_DEVICE PARALLAX_INLINE T combine(reduction_kind how, T x, T y) {
    switch (how) {
    case reduction_kind::sum: return math::add(x, y);
    case reduction_kind::max: return math::max(x, y);
    case reduction_kind::min: return math::min(x, y);
    }
    return x;
  }
};

namespace detail {

template <launch_api Api, class T>
status launch_combine_of(const launch_context<Api>& where, reduction_kind how, plain_span<const void* const> operands,
                         void* result, const combined_slices& slices) {
  using kernel_type = combine_members<T>;
  constexpr std::int64_t width = kernel_type::width;
  typename kernel_type::arguments a{};
  auto is_aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  bool aligned = is_aligned(result) && (slices.outer == 1 || slices.inner % width == 0);
  for (std::size_t m = 0; m < operands.size(); ++m) {
    a.operands[m] = static_cast<const T*>(operands[m]);
    aligned = aligned && is_aligned(a.operands[m] + slices.position * slices.inner);
  }
  a.result = static_cast<T*>(result);
  a.members = count_of(operands);
  a.how = how;
  a.vectors = aligned ? slices.inner / width : 0;
  a.singles = slices.inner - a.vectors * width;
  a.slices = slices;
  launch_shape shape{block_count(slices.outer * std::max(a.vectors, a.singles), elementwise_threads, where),
                     elementwise_threads};
  return Api::launch(kernel_type{}, shape, where.stream, a);
}

} // namespace detail

/// Launches the combination of one operand of each member, 1 to `most_members`, into `result`, which is none of the
/// operands; launches nothing if `result` has no elements. Of truth values, the sum and the largest are "or", the
/// smallest is "and".
template <launch_api Api>
status launch_combine(const launch_context<Api>& where, reduction_kind how, element_type type,
                      plain_span<const void* const> operands, void* result, const combined_slices& slices) {
  if (operands.empty() || operands.size() > std::size_t{most_members})
    return {status::kind::failure, count_of(operands), "parallax", "launch_combine", "a group has 1 to 64 members"};
  if (slices.outer == 0 || slices.inner == 0) return {};
  auto launch = [&]<class T>(T) { return detail::launch_combine_of<Api, T>(where, how, operands, result, slices); };
  switch (type) {
  case element_type::boolean: // bytes of 0 and 1
    if (how == reduction_kind::sum) how = reduction_kind::max;
    return launch(std::uint8_t{});
  case element_type::uint8: return launch(std::uint8_t{});
  case element_type::int32: return launch(std::int32_t{});
  case element_type::uint32: return launch(std::uint32_t{});
  case element_type::int64: return launch(std::int64_t{});
  case element_type::uint64: return launch(std::uint64_t{});
  case element_type::float16: return launch(float16{});
  case element_type::bfloat16: return launch(bfloat16{});
  case element_type::float32: return launch(float{});
  case element_type::float64: return launch(double{});
  }
  return {status::kind::failure, static_cast<int>(type), "parallax", "launch_combine", "no such element type"};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
