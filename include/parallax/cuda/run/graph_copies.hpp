// The first and last launches of a graph, which copy arguments and results that are not used in their own memory.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/backend.hpp>
#include <parallax/cuda/devices/graph_cache.hpp>
#include <parallax/cuda/kernels/copies/copy_pieces.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The address of an argument, on the host or on the device that reads it.
struct argument_source {
  const std::byte* data = nullptr;
  bool on_host = false;
};

namespace detail {

/// Adds pieces to launches, as many to each as fit.
template <device_api Api> struct launch_filler {
  std::vector<typename section_graph<Api>::update>& launches;
  std::uint32_t given = 0; ///< words of the last launch

  /// A piece of `bytes` bytes, with room for `words` words that come with the launch.
  copy_pieces::piece& add(std::size_t bytes, std::uint32_t words) {
    if (launches.empty() || launches.back().arguments.count == copy_pieces::most_pieces ||
        given + words > copy_pieces::most_given) {
      launches.emplace_back();
      given = 0;
    }
    copy_pieces::arguments& a = launches.back().arguments;
    copy_pieces::piece& added = a.pieces[a.count++];
    added = {nullptr, nullptr, static_cast<std::uint32_t>(bytes), given, a.tiles};
    a.tiles += copy_pieces::tiles_of(std::max<std::size_t>(bytes, words * std::size_t{copy_pieces::word_bytes}));
    given += words;
    return added;
  }
};

inline std::byte* given_words(copy_pieces::arguments& of) { return reinterpret_cast<std::byte*>(of.given); }

} // namespace detail

/// Captures the launches that copy arguments in, and the addresses of results.
template <device_api Api> void capture_copies_in(section_graph<Api>& g, device<Api>& on) {
  std::byte* const memory = address_of<Api>(g.memory);
  detail::launch_filler<Api> filler{g.updates};
  for (auto& a : g.arguments) {
    copy_pieces::piece& added = filler.add(a.bytes, a.may_be_given ? copy_pieces::words_of(a.bytes) : 0);
    added.from = added.to = memory + a.offset;
    a.update = g.updates.size() - 1;
    a.piece = g.updates.back().arguments.count - 1;
  }
  for (std::size_t first = 0; first < g.results.size(); first += copy_pieces::most_pieces) {
    const std::size_t count = std::min<std::size_t>(g.results.size() - first, copy_pieces::most_pieces);
    const std::uint32_t words = copy_pieces::words_of(count * sizeof(std::byte*));
    copy_pieces::piece& added = filler.add(words * std::size_t{copy_pieces::word_bytes}, words);
    added.to = memory + g.targets + first * sizeof(std::byte*);
    for (std::size_t i = 0; i < count; ++i) {
      g.results[first + i].update = g.updates.size() - 1;
      g.results[first + i].target = added.given * std::size_t{copy_pieces::word_bytes} + i * sizeof(std::byte*);
    }
  }
  on.activate();
  for (auto& each : g.updates) {
    each.shape = copy_pieces::shape(each.arguments, on.context());
    check(Api::launch(copy_pieces{}, each.shape, on.stream(), each.arguments), on.number);
    check(Api::last_captured(on.stream(), each.node), on.number);
  }
}

/// Captures the launches that copy results out, to the addresses that the launches of `capture_copies_in` get at each
/// call.
template <device_api Api> void capture_copies_out(const section_graph<Api>& g, device<Api>& on) {
  std::byte* const memory = address_of<Api>(g.memory);
  on.activate();
  for (std::size_t first = 0; first < g.results.size(); first += copy_pieces::most_pieces) {
    std::vector<typename section_graph<Api>::update> one;
    detail::launch_filler<Api> filler{one};
    for (std::size_t i = first; i < std::min(first + copy_pieces::most_pieces, g.results.size()); ++i)
      filler.add(g.results[i].bytes, 0).from = memory + g.results[i].offset;
    copy_pieces::arguments& a = one.front().arguments;
    a.targets = reinterpret_cast<std::byte* const*>(memory + g.targets) + first;
    check(Api::launch(copy_pieces{}, copy_pieces::shape(a, on.context()), on.stream(), a), on.number);
  }
}

/// Sets, for the next launch of a graph, the addresses of the arguments that it copies, by value, and of its results,
/// by output. Uploads larger arguments of the host.
template <device_api Api>
void update_copies(section_graph<Api>& g, device<Api>& on, backend<Api>& owner,
                   plain_span<const argument_source> sources, plain_span<const buffer> outputs) {
  for (const auto& a : g.arguments) {
    copy_pieces::arguments& in = g.updates[a.update].arguments;
    copy_pieces::piece& copied = in.pieces[a.piece];
    const argument_source& source = sources[a.value];
    if (!source.on_host) {
      copied.from = source.data;
      copied.bytes = static_cast<std::uint32_t>(a.bytes);
      continue;
    }
    if (a.may_be_given) {
      copied.from = nullptr;
      copied.bytes = copy_pieces::words_of(a.bytes) * copy_pieces::word_bytes;
      std::memcpy(detail::given_words(in) + copied.given * std::size_t{copy_pieces::word_bytes}, source.data, a.bytes);
    } else {
      copied.bytes = 0;
      on.activate();
      on.host_copies.to_device(copied.to, source.data, a.bytes, owner.threads, owner.waiting());
    }
    count_host_to_device(a.bytes);
  }
  for (const auto& r : g.results) {
    const std::byte* const target = address_of<Api>(outputs[r.output]);
    std::memcpy(detail::given_words(g.updates[r.update].arguments) + r.target, &target, sizeof target);
  }
  on.activate();
  for (const auto& each : g.updates)
    check(Api::update_launch(g.graph->get(), each.node, copy_pieces{}, each.shape, each.arguments), on.number);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
