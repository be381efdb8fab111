// A call of a section by CUDA graphs, one on each of its devices: captured at the second call, launched from then on.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/graph_capture.hpp>
#include <parallax/cuda/run/graph_copies.hpp>
#include <parallax/cuda/run/section_outputs.hpp>
#include <parallax/cuda/run/section_runner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Memory of a section's values that its outputs take: by position, by output; null for an output that takes none.
struct memory_taken {
  recycled_vector<recycled_vector<buffer>> by_position;

  memory_taken(std::size_t positions, std::size_t outputs) : by_position(positions) {
    for (auto& each : by_position) each.resize(outputs);
  }
  bool any() const {
    return plain::any_of(by_position, [](const auto& of_position) {
      return plain::any_of(of_position, [](const buffer& each) { return !each.is_null(); });
    });
  }
};

/// Arguments and results at addresses that earlier calls have used are read and written in their own memory. So a loop
/// that calls a program again and again, whether it donates arguments or drops them, soon copies nothing.
template <device_api Api> class graph_run {
 public:
  static constexpr std::size_t most_memory = std::size_t{16} << 20; ///< of one graph
  /// Copies take time of the device, launches take time of the host: programs with more copied bytes for each of their
  /// steps are faster without graphs.
  static constexpr std::size_t most_copied_per_step = std::size_t{256} << 10;

  static constexpr int most_steps = 4096; ///< of one graph, all rounds of its unrolled scans among them

  /// Outputs, by position: in memory that they take, in memory that the caller lends on their device, or in new memory.
  /// Outputs that `prepare` has placed are kept if the section is then run step by step.
  recycled_vector<recycled_vector<buffer>> outputs;

  graph_run(backend<Api>& of, const section_plan& run, section_id number, const mesh<Api>& on,
            const memory_taken& of_values)
      : outputs(of_values.by_position),
        owner(of),
        section(run),
        id(number),
        all(on),
        devices(on.devices),
        taken(of_values) {}

  /// Whether graphs serve this call. If not, it is run step by step, and `note` has to be called afterwards.
  /// `source_of(number of a value, position)` gives an `argument_source`.
  template <class Sources> bool prepare(const Sources& source_of, given_memory given) {
    if (!owner.options.graphs) return false;
    recycled_vector<known*> sections;
    for (std::size_t p = 0; p < devices.size(); ++p) sections.push_back(&section_on(p));
    if (!plain::all_of(sections, [](const known* each) { return each->is == known::suitability::suitable; }))
      return false;
    for (std::size_t p = 0; p < devices.size(); ++p) {
      ++sections[p]->calls;
      find_sources(*sections[p], p, source_of);
      take_outputs(section, *devices[p], given, outputs[p]);
      graphs.push_back(graph_for(*sections[p], p));
    }
    return plain::all_of(graphs, [](const graph* each) { return each != nullptr && each->is_worthwhile; });
  }

  /// Notes the findings of a call step by step.
  void note(const section_runner<Api>& done) {
    if (!owner.options.graphs) return;
    for (std::size_t p = 0; p < devices.size(); ++p) {
      known& each = section_on(p);
      if (each.is != known::suitability::unknown) continue;
      const capture_estimate expected = estimate();
      const bool suits =
          expected.is_possible && expected.steps >= owner.options.graph_steps && expected.steps <= most_steps;
      each.is = suits ? known::suitability::suitable : known::suitability::unsuitable;
      each.graphs.clear();
      each.used.resize(section.buffers().size());
      for (std::size_t i = 0; i < each.used.size(); ++i) each.used[i] = done.is_used(buffer_id{static_cast<int>(i)});
    }
  }

  /// Runs the section once `prepare` has found graphs, and captures them first if that has not been done. False if they
  /// cannot be captured: the section is run step by step from then on.
  bool run(const program_launchers<Api>& kernels, given_memory given) {
    if (!plain::all_of(graphs, [](const graph* each) { return each->graph.has_value(); }) && !try_capture(kernels))
      return false;
    if (taken.any()) given.begin_to_take();
    for (std::size_t p = 0; p < devices.size(); ++p) launch(*graphs[p], p);
    return true;
  }

 private:
  using known = known_section<Api>;
  using graph = section_graph<Api>;

  backend<Api>& owner;
  const section_plan section;
  section_id id;
  const mesh<Api>& all;
  plain_span<device<Api>* const> devices;
  const memory_taken& taken;
  recycled_vector<recycled_vector<argument_source>> sources; ///< by position, by value
  recycled_vector<graph*> graphs;                            ///< by position

  known& section_on(std::size_t position) {
    const int place = all.place_of(static_cast<int>(position)); // kernels of the graph have it as a number
    return devices[position]->graphs.find({&section.plan, id, place, section.extents.values(), all.whole() != nullptr},
                                          owner.options.cached_sections);
  }
  std::size_t value_count() const { return index_of(section.section.value_count); }
  capture_estimate estimate() const {
    return {section, {exchange_in_graph(all), owner.options.conditional_graphs, owner.options.deterministic}};
  }

  template <class Sources> void find_sources(const known& of, std::size_t position, const Sources& source_of) {
    auto& here = sources.emplace_back(value_count());
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const bool is_used = of.used[index_of(next++)];
      if (each.kind != buffer_kind::bound || !is_used || section.bytes_of(each) == 0) continue;
      here[index_of(each.number)] = source_of(index_of(each.number), static_cast<int>(position));
    }
  }
  /// The addresses that a graph works at, at a position: by value, then by output; null if the graph is to copy.
  recycled_vector<const std::byte*> places_of(known& of, std::size_t position) const {
    recycled_vector<const std::byte*> places(value_count() + section.outputs().size());
    if (all.whole() != nullptr) return places; // others' addresses may differ, and NCCL needs all to capture alike
    for (std::size_t i = 0; i < value_count(); ++i)
      if (!sources[position][i].on_host) places[i] = sources[position][i].data;
    for (std::size_t k = 0; k < outputs[position].size(); ++k)
      places[value_count() + k] = address_of<Api>(outputs[position][k]);
    const recycled_vector<const std::byte*> present = places;
    of.history.keep_repeated(places);
    // donated memory comes back as a result at once
    for (std::size_t k = 0; k < taken.by_position[position].size(); ++k) {
      const std::byte* const first = address_of<Api>(taken.by_position[position][k]);
      for (std::size_t i = 0; i < places.size() && first != nullptr; ++i)
        if (present[i] == first) places[i] = first;
    }
    return places;
  }
  /// The graph that works at the values' addresses, or one that copies all values; null if there is neither.
  graph* graph_for(known& of, std::size_t position) {
    recycled_vector<const std::byte*> places = places_of(of, position);
    graph* found = of.find(places);
    if (found == nullptr && !of.may_have_more()) {
      places.assign(places.size(), nullptr);
      found = of.find(places);
      if (found == nullptr && of.has_had_copies) return nullptr;
    }
    if (found != nullptr) return found;
    graph& added = of.add(places);
    of.has_had_copies =
        of.has_had_copies || plain::all_of(places, [](const std::byte* each) { return each == nullptr; });
    plan(added, of);
    return &added;
  }

  /// Lays out the graph's memory: all buffers that are not used in their own memory.
  void plan(graph& g, const known& of) const {
    std::size_t bytes = 0;
    auto take = [&](std::size_t more) { return std::exchange(bytes, bytes + aligned(more)); };
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const buffer_id buffer{next++};
      const auto number = index_of(each.number);
      const std::size_t size = section.bytes_of(each);
      if (size == 0 || each.kind == buffer_kind::slot || !of.used[index_of(buffer)]) continue;
      const bool is_output = each.kind == buffer_kind::output;
      if (const std::size_t place = (is_output ? value_count() : 0) + number; g.addresses[place] != nullptr)
        g.places.push_back({buffer, place});
      else if (is_output) g.results.push_back({buffer, number, size, take(size), 0, 0});
      else g.arguments.push_back({buffer, number, size, take(size), 0, 0, small_values<Api>::takes(size)});
    }
    const std::size_t copied = bytes;
    const capture_estimate expected = estimate();
    g.targets = take(g.results.size() * sizeof(std::byte*));
    g.slot_offsets.resize(index_of(section.section.slot_count) + 1);
    section.plan_slots(g.slot_offsets);
    g.slots = take(g.slot_offsets.back());
    g.matrices = take(bytes_of_matrix_addresses(section));
    g.bodies = take(expected.bytes_of_bodies);
    g.depth_of_bodies = expected.depth;
    g.memory_bytes = std::max(bytes, aligned(1));
    g.is_worthwhile = copied <= static_cast<std::size_t>(expected.steps) * most_copied_per_step && bytes <= most_memory;
  }

  /// Captures the graphs; false if they cannot be captured.
  bool try_capture(const program_launchers<Api>& kernels) {
    if (graph_capture<Api>(owner, section, all, graphs).run(kernels)) return true;
    graphs.clear();
    for (std::size_t p = 0; p < devices.size(); ++p) {
      section_on(p).is = known::suitability::unsuitable;
      section_on(p).graphs.clear();
    }
    return false;
  }

  void launch(graph& g, std::size_t position) const {
    device<Api>& on = *devices[position];
    owner.note_step();
    update_copies(g, on, owner, sources[position], outputs[position]);
    begin_exchanges(g);
    check(Api::launch_graph(g.graph->get(), on.stream()), on.number);
    if (g.exchanges.count != 0) owner.recorder.end(1);
  }
  /// Notes the exchanges of a launch as one, with the last one's number: processes that launch the graph begin all of
  /// them.
  void begin_exchanges(const graph& g) const {
    if (g.exchanges.count == 0) return;
    std::uint64_t number = 0;
    for (int i = 0; i < g.exchanges.count; ++i) number = all.whole()->of().next_shared_exchange();
    owner.recorder.begin(g.exchanges.first.data(), g.exchanges.axes, g.exchanges.bytes, all.devices, number, true);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
