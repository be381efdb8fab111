// Memory that a caller gives for results.
#pragma once

#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/checked_sizes.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// For the elements of one result: on the host, or on a device.
struct result_memory {
  std::byte* first = nullptr;
  buffer on_device;                  ///< the same memory if it is not on the host
  std::optional<std::int64_t> count; ///< of elements; none if only the caller knows that there is room
};

/// The destinations of a call's results: memory that the caller lends for each, memory of donated arguments, or memory
/// that the call takes.
class given_memory {
 public:
  constexpr given_memory() = default;
  template <std::size_t N> constexpr given_memory(const std::array<result_memory, N>& by_result) : memory(by_result) {}
  /// `donors`: by result, the number of the argument whose memory it may take if that is given away; -1 for none.
  /// `begun` becomes true before such memory is changed.
  constexpr given_memory(plain_span<const int> donors, bool& begun) : arguments(donors), is_begun(&begun) {}

  /// Whether there is no memory of the caller's.
  constexpr bool empty() const { return memory.empty(); }
  constexpr std::size_t size() const { return memory.size(); }
  constexpr const result_memory& operator[](std::size_t result) const { return memory[result]; }
  constexpr const result_memory* begin() const { return memory.begin(); }
  constexpr const result_memory* end() const { return memory.end(); }

  /// The argument whose memory a result may take; -1 for none.
  constexpr int donor_of(std::size_t result) const { return arguments.empty() ? -1 : arguments[result]; }
  void begin_to_take() const {
    if (is_begun != nullptr) *is_begun = true;
  }

 private:
  plain_span<const result_memory> memory;
  plain_span<const int> arguments;
  bool* is_begun = nullptr;
};

struct byte_range {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;

  bool meets(const byte_range& other) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(first),
               other_begin = reinterpret_cast<std::uintptr_t>(other.first);
    return bytes > 0 && other.bytes > 0 && begin < other_begin + other.bytes && other_begin < begin + bytes;
  }
};

/// Checks memory before it is written. `address_of` gives where argument `number` begins; null for one in pieces.
/// Throws `shape_error` if memory has another size than its result, or overlaps an argument or another result.
template <class Extents, class Address>
void check_given(given_memory given, const plan_view& plan, const Extents& extents, const Address& address_of) {
  const section_record& main = plan.section(section_id::main);
  scratch_array<byte_range, 16> arguments(index_of(main.argument_count)), results(plan[main.outputs].size());
  for (byte_range& each : arguments) each = {};
  for (const buffer_record& buffer : plan[main.buffers])
    if (buffer.kind == buffer_kind::bound && buffer.number < main.argument_count)
      if (const std::byte* const first = address_of(index_of(buffer.number)))
        arguments[index_of(buffer.number)] = {first, checked_bytes(extents[buffer.count], buffer.type)};
  std::size_t k = 0;
  for (const output_record& output : plan[main.outputs]) {
    std::int64_t count = 1;
    for (const dim extent : plan[output.described.shape]) count *= extents[extent];
    auto refuse = [k](const std::string& reason) {
      throw shape_error("into: the memory of result " + std::to_string(k) + reason);
    };
    if (given[k].count && *given[k].count != count)
      refuse(" has " + std::to_string(*given[k].count) + " elements, and the result " + std::to_string(count));
    if (count > 0 && given[k].first == nullptr && given[k].on_device.is_null())
      refuse(" is a null pointer, and the result has " + std::to_string(count) + " elements");
    const byte_range own{given[k].first, checked_bytes(count, output.described.type)};
    if (plain::any_of(plain_span<const byte_range>(arguments.data(), arguments.size()),
                      [&](const byte_range& argument) { return own.meets(argument); }))
      refuse(" overlaps an argument, which is read while results are written");
    for (std::size_t other = 0; other < k; ++other)
      if (own.meets(results[other])) refuse(" overlaps that of result " + std::to_string(other));
    results[k++] = own;
  }
}

/// Throws `error` for memory on a device.
inline void check_on_host(given_memory given) {
  for (const result_memory& each : given)
    if (!each.on_device.is_null())
      throw error("into: this memory lies on a device, and the program runs on the host: choose backend::cuda for it");
}

/// Copies results to the host's memory that was lent for them, unless they are there already.
inline void place_results(recycled_vector<runtime_value>&& results, given_memory given) {
  for (std::size_t k = 0; k < given.size(); ++k) {
    runtime_value& result = results[k];
    std::byte* const to = given[k].first;
    if (!given[k].on_device.is_null() || result.bytes() == 0) continue;
    if (!result.on_host) {
      copy_pieces_in(to, result.shape, size_of(result.type), result.axes, result.pieces, 0, 0);
      count_read(result.pieces[0], result.bytes());
    } else if (device_memory* const device = result.host.on_device()) {
      device->copy_to_host(to, result.bytes());
      count_device_to_host(result.bytes());
    }
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
