// Gathers bytes of each process on all processes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/processes/bytes.hpp>
#include <parallax/processes/mail.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// The subject of a gathering, which its messages name.
enum class gathering : std::uint64_t {
  handshake = 0x100,
  device_counts,
  barrier,
  trees,
  one_tree,
  clique,
  visible_devices,
  call
};

/// By process: its bytes. All processes get all of them; lengths may differ.
inline std::vector<std::vector<std::byte>> gather_bytes(world& all, gathering kind, std::string_view what,
                                                        const std::vector<std::byte>& own) {
  constexpr int tag = message_tag::outside;
  occasion which{what, tag, all.next_exchange(tag), static_cast<std::uint64_t>(kind)};
  const auto count = static_cast<std::size_t>(all.count());
  std::vector<const std::byte*> coming(count);
  const auto for_others = [&](auto f) {
    for (int other = 0; other < all.count(); ++other)
      if (other != all.index()) f(other, static_cast<std::size_t>(other));
  };
  // Short contents take one message each way, long ones a second one.
  constexpr std::size_t short_bytes = 1000;
  mail first(all, which);
  for_others([&](int other, std::size_t number) {
    std::byte* to = first.to(other, sizeof(std::size_t) + short_bytes);
    const std::size_t size = own.size();
    std::memcpy(to, &size, sizeof size);
    std::memset(to + sizeof size, 0, short_bytes);
    if (size > 0 && size <= short_bytes) std::memcpy(to + sizeof size, own.data(), size);
    coming[number] = first.from(other, sizeof(std::size_t) + short_bytes);
  });
  first.deliver();
  std::vector<std::vector<std::byte>> result(count);
  result[static_cast<std::size_t>(all.index())] = own;
  which.step = 1;
  mail second(all, which);
  if (own.size() > short_bytes)
    for_others([&](int other, std::size_t) { std::memcpy(second.to(other, own.size()), own.data(), own.size()); });
  for_others([&](int other, std::size_t number) {
    std::size_t size = 0;
    std::memcpy(&size, coming[number], sizeof size);
    const std::byte* content = coming[number] + sizeof size;
    if (size <= short_bytes) result[number].assign(content, content + size);
    else coming[number] = second.from(other, size), result[number].resize(size);
  });
  second.deliver();
  for_others([&](int, std::size_t number) {
    if (result[number].size() > short_bytes) std::memcpy(result[number].data(), coming[number], result[number].size());
  });
  return result;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
