// The sections of programs that a device has run, and the graphs that were captured of them.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/address_history.hpp>
#include <parallax/cuda/devices/handles.hpp>
#include <parallax/cuda/kernels/copies/copy_pieces.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A graph that is destroyed with this.
template <device_api Api> class unique_graph {
 public:
  explicit unique_graph(typename Api::graph captured) : handle(captured) {}
  void instantiate(int device) { check(Api::instantiate(handle), device); }
  unique_graph(const unique_graph&) = delete;
  unique_graph& operator=(const unique_graph&) = delete;
  ~unique_graph() { kept_failure::keep(Api::destroy_graph(handle)); }
  typename Api::graph get() const { return handle; }

 private:
  typename Api::graph handle;
};

/// A section of a program at these extents, at a position of its mesh.
struct section_key {
  const plan_view* plan;
  section_id section;
  int position;
  plain_span<const std::int64_t> extents;
  bool is_shared = false; ///< other processes run it too
};

/// The exchanges with other processes in a graph.
struct captured_exchanges {
  std::string_view first; ///< its name
  unsigned axes = 0;      ///< of any
  std::size_t bytes = 0;  ///< of all
  int count = 0;

  void add(std::string_view name, unsigned over, std::size_t more) {
    if (count++ == 0) first = name;
    axes |= over;
    bytes += more;
  }
};

/// A graph of a section on one device. Its steps work in memory of its own, with intermediate values and with copies of
/// arguments and results that are not used in their own memory. Its first launches copy arguments in; only they are
/// updated at a call. Its last launches copy results to the addresses that the first ones got.
template <device_api Api> struct section_graph {
  explicit section_graph(plain_span<const std::byte* const> of) : addresses(of.begin(), of.end()) {}

  std::vector<const std::byte*> addresses; ///< addresses of values, then of outputs; null if the graph copies

  /// Launches that are updated at each call.
  struct update {
    copy_pieces::arguments arguments{};
    launch_shape shape{};
    typename Api::graph_node node{};
  };
  /// A value that the section reads, and the piece that copies it: small ones may come with the launch.
  struct argument {
    buffer_id buffer; ///< of the section
    std::size_t value, bytes;
    std::size_t offset; ///< of the copy, in the graph's memory
    std::size_t update;
    int piece;
    bool may_be_given;
  };
  /// An output, and the position of its address among the words of a launch.
  struct result {
    buffer_id buffer; ///< of the section
    std::size_t output, bytes;
    std::size_t offset; ///< of the original, in the graph's memory
    std::size_t update, target;
  };
  /// A value or output that is used in its own memory.
  struct in_place {
    buffer_id buffer;   ///< of the section
    std::size_t number; ///< among the addresses
  };
  std::vector<argument> arguments;
  std::vector<result> results;
  std::vector<in_place> places;
  std::vector<std::size_t> slot_offsets;
  std::size_t targets = 0, slots = 0; ///< where the addresses of results and the slots begin in the memory
  std::size_t matrices = 0;           ///< where the addresses of batched products' matrices begin
  std::size_t bodies = 0;             ///< where the slots of loops' bodies begin
  int depth_of_bodies = 0;            ///< nodes that are decided by conditions, one inside the other
  std::size_t memory_bytes = 0;
  bool is_worthwhile = false; ///< it copies little enough

  std::vector<update> updates;
  captured_exchanges exchanges;
  buffer memory;
  std::optional<unique_graph<Api>> graph;
};

