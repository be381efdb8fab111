// A call of a section by CUDA graphs, one on each of its devices: captured at the second call, launched from then on.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/section_runner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace parallax::cuda {

/// Where an argument is: on the host, or on the device that reads it.
struct argument_source {
  const std::byte* data = nullptr;
  bool on_host = false;
};

/// Memory of a section's values that its outputs take: by position, by output, null where one takes none; and of which
/// value, -1 where it is none.
struct memory_taken {
  recycled_vector<recycled_vector<buffer>> by_position;
  recycled_vector<int> values;

  memory_taken(std::size_t positions, std::size_t outputs) : by_position(positions), values(outputs, -1) {
    for (auto& each : by_position) each.resize(outputs);
  }
  bool any() const {
    return plain::any_of(by_position, [](const auto& of_position) {
      return plain::any_of(of_position, [](const buffer& each) { return !each.is_null(); });
    });
  }
};

namespace detail {

/// What is enqueued on a device is captured until `end`, or until this is destroyed, which forgets it.
template <device_api Api> class capture_scope {
 public:
  explicit capture_scope(device<Api>& of) : on(of) {
    on.activate();
    check(Api::begin_capture(on.stream()), on.number);
    on.is_captured = true;
  }
  capture_scope(const capture_scope&) = delete;
  capture_scope& operator=(const capture_scope&) = delete;
  ~capture_scope() {
    on.is_captured = false;
    if (ended) return;
    typename Api::graph unwanted{};
    if (Api::end_capture(on.stream(), unwanted).ok()) kept_failure::keep(Api::destroy_graph(unwanted));
  }
  typename Api::graph end() {
    ended = true;
    on.is_captured = false;
    typename Api::graph captured{};
    check(Api::end_capture(on.stream(), captured), on.number);
    return captured;
  }

 private:
  device<Api>& on;
  bool ended = false;
};

} // namespace detail

