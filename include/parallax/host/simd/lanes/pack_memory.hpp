// Moving packs from and to memory, whole or in part, contiguous or strided.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_float16.hpp>
#include <parallax/host/simd/lanes/pack_partial.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

using byte_vector = vector<std::uint8_t, lanes>;

/// The pack of bytes that were read from memory, and back: booleans are bytes of 0 or 1 there.
template <class T> PARALLAX_INLINE pack<T> from_bytes(byte_vector bytes) {
  pack<T> result;
  // in two steps, each of which g++ knows as one instruction
  auto words = __builtin_convertvector(bytes, vector<std::int16_t, lanes>);
  auto wide = __builtin_convertvector(words, vector<std::int32_t, lanes>);
  if constexpr (std::is_same_v<T, bool>) wide = -wide;
  result.template set_part<0>(typename pack<T>::part_type(wide));
  return result;
}

template <class T> PARALLAX_INLINE byte_vector to_bytes(const pack<T>& x) {
  auto wide = x.template part<0>();
  if constexpr (std::is_same_v<T, bool>) wide = -wide;
  return __builtin_convertvector(wide, byte_vector);
}

} // namespace detail

/// The `lanes` elements from `source` on.
template <element T> PARALLAX_INLINE pack<T> load(const T* source) {
  if constexpr (sizeof(T) == 1) {
    detail::byte_vector bytes;
    __builtin_memcpy(&bytes, source, sizeof bytes);
    return detail::from_bytes<T>(bytes);
  } else if constexpr (sizeof(T) == 2) {
    detail::half_vector halves;
    __builtin_memcpy(&halves, source, sizeof halves);
    return detail::from_halves<T>(halves);
  } else {
    using pack_type = pack<T>;
    pack_type result;
    typename pack_type::part_type part;
    __builtin_memcpy(&part, source, sizeof part);
    result.template set_part<0>(part);
    if constexpr (pack_type::parts == 2) {
      __builtin_memcpy(&part, source + pack_type::part_lanes, sizeof part);
      result.template set_part<1>(part);
    }
    return result;
  }
}

/// The `count` <= lanes elements from `source` on, and no others; the other lanes hold 0.
template <element T> PARALLAX_INLINE pack<T> load(const T* source, int count) {
  if constexpr (detail::has_masked_moves && sizeof(T) >= 4) {
    using pack_type = pack<T>;
    pack_type result;
    result.template set_part<0>(detail::masked_load<pack_type, 0>(source, count));
    if constexpr (pack_type::parts == 2)
      result.template set_part<1>(detail::masked_load<pack_type, pack_type::part_lanes>(source, count));
    return result;
  } else {
    if (count >= lanes) return load(source);
    alignas(register_bytes) T buffer[lanes] = {};
    detail::copy_pieces<lanes / 2>(buffer, source, count);
    return load(buffer);
  }
}

namespace detail {
template <class Pack, int First, class F, int... I>
PARALLAX_INLINE typename Pack::part_type part_of(const F& element_of, std::integer_sequence<int, I...>) {
  return typename Pack::part_type{element_of(First + I)...};
}
} // namespace detail

/// The elements `element_of(i)` of all lanes i. Elements of 4 and 8 bytes stay in registers: a read of memory that was
/// written element by element waits for the last write.
template <element T, class F> PARALLAX_INLINE pack<T> pack_of(const F& element_of) {
  if constexpr (sizeof(T) >= 4) {
    using pack_type = pack<T>;
    constexpr std::make_integer_sequence<int, pack_type::part_lanes> each{};
    pack_type result;
    result.template set_part<0>(detail::part_of<pack_type, 0>(element_of, each));
    if constexpr (pack_type::parts == 2)
      result.template set_part<1>(detail::part_of<pack_type, pack_type::part_lanes>(element_of, each));
    return result;
  } else {
    alignas(register_bytes) T buffer[lanes];
    PARALLAX_UNROLL(16)
    for (int i = 0; i < lanes; ++i) buffer[i] = element_of(i);
    return load(buffer);
  }
}

/// The elements `element_of(i)` of the lanes i < count <= lanes, and no others; the other lanes hold 0.
template <element T, class F> PARALLAX_INLINE pack<T> pack_of(const F& element_of, int count) {
  alignas(register_bytes) T buffer[lanes] = {};
  for (int i = 0; i < count; ++i) buffer[i] = element_of(i);
  return load(buffer);
}

/// The elements at source[i * stride].
template <element T> PARALLAX_INLINE pack<T> load_strided(const T* source, std::ptrdiff_t stride) {
  return pack_of<T>([&](int i) { return source[i * stride]; });
}

/// The elements at source[i * stride] for i < count <= lanes, and no others; the other lanes hold 0.
template <element T> PARALLAX_INLINE pack<T> load_strided(const T* source, std::ptrdiff_t stride, int count) {
  return pack_of<T>([&](int i) { return source[i * stride]; }, count);
}

/// Writes all lanes to `target` on.
template <element T> PARALLAX_INLINE void store(T* target, const pack<T>& x) {
  if constexpr (sizeof(T) == 1) {
    detail::byte_vector bytes = detail::to_bytes(x);
    __builtin_memcpy(target, &bytes, sizeof bytes);
  } else if constexpr (sizeof(T) == 2) {
    detail::half_vector halves = detail::to_halves(x);
    __builtin_memcpy(static_cast<void*>(target), &halves, sizeof halves);
  } else {
    auto part = x.template part<0>();
    __builtin_memcpy(target, &part, sizeof part);
    if constexpr (pack<T>::parts == 2) {
      part = x.template part<1>();
      __builtin_memcpy(target + pack<T>::part_lanes, &part, sizeof part);
    }
  }
}