/// A section on one device: the findings of its first call, and its graphs, the last used one first.
template <device_api Api> struct known_section {
  static constexpr std::size_t most_graphs = 8;

  explicit known_section(const section_key& of)
      : plan(of.plan),
        section(of.section),
        position(of.position),
        is_shared(of.is_shared),
        extents(of.extents.begin(), of.extents.end()) {}
  bool is_of(const section_key& key) const {
    return plan == key.plan && section == key.section && position == key.position && is_shared == key.is_shared &&
           plain::equal(extents, key.extents);
  }

  const plan_view* plan;
  section_id section;
  int position;
  bool is_shared;
  std::vector<std::int64_t> extents;

  /// After the first call: whether graphs can serve the others.
  enum class suitability : unsigned char { unknown, suitable, unsuitable };
  suitability is = suitability::unknown;
  std::vector<bool> used; ///< buffers of the section that are read or written
  address_history history;
  std::vector<std::unique_ptr<section_graph<Api>>> graphs;
  std::uint64_t calls = 0, graphs_made = 0;
  bool has_had_copies = false; ///< a graph that copies all arguments and results was made

  /// The graph that works at these addresses; null if there is none.
  section_graph<Api>* find(plain_span<const std::byte* const> addresses) {
    const auto found = std::find_if(graphs.begin(), graphs.end(),
                                    [&](const auto& each) { return plain::equal(each->addresses, addresses); });
    if (found == graphs.end()) return nullptr;
    std::rotate(graphs.begin(), found, found + 1);
    return graphs.front().get();
  }
  /// Adds a graph, and drops the least recently used one if there are many.
  section_graph<Api>& add(plain_span<const std::byte* const> addresses) {
    ++graphs_made;
    if (graphs.size() == most_graphs) graphs.pop_back();
    return **graphs.insert(graphs.begin(), std::make_unique<section_graph<Api>>(addresses));
  }
  /// Whether another graph is worth its cost: a few are for the addresses that a loop uses in turn, and more if the
  /// section was called many times.
  bool may_have_more() const { return graphs_made < most_graphs + calls / 64; }

  /// Makes the next call a first one again. The graphs' memory stays, since its release may be captured.
  void start_anew() {
    is = suitability::unknown;
    for (auto& each : graphs) each->graph.reset();
  }
};

/// A device's sections, the last used one first. NCCL needs all processes to launch a collective in graphs, or none. So
/// the state of shared sections depends on nothing that one process does by itself, such as sections of its own, or
/// memory.
template <device_api Api> class graph_cache {
 public:
  /// The state of a section. It is kept until `most_sections` other ones of its kind, shared or not, have been asked
  /// for.
  known_section<Api>& find(const section_key& key, std::size_t most_sections) {
    auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& each) { return each->is_of(key); });
    if (found == sections.end()) {
      make_place(key.is_shared, most_sections);
      sections.push_back(std::make_unique<known_section<Api>>(key));
      found = sections.end() - 1;
    }
    std::rotate(sections.begin(), found, found + 1);
    return *sections.front();
  }

  /// Call before the section that was found last takes `bytes` for a graph. Destroys graphs until those left have at
  /// most `most_bytes`, except for that section's last one. Shared sections do not count.
  void make_room(std::size_t bytes, std::size_t most_bytes) {
    if (sections.front()->is_shared) return;
    std::size_t used = bytes;
    for (const auto& each : sections)
      if (!each->is_shared)
        for (const auto& graph : each->graphs) used += graph->memory.bytes();
    for (std::size_t i = sections.size(); i-- > 0;) {
      if (sections[i]->is_shared) continue;
      while (used > most_bytes && sections[i]->graphs.size() > (i == 0 ? 1U : 0U)) {
        used -= sections[i]->graphs.back()->memory.bytes();
        sections[i]->graphs.pop_back();
      }
    }
  }

  /// Destroys the graphs with calls of communicators, whose destruction would otherwise wait for the graphs for ever.
  /// Shared sections begin with a call step by step again, which makes communicators.
  void forget_exchanges() {
    for (const auto& each : sections)
      if (each->is_shared || plain::any_of(each->graphs, [](const auto& graph) { return graph->exchanges.count != 0; }))
        each->start_anew();
  }

 private:
  std::vector<std::unique_ptr<known_section<Api>>> sections;

  void make_place(bool shared, std::size_t most_sections) {
    const auto is_alike = [&](const auto& each) { return each->is_shared == shared; };
    const auto alike = static_cast<std::size_t>(std::count_if(sections.begin(), sections.end(), is_alike));
    if (alike < std::max<std::size_t>(most_sections, 1)) return;
    const auto last = std::find_if(sections.rbegin(), sections.rend(), is_alike);
    sections.erase(std::next(last).base());
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