template <device_api Api> class graph_run {
 public:
  static constexpr std::size_t most_memory = std::size_t{16} << 20; ///< of one graph
  /// Arguments and results are copied, which costs the device time where a launch costs the host some: programs that
  /// have more bytes of them for each of their steps are faster without.
  static constexpr std::size_t most_copied_per_step = std::size_t{256} << 10;

  static constexpr int most_steps = 4096; ///< of one graph, all rounds of its unrolled scans among them

  graph_run(backend<Api>& of, const section_plan& run, section_id number, const mesh<Api>& on,
            const memory_taken& of_values)
      : owner(of), section(run), id(number), all(on), devices(on.devices), taken(of_values) {
    // other processes may not take theirs, and NCCL wants all to capture alike
    works_in_place = all.whole() == nullptr && taken.any();
    for (std::size_t p = 0; p < devices.size() && works_in_place; ++p)
      works_in_place = devices[p]->graphs.is_worthwhile(key_of(p, outputs_of(p)));
  }

  /// Whether graphs serve the section. Otherwise it is run step by step, and `note` is to be called afterwards.
  bool is_possible() {
    if (!owner.options.graphs) return false;
    for (std::size_t p = 0; p < devices.size(); ++p) entries.push_back(&entry(p));
    return plain::all_of(entries, [](const auto* each) { return each->is == suitability::suitable; });
  }

  /// Notes what a call step by step has shown.
  void note(const section_runner<Api>& done) {
    if (!owner.options.graphs) return;
    for (std::size_t p = 0; p < devices.size(); ++p)
      if (section_graph<Api>& each = entry(p); each.is == suitability::unknown) plan(each, done, p);
  }

  /// Runs the section, and captures it before where that has not been done. Returns its outputs by position.
  /// `source_of(number of a value, position)` gives an `argument_source`. Outputs are where memory is given for them on
  /// their device, or in memory that they take.
  template <class Sources>
  recycled_vector<recycled_vector<buffer>> run(const program_launchers<Api>& kernels, const Sources& source_of,
                                               given_memory given) {
    if (!plain::all_of(entries, [](const auto* each) { return each->graph.has_value(); })) capture(kernels);
    recycled_vector<recycled_vector<buffer>> outputs = taken.by_position;
    if (taken.any()) given.begin_to_take();
    for (std::size_t p = 0; p < devices.size(); ++p)
      launch(
          *entries[p], *devices[p], outputs[p],
          [&](std::size_t value) { return source_of(value, static_cast<int>(p)); }, given);
    return outputs;
  }

 private:
  using suitability = typename section_graph<Api>::suitability;
  using update = typename section_graph<Api>::update;

  backend<Api>& owner;
  const section_plan section;
  section_id id;
  const mesh<Api>& all;
  plain_span<device<Api>* const> devices;
  const memory_taken& taken;
  std::vector<section_graph<Api>*> entries; ///< by position

  bool works_in_place = false; ///< results are computed where they are taken; otherwise they are copied there

  section_key key_of(std::size_t position, plain_span<const value_taken> outputs) const {
    const int place = all.place_of(static_cast<int>(position)); // kernels of the graph have it as a number
    return {&section.plan, id, place, section.extents.values(), outputs};
  }
  recycled_vector<value_taken> outputs_of(std::size_t position) const {
    recycled_vector<value_taken> outputs;
    for (std::size_t k = 0; k < taken.values.size() && works_in_place; ++k) {
      const buffer& memory = taken.by_position[position][k];
      outputs.push_back(memory.is_null() ? value_taken{} : value_taken{address_of<Api>(memory), taken.values[k]});
    }
    return outputs;
  }
  section_graph<Api>& entry(std::size_t position) {
    return devices[position]->graphs.find(key_of(position, outputs_of(position)), owner.options.cached_sections);
  }
  /// The output that takes the memory of a value at a position; -1 where none does.
  int output_in(std::size_t value, std::size_t position) const {
    for (std::size_t k = 0; k < taken.values.size() && works_in_place; ++k)
      if (std::cmp_equal(taken.values[k], value) && !taken.by_position[position][k].is_null())
        return static_cast<int>(k);
    return -1;
  }
  buffer_id buffer_of_output(int output) const {
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      if (each.kind == buffer_kind::output && each.number == output) return buffer_id{next};
      ++next;
    }
    return buffer_id::none;
  }

  /// Says where everything is in the graph's memory, and whether there is to be one.
  void plan(section_graph<Api>& g, const section_runner<Api>& done, std::size_t position) const {
    g.is = suitability::unsuitable;
    const capture_estimate expected(
        section, {exchange_in_graph(all), owner.options.conditional_graphs, owner.options.deterministic});
    if (!expected.is_possible || expected.steps < owner.options.graph_steps || expected.steps > most_steps) return;
    std::size_t bytes = 0;
    auto take = [&](std::size_t more) { return std::exchange(bytes, bytes + aligned(more)); };
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const buffer_id buffer{next++};
      const auto number = index_of(each.number);
      const std::size_t size = section.bytes_of(each);
      if (size == 0) continue;
      if (each.kind == buffer_kind::output && works_in_place && !taken.by_position[position][number].is_null())
        continue;
      if (const int output = each.kind == buffer_kind::value ? output_in(number, position) : -1; output >= 0) {
        g.in_place.push_back({buffer, buffer_of_output(output), index_of(output)});
        continue;
      }
      if (each.kind == buffer_kind::value && done.is_used(buffer))
        g.arguments.push_back({buffer, number, size, take(size), 0, 0, small_values<Api>::takes(size)});
      if (each.kind == buffer_kind::output) g.results.push_back({buffer, number, size, take(size), 0, 0});
    }
    const std::size_t copied = bytes;
    g.targets = take(g.results.size() * sizeof(std::byte*));
    g.slot_offsets.resize(index_of(section.section.slot_count) + 1);
    section.plan_slots(g.slot_offsets);
    g.slots = take(g.slot_offsets.back());
    g.matrices = take(bytes_of_matrix_addresses(section));
    g.bodies = take(expected.bytes_of_bodies);
    g.depth_of_bodies = expected.depth;
    g.memory_bytes = std::max(bytes, aligned(1));
    g.output_count = section.outputs().size();
    const bool pays = copied <= static_cast<std::size_t>(expected.steps) * most_copied_per_step;
    if (pays && bytes <= most_memory) g.is = suitability::suitable;
  }

  void capture(const program_launchers<Api>& kernels) {
    for (section_graph<Api>* each : entries) forget(*each);
    try {
      section_runner<Api> runner(owner, section, kernels, all,
                                 [](std::size_t, int) { return static_cast<std::byte*>(nullptr); });
      for (std::size_t p = 0; p < devices.size(); ++p) {
        devices[p]->graphs.make_room(entries[p]->memory_bytes, owner.options.graph_memory);
        entries[p]->memory = allocate<Api>(*devices[p], entries[p]->memory_bytes);
        set_addresses(runner, *entries[p], static_cast<int>(p));
        runner.write_addresses_of_matrices(static_cast<int>(p)); // they stay the same from launch to launch
        devices[p]->expect_bodies(entries[p]->depth_of_bodies);
        // copies nothing, but loads the kernel, which a capture had better not
        devices[p]->activate();
        check(Api::launch(copy_pieces{}, {1, detail::elementwise_threads}, devices[p]->stream(), {}),
              devices[p]->number);
      }
      runner.decides = owner.options.conditional_graphs;
      runner.noted = &entries.front()->exchanges; // where devices are several there are none
      std::deque<detail::capture_scope<Api>> captures;
      for (std::size_t p = 0; p < devices.size(); ++p) {
        captures.emplace_back(*devices[p]);
        copy_in(*entries[p], *devices[p]);
      }
      runner.run([](const call_step&, section_runner<Api>&) {});
      for (std::size_t p = 0; p < devices.size(); ++p) {
        copy_out(*entries[p], *devices[p]);
        entries[p]->graph.emplace(captures[p].end());
      }
      for (std::size_t p = 0; p < devices.size(); ++p) {
        devices[p]->activate();
        entries[p]->graph->instantiate(devices[p]->number);
      }
    } catch (...) {
      for (section_graph<Api>* each : entries) forget(*each);
      throw;
    }
  }
  static void forget(section_graph<Api>& g) {
    g.graph.reset();
    g.memory = {};
    g.updates.clear();
    g.exchanges = {};
  }

  /// Tells the runner where the section's buffers are while it is captured.
  static void set_addresses(section_runner<Api>& runner, const section_graph<Api>& g, int position) {
    std::byte* const memory = address_of<Api>(g.memory);
    for (const auto& a : g.arguments) runner.set_address(a.buffer, position, memory + a.offset);
    for (const auto& r : g.results) runner.set_address(r.buffer, position, memory + r.offset);
    for (const auto& both : g.in_place) {
      auto* const first = const_cast<std::byte*>(g.outputs[both.number].first);
      runner.set_address(both.value, position, first);
      runner.set_address(both.output, position, first);
    }
    runner.memory_of_bodies.push_back(memory + g.bodies);
    runner.set_addresses_of_matrices(position, memory + g.matrices);
    int next = 0;
    for (const buffer_record& each : runner.section.buffers()) {
      const buffer_id buffer{next++};
      if (each.kind == buffer_kind::slot)
        runner.set_address(buffer, position, memory + g.slots + section_plan::place_of(each, g.slot_offsets));
    }
  }

  /// Adds pieces to launches, as many to each as it takes.
  struct launch_filler {
    std::vector<update>& launches;
    std::uint32_t given = 0; ///< words of the last launch

    /// A piece of `bytes` bytes, with room for `words` given ones.
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

  /// Captures the launches that bring arguments, and the addresses of results.
  void copy_in(section_graph<Api>& g, device<Api>& on) const {
    std::byte* const memory = address_of<Api>(g.memory);
    launch_filler filler{g.updates};
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
    for (update& each : g.updates) {
      each.shape = copy_pieces::shape(each.arguments, on.context());
      check(Api::launch(copy_pieces{}, each.shape, on.stream(), each.arguments), on.number);
      check(Api::last_captured(on.stream(), each.node), on.number);
    }
  }

  /// Captures the launches that copy results to where `copy_in` is told at each call.
  void copy_out(const section_graph<Api>& g, device<Api>& on) const {
    std::byte* const memory = address_of<Api>(g.memory);
    on.activate();
    for (std::size_t first = 0; first < g.results.size(); first += copy_pieces::most_pieces) {
      std::vector<update> one;
      launch_filler filler{one};
      for (std::size_t i = first; i < std::min(first + copy_pieces::most_pieces, g.results.size()); ++i)
        filler.add(g.results[i].bytes, 0).from = memory + g.results[i].offset;
      copy_pieces::arguments& a = one.front().arguments;
      a.targets = reinterpret_cast<std::byte* const*>(memory + g.targets) + first;
      check(Api::launch(copy_pieces{}, copy_pieces::shape(a, on.context()), on.stream(), a), on.number);
    }
  }

  static std::byte* given(copy_pieces::arguments& of) { return reinterpret_cast<std::byte*>(of.given); }

  template <class Sources>
  void launch(section_graph<Api>& g, device<Api>& on, recycled_vector<buffer>& outputs, const Sources& source_of,
              given_memory memory) const {
    outputs.resize(g.output_count);
    for (const auto& a : g.arguments) {
      copy_pieces::arguments& in = g.updates[a.update].arguments;
      copy_pieces::piece& copied = in.pieces[a.piece];
      const argument_source source = source_of(a.value);
      if (!source.on_host) {
        copied.from = source.data;
        copied.bytes = static_cast<std::uint32_t>(a.bytes);
        continue;
      }
      if (a.may_be_given) {
        copied.from = nullptr;
        copied.bytes = copy_pieces::words_of(a.bytes) * copy_pieces::word_bytes;
        std::memcpy(given(in) + copied.given * std::size_t{copy_pieces::word_bytes}, source.data, a.bytes);
      } else {
        copied.bytes = 0;
        on.activate();
        on.host_copies.to_device(copied.to, source.data, a.bytes, owner.threads, owner.waiting());
      }
      count_host_to_device(a.bytes);
    }
    result_block<Api> new_memory(on);
    for (const auto& r : g.results)
      if (is_given_on(on, memory, r.output)) outputs[r.output] = memory[r.output].on_device;
      else if (outputs[r.output].is_null()) new_memory.expect(r.bytes);
    for (const auto& r : g.results) {
      if (outputs[r.output].is_null()) outputs[r.output] = new_memory.take(r.bytes);
      const std::byte* target = address_of<Api>(outputs[r.output]);
      std::memcpy(given(g.updates[r.update].arguments) + r.target, &target, sizeof target);
    }
    owner.note_step();
    on.activate();
    for (const update& each : g.updates)
      check(Api::update_launch(g.graph->get(), each.node, copy_pieces{}, each.shape, each.arguments), on.number);
    begin_exchanges(g);
    check(Api::launch_graph(g.graph->get(), on.stream()), on.number);
    if (g.exchanges.count != 0) owner.recorder.end(1);
  }
  /// Those of a launch are one for the recorder, with the last one's number: processes that launch it begin all of
  /// them.
  void begin_exchanges(const section_graph<Api>& g) const {
    if (g.exchanges.count == 0) return;
    std::uint64_t number = 0;
    for (int i = 0; i < g.exchanges.count; ++i) number = all.whole()->of().next_shared_exchange();
    owner.recorder.begin(g.exchanges.first.data(), g.exchanges.axes, g.exchanges.bytes, all.devices, number);
  }
};

} // namespace parallax::cuda
