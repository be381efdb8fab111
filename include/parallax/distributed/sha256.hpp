// Digests under a key: HMAC with SHA-256, by which processes prove that they know a secret without sending it.
#pragma once

#include <parallax/core/version.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail {

using digest = std::array<std::uint8_t, 32>;

/// SHA-256 of the added bytes, by FIPS 180-4.
class sha256 {
 public:
  constexpr sha256& add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
    return *this;
  }
  constexpr sha256& add(const digest& bytes) {
    for (const std::uint8_t each : bytes) add_byte(each);
    return *this;
  }
  constexpr digest end() {
    const std::uint64_t bits = 8 * count;
    add_byte(0x80);
    while (count % 64 != 56) add_byte(0);
    for (int shift = 56; shift >= 0; shift -= 8) add_byte(static_cast<std::uint8_t>(bits >> shift));
    digest result{};
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return result;
  }

 private:
  static constexpr std::array<std::uint32_t, 64> round_constants{
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block{};
  std::uint64_t count = 0; ///< of bytes

  constexpr void add_byte(std::uint8_t byte) {
    block[count++ % 64] = byte;
    if (count % 64 == 0) mix();
  }
  constexpr void mix() {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < block.size(); ++i) words[i / 4] |= std::uint32_t{block[i]} << (24 - 8 * (i % 4));
    for (std::size_t i = 16; i < words.size(); ++i) {
      const std::uint32_t a = words[i - 15], b = words[i - 2];
      words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
                 (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                round_constants[i] + words[i];
      const std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
  }
};

/// HMAC of RFC 2104.
constexpr digest keyed_digest(std::string_view key, std::string_view text) {
  std::array<char, 64> inner{}, outer{};
  if (key.size() <= inner.size()) {
    std::copy(key.begin(), key.end(), inner.begin());
  } else {
    const digest shorter = sha256().add(key).end();
    for (std::size_t i = 0; i < shorter.size(); ++i) inner[i] = static_cast<char>(shorter[i]);
  }
  outer = inner;
  for (char& each : inner) each = static_cast<char>(each ^ 0x36);
  for (char& each : outer) each = static_cast<char>(each ^ 0x5c);
  const std::string_view first(inner.data(), inner.size()), second(outer.data(), outer.size());
  return sha256().add(second).add(sha256().add(first).add(text).end()).end();
}

/// Whether two digests are equal. The time that it takes does not depend on where they differ.
constexpr bool are_equal_in_secret(const digest& a, const digest& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail
