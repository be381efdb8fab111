// The sections of programs that a device has been given, and the graphs that were captured of them.
#pragma once

#include <parallax/arrays/buffer.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/devices/handles.hpp>
#include <parallax/cuda/kernels/copy_pieces.hpp>
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

namespace parallax::cuda {

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

/// An output that takes the memory of a value of its section.
struct value_taken {
  const std::byte* first = nullptr; ///< null where an output takes none
  int value = -1;

  bool operator==(const value_taken&) const = default;
};

/// What a graph was captured of: a section of a program at these extents, at a position of its mesh, and, by output,
/// what these take.
struct section_key {
  const plan_view* plan;
  section_id section;
  int position;
  plain_span<const std::int64_t> extents;
  plain_span<const value_taken> results{};
};

/// The exchanges with other processes that a graph has.
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

/// One section on one device: what its first call has shown, and its graph. A graph has memory of its own, at whose
/// addresses all its steps work: copies of the arguments and results, and intermediate values. Its first launches copy
/// arguments in, and are all that is updated at a call; its last ones copy results to where the first were told.
/// Results that take the memory of arguments are computed there.
template <device_api Api> struct section_graph {
  explicit section_graph(const section_key& of)
      : plan(of.plan),
        section(of.section),
        position(of.position),
        extents(of.extents.begin(), of.extents.end()),
        outputs(of.results.begin(), of.results.end()) {}

  bool is_like(const section_key& key) const {
    return plan == key.plan && section == key.section && position == key.position && plain::equal(extents, key.extents);
  }
  bool is_of(const section_key& key) const { return is_like(key) && plain::equal(outputs, key.results); }

  const plan_view* plan;
  section_id section;
  int position;
  std::vector<std::int64_t> extents;
  std::vector<value_taken> outputs;

  /// After the first call: whether a graph can serve the others.
  enum class suitability : unsigned char { unknown, suitable, unsuitable };
  suitability is = suitability::unknown;

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
  /// An output, and where in a launch's given words its address goes.
  struct result {
    buffer_id buffer; ///< of the section
    std::size_t output, bytes;
    std::size_t offset; ///< of the original, in the graph's memory
    std::size_t update, target;
  };
  /// An output in the memory of a value.
  struct taken {
    buffer_id value, output;
    std::size_t number; ///< of the output
  };
  std::vector<argument> arguments;
  std::vector<result> results;
  std::vector<taken> in_place;
  std::vector<std::size_t> slot_offsets;
  std::size_t targets = 0, slots = 0; ///< where the addresses of results and the slots begin in the memory
  std::size_t matrices = 0;           ///< where the addresses of batched products' matrices begin
  std::size_t bodies = 0;             ///< where the slots of loops' bodies begin
  int depth_of_bodies = 0;            ///< nodes that are decided by conditions, one inside the other
  std::size_t memory_bytes = 0, output_count = 0;

  std::vector<update> updates;
  captured_exchanges exchanges;
  buffer memory;
  std::optional<unique_graph<Api>> graph;

  /// Its next call is its first once more. The memory stays, since what releases it may be captured.
  void start_anew() {
    graph.reset();
    is = suitability::unknown;
    arguments.clear();
    results.clear();
    in_place.clear();
    exchanges = {};
  }
};

/// A device's, the one that was used last first.
template <device_api Api> class graph_cache {
 public:
  /// A section's entry, which is made if it is not there. It stays until `most_sections` others have been asked for, or
  /// `make_room` was called.
  section_graph<Api>& find(const section_key& key, std::size_t most_sections) {
    auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& each) { return each->is_of(key); });
    if (found == sections.end()) {
      while (sections.size() >= std::max<std::size_t>(most_sections, 1)) sections.pop_back();
      sections.push_back(std::make_unique<section_graph<Api>>(key));
      found = sections.end() - 1;
    }
    std::rotate(sections.begin(), found, found + 1);
    return *sections.front();
  }

  /// Whether an entry is there already, or few are of the same section that take other memory: where that is new at
  /// each call, no graph would ever be launched again.
  bool is_worthwhile(const section_key& key) const {
    constexpr int most_alike = 4;
    int alike = 0;
    for (const auto& each : sections) {
      if (each->is_of(key)) return true;
      alike += each->is_like(key) ? 1 : 0;
    }
    return alike < most_alike;
  }

  /// Destroys graphs until `bytes` more are within `most_bytes`; not that of the entry found last.
  void make_room(std::size_t bytes, std::size_t most_bytes) {
    std::size_t used = bytes;
    for (const auto& each : sections) used += each->memory.bytes();
    while (used > most_bytes && sections.size() > 1) {
      used -= sections.back()->memory.bytes();
      sections.pop_back();
    }
  }

  /// Destroys the graphs that have calls of communicators, which would wait for that for ever.
  void forget_exchanges() {
    for (const auto& each : sections)
      if (each->exchanges.count != 0) each->start_anew();
  }

 private:
  std::vector<std::unique_ptr<section_graph<Api>>> sections;
};

} // namespace parallax::cuda