namespace detail {
/// Writes a register to an aligned address, past the caches if the machine can.
template <class Register> PARALLAX_INLINE void store_register_past_caches(void* target, Register value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, static_cast<Register*>(target));
#else
  [[maybe_unused]] vector<long long, register_bytes / 8> bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
#if defined(__AVX512F__)
  __builtin_ia32_movntdq512(static_cast<decltype(bits)*>(target), bits);
#elif defined(__AVX__)
  __builtin_ia32_movntdq256(static_cast<decltype(bits)*>(target), bits);
#elif defined(__SSE2__)
  __builtin_ia32_movntdq(static_cast<decltype(bits)*>(target), bits);
#else
  __builtin_memcpy(target, &value, sizeof value);
#endif
#endif
}
} // namespace detail

/// Whether elements of this type can be written past the caches.
template <element T> inline constexpr bool has_stores_past_caches = sizeof(T) >= 4;

/// Whether an address is one that a register can be written to past the caches.
PARALLAX_INLINE bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % register_bytes == 0;
}
/// Writes all lanes to `target` on, which is aligned as a register, past the caches. If more is written than the caches
/// hold, its beginning would leave them before anybody reads it; and a line that is written whole need not be read
/// first.
template <element T> PARALLAX_INLINE void store_past_caches(T* target, const pack<T>& x) {
  static_assert(has_stores_past_caches<T>);
  detail::store_register_past_caches(target, x.template part<0>());
  if constexpr (pack<T>::parts == 2)
    detail::store_register_past_caches(target + pack<T>::part_lanes, x.template part<1>());
}
/// Copies bytes past the caches.
inline void copy_past_caches(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t size = register_bytes;
  const std::size_t before = (size - reinterpret_cast<std::uintptr_t>(target) % size) % size;
  if (bytes > before) {
    __builtin_memcpy(target, source, before);
    target += before, source += before, bytes -= before;
    for (; bytes >= size; target += size, source += size, bytes -= size) {
      detail::vector<std::int64_t, register_bytes / 8> whole;
      __builtin_memcpy(&whole, source, size);
      detail::store_register_past_caches(target, whole);
    }
  }
  __builtin_memcpy(target, source, bytes);
}
/// Makes stores past the caches visible to other threads before all later stores of this one.
PARALLAX_INLINE void finish_stores_past_caches() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

/// Writes the first `count` <= lanes lanes.
template <element T> PARALLAX_INLINE void store(T* target, const pack<T>& x, int count) {
  if constexpr (detail::has_masked_moves && sizeof(T) >= 4) {
    using pack_type = pack<T>;
    detail::masked_store<pack_type, 0>(target, x.template part<0>(), count);
    if constexpr (pack_type::parts == 2)
      detail::masked_store<pack_type, pack_type::part_lanes>(target, x.template part<1>(), count);
  } else {
    if (count >= lanes) return store(target, x);
    alignas(register_bytes) T buffer[lanes];
    store(buffer, x);
    detail::copy_pieces<lanes / 2>(target, buffer, count);
  }
}

/// Writes lane i to target[i * stride] for i < count <= lanes.
template <element T> PARALLAX_INLINE void store_strided(T* target, std::ptrdiff_t stride, const pack<T>& x, int count) {
  alignas(register_bytes) T buffer[lanes];
  store(buffer, x);
  for (int i = 0; i < count; ++i) target[i * stride] = buffer[i];
}

/// Writes lane i to target[i * stride].
template <element T> PARALLAX_INLINE void store_strided(T* target, std::ptrdiff_t stride, const pack<T>& x) {
  store_strided(target, stride, x, lanes);
}

/// The lanes of a pack that are moved: all of them, the first `count`, or either, as `count` says at run time: code
/// that is compiled once for both.
enum class moved_lanes { all, first, either };

template <moved_lanes Moved, element T> PARALLAX_INLINE pack<T> load(const T* source, int count) {
  if constexpr (Moved == moved_lanes::all) return load(source);
  else if constexpr (Moved == moved_lanes::first || detail::masked_moves_are_cheap) return load(source, count);
  else return count == lanes ? load(source) : load(source, count);
}
template <moved_lanes Moved, element T, class F> PARALLAX_INLINE pack<T> pack_of(const F& element_of, int count) {
  if constexpr (Moved == moved_lanes::all) return pack_of<T>(element_of);
  else if constexpr (Moved == moved_lanes::first) return pack_of<T>(element_of, count);
  else return count == lanes ? pack_of<T>(element_of) : pack_of<T>(element_of, count);
}
template <moved_lanes Moved, element T>
PARALLAX_INLINE pack<T> load_strided(const T* source, std::ptrdiff_t stride, int count) {
  return pack_of<Moved, T>([&](int i) { return source[i * stride]; }, count);
}
template <moved_lanes Moved, element T>
PARALLAX_INLINE void store_strided(T* target, std::ptrdiff_t stride, const pack<T>& x, int count) {
  store_strided(target, stride, x, Moved == moved_lanes::all ? lanes : count);
}
template <moved_lanes Moved, element T> PARALLAX_INLINE void store(T* target, const pack<T>& x, int count) {
  if constexpr (Moved == moved_lanes::all) store(target, x);
  else if constexpr (Moved == moved_lanes::first || detail::masked_moves_are_cheap) store(target, x, count);
  else if (count == lanes) store(target, x);
  else store(target, x, count);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
