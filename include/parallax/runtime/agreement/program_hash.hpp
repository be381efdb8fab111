// A program as one number of 128 bits: what processes compare before they run it together.
#pragma once

#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Programs of equal hashes are taken for the same: two different ones have equal hashes with a chance of 2^-128.
struct program_hash {
  std::uint64_t high = 0x6a09e667f3bcc908, low = 0xbb67ae8584caa73b;

  constexpr void add(std::uint64_t word) {
    high = mix(high, word);
    low = mix(low, word ^ 0x9e3779b97f4a7c15);
  }
  constexpr void add(std::string_view text) {
    for (char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    add(text.size());
  }
  constexpr void operator()(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  friend bool operator==(const program_hash&, const program_hash&) = default;

  /// The hash of all records of a program. It is a template for clang++, which would not find the functions below
  /// otherwise.
  template <class Plan> static constexpr program_hash of(const Plan& plan) {
    program_hash hash;
    hash.add_pools(plan, compiled::record_types{});
    return hash;
  }

 private:
  template <class... T> constexpr void add_pools(const compiled::plan_view& plan, compiled::type_list<T...>) {
    (add_pool(plan.all<T>()), ...);
  }
  template <class T> constexpr void add_pool(plain_span<const T> pool) {
    add(pool.size());
    word_writer<program_hash> writer(*this);
    for (const T& item : pool) writer(item);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
