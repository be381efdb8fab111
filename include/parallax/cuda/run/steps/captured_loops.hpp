// Loops and branches while a section is captured: conditional nodes of the graph, so that the device counts rounds and
// chooses branches itself.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/kernels/copies/copy_slices.hpp>
#include <parallax/cuda/kernels/loop/conditions.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/cuda/run/steps/capture_estimate.hpp>
#include <parallax/cuda/run/steps/slices_in_place.hpp>
#include <parallax/runtime/loop_places.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `Section` is the section's runner, which also runs the bodies; `how` is its state, and theirs. Each device has nodes
/// of its own.
template <class Section> class captured_loops {
  using api = typename Section::api;
  using rule = set_conditions::rule;

 public:
  captured_loops(Section& section, const run_state& how)
      : outer(section), state(how), count(index_of(section.all.size())) {}

  /// Rounds write the carries' two buffers in turn. A node repeats two rounds, the second one only if the predicate
  /// still holds. Behind it, carries that are in the other buffer are copied.
  template <class Call> void run(const while_step& step, Call call) {
    places_by_position places = places_of(step.operands, step.results);
    const bool alternates = any_alternates(step.results);
    for_each([&](std::size_t p) { places[p].begin_inside(1, copy_on(p, step.results)); });
    Section predicate = outer.body_runner(step.predicate, state, capture_estimate::control_bytes),
            body = outer.body_runner(step.body, state, capture_estimate::control_bytes);
    predicate.place_slots();
    body.place_slots();
    const auto again = conditions(), in_other = conditions();
    auto ask = [&](bool of_other, auto... settings) {
      for_each([&](std::size_t p) {
        std::byte* const answer = control(p);
        places[p].go_to({false, 0, of_other ? 0 : -1});
        predicate.place(places[p].arguments(), {&answer, 1}, static_cast<int>(p));
      });
      predicate.run(call);
      for_each([&](std::size_t p) {
        set_conditions::arguments a{reinterpret_cast<const std::uint8_t*>(control(p)), 0, {}};
        (a.add((*settings.of)[p], settings.how), ...);
        launch(p, set_conditions{}, {1, 32}, a);
      });
    };
    auto round = [&](bool to_own) {
      for_each([&](std::size_t p) {
        places[p].go_to({false, 0, to_own ? 0 : -1});
        body.place(places[p].arguments(), places[p].outputs(), static_cast<int>(p));
      });
      body.run(call);
    };
    struct setting {
      const std::vector<graph_condition>* of;
      rule how;
    };
    const setting go_on{&again, rule::as_computed};
    ask(true, go_on, setting{&in_other, rule::always});
    inside(conditional_kind::repeatedly, again, [&] {
      round(true);
      if (!alternates) return ask(true, go_on);
      const auto second = conditions(); // of the graph that its node is in
      ask(false, go_on, setting{&second, rule::as_computed}, setting{&in_other, rule::never});
      inside(conditional_kind::once, second, [&] {
        round(false);
        ask(true, go_on, setting{&in_other, rule::always});
      });
    });
    if (!alternates) return;
    inside(conditional_kind::once, in_other, [&] {
      for_each([&](std::size_t p) { places[p].copy_carries({.is_first = false}, copy_on(p, step.results)); });
    });
  }

  /// Rounds are counted on the device. A graph node holds as many rounds as the carries need to return to their first
  /// buffers. Kernels find slices by the count; slices that other steps read are copied to addresses that stay.
  template <class Call> void run(const scan_step& step, Call call) {
    const std::int64_t rounds = outer.section.extents[step.count];
    const std::int64_t period = period_of(outer.section.plan[step.results]), odd = rounds % period;
    std::deque<slice_places> slices;
    for_each([&](std::size_t p) { slices.emplace_back(outer, step, p, control(p) + capture_estimate::control_bytes); });
    places_by_position places = places_of(step.operands, step.results);
    Section body = outer.body_runner(
        step.body, state, capture_estimate::control_bytes + capture_estimate::bytes_of_slices(outer.section, step));
    body.place_slots();
    for_each([&](std::size_t p) { slices[p].move(body, counter(p), static_cast<int>(p)); });
    const auto more = conditions();
    auto count_on = [&](std::int64_t before, std::int64_t added) {
      for_each(
          [&](std::size_t p) { launch(p, count_rounds{}, {1, 32}, {counter(p), before, added, rounds, more[p]}); });
    };
    auto round = [&](const loop_round& which, std::int64_t added) {
      for_each([&](std::size_t p) {
        slices[p].copy(*this, p, true, {counter(p), added, rounds, step.reverse, 0, 0, {}});
        places[p].go_to(which);
        slices[p].go_to(added, rounds);
        body.place(slices[p].arguments(places[p]), slices[p].outputs(places[p]), static_cast<int>(p));
      });
      body.run(call);
      for_each(
          [&](std::size_t p) { slices[p].copy(*this, p, false, {counter(p), added, rounds, step.reverse, 0, 0, {}}); });
    };
    count_on(0, 0);
    if (odd == 0) for_each([&](std::size_t p) { places[p].begin_inside(0, copy_on(p, step.results)); });
    else for_each([&](std::size_t p) { places[p].bring_in(odd, copy_on(p, step.results)); });
    for (std::int64_t k = 0; k < odd; ++k) round({k == 0, 0, odd - 1 - k}, k);
    if (odd != 0) count_on(odd, 0);
    inside(conditional_kind::repeatedly, more, [&] {
      for (std::int64_t k = 0; k < period; ++k) round({false, 0, period - 1 - k}, k);
      count_on(-1, period);
    });
  }

  /// A conditional node for each branch, one of which runs.
  template <class Call> void run(const cond_step& step, Call call) {
    const plain_span<const section_id> branches = outer.section.plan[step.branches];
    std::vector<std::vector<graph_condition>> chosen;
    for (std::size_t b = 0; b < branches.size(); ++b) chosen.push_back(conditions());
    for_each([&](std::size_t p) {
      const auto* const index = reinterpret_cast<const std::int32_t*>(outer.data(step.index, static_cast<int>(p)));
      for (std::size_t first = 0; first < branches.size(); first += choose_branch::most) {
        choose_branch::arguments a{index, static_cast<int>(first), 0, {}};
        for (std::size_t b = first; b < std::min(branches.size(), first + choose_branch::most); ++b)
          a.conditions[a.count++] = chosen[b][p];
        launch(p, choose_branch{}, {1, 32}, a);
      }
    });
    for (std::size_t b = 0; b < branches.size(); ++b)
      inside(conditional_kind::once, chosen[b], [&] {
        Section branch = outer.body_runner(branches[b], state);
        branch.place_slots();
        for_each([&](std::size_t p) {
          branch.place(addresses(step.operands, p), addresses(step.results, p), static_cast<int>(p));
        });
        branch.run(call);
      });
  }

 private:
  using places_by_position = std::deque<loop_places>;

  Section& outer;
  const run_state& state;
  std::size_t count; ///< of devices

  template <class F> void for_each(const F& f) const {
    for (std::size_t p = 0; p < count; ++p) f(p);
  }
  device<api>& device_at(std::size_t position) const { return *outer.all.devices[position]; }
  template <class K>
  void launch(std::size_t position, K kernel, const launch_shape& shape, const typename K::arguments& arguments) const {
    const device<api>& on = device_at(position);
    on.activate();
    check(api::launch(kernel, shape, on.stream(), arguments), on.number);
  }
  /// A new condition for each device's graph.
  std::vector<graph_condition> conditions() const {
    std::vector<graph_condition> made(count);
    for_each([&](std::size_t p) {
      device_at(p).activate();
      check(api::create_condition(made[p], device_at(p).stream()), device_at(p).number);
    });
    return made;
  }
  /// Captures the work that `body` enqueues as the body of a node of each device's graph.
  template <class Body>
  void inside(conditional_kind kind, const std::vector<graph_condition>& by, const Body& body) const {
    std::deque<captured_body<api>> bodies;
    for_each([&](std::size_t p) {
      device_at(p).activate();
      bodies.emplace_back(device_at(p), kind, by[p]);
    });
    body();
    for_each([&](std::size_t p) { bodies[p].end(); });
  }

  /// The memory of a loop beside its bodies' slots.
  std::byte* control(std::size_t position) const { return outer.memory_of_bodies[position]; }
  std::int64_t* counter(std::size_t position) const { return reinterpret_cast<std::int64_t*>(control(position)); }

  places_by_position places_of(record_list<scan_operand> operands, record_list<scan_result> results) {
    places_by_position places;
    for_each([&](std::size_t p) {
      places.emplace_back(outer.section, operands, results,
                          [&](buffer_id id) { return outer.data(id, static_cast<int>(p)); });
    });
    return places;
  }
  bool any_alternates(record_list<scan_result> results) const {
    for (const scan_result& y : outer.section.plan[results])
      if (y.other != buffer_id::none && y.other != y.buffer) return true;
    return false;
  }
  recycled_vector<std::byte*> addresses(record_list<buffer_id> buffers, std::size_t position) {
    recycled_vector<std::byte*> found;
    for (buffer_id each : outer.section.plan[buffers]) found.push_back(outer.data(each, static_cast<int>(position)));
    return found;
  }
  /// Copies carries on a device.
  auto copy_on(std::size_t position, record_list<scan_result> results) const {
    return [this, position, results](std::byte* to, const std::byte* from, std::size_t number) {
      device<api>& on = device_at(position);
      copy_across<api>(on, to, on, from, outer.section.bytes_of(outer.section.plan[results][number].buffer));
    };
  }

  /// One slice of each stacked array, on a device: its address in the array, or that of a copy.
  class slice_places {
   public:
    slice_places(Section& section, const scan_step& step, std::size_t position, std::byte* memory)
        : reverse(step.reverse) {
      const plan_view& plan = section.section.plan;
      operand_count = index_of(step.operands.count);
      entries.resize(operand_count + index_of(step.results.count));
      for_each_stacked_array(plan, step, [&](const stacked_array& x) {
        const bool is_read = x.kind == buffer_kind::bound;
        const std::size_t bytes = capture_estimate::slice_bytes(section.section, x.buffer, x.slice_elements);
        entries[x.number + (is_read ? 0 : operand_count)] = {section.data(x.buffer, static_cast<int>(position)), memory,
                                                             bytes, is_read, x.in_place};
        if (!x.in_place) memory += aligned(bytes);
      });
    }
    /// Tells the body's runner which of its arguments and outputs move with the count.
    void move(Section& body, const std::int64_t* counted, int position) const {
      recycled_vector<std::int64_t> bytes;
      for (const entry& each : entries) bytes.push_back(each.moves ? each.step(reverse) : 0);
      const plain_span<const std::int64_t> all(bytes.data(), bytes.size());
      body.move(counted, all.first(operand_count), all.subspan(operand_count), position);
    }
    /// Sets the slices in place to those of the round `added` rounds behind the count.
    void go_to(std::int64_t added, std::int64_t rounds) {
      for (entry& each : entries)
        if (each.moves) each.place = each.stacked + (reverse ? rounds - 1 - added : added) * each.step(false);
    }
    /// Copies all slices that are read, or that are written.
    void copy(const captured_loops& loops, std::size_t position, bool is_read, copy_slices::arguments a) const {
      auto launch_some = [&] {
        if (a.tiles > 0)
          loops.launch(position, copy_slices{}, copy_slices::shape(a, loops.device_at(position).context()), a);
        a.pieces = 0;
        a.tiles = 0;
      };
      for (const entry& each : entries) {
        if (each.place == nullptr || each.moves || each.is_read != is_read || each.bytes == 0) continue;
        a.add(each.stacked, each.place, static_cast<std::uint32_t>(each.bytes), is_read);
        if (a.pieces == copy_slices::most_pieces) launch_some();
      }
      launch_some();
    }
    recycled_vector<std::byte*> arguments(const loop_places& places) const { return with(places.arguments(), 0); }
    recycled_vector<std::byte*> outputs(const loop_places& places) const {
      return with(places.outputs(), operand_count);
    }

   private:
    struct entry {
      std::byte* stacked = nullptr;
      std::byte* place = nullptr; ///< null if it is not stacked
      std::size_t bytes = 0;
      bool is_read = false;
      bool moves = false; ///< in place

      std::int64_t step(bool backwards) const {
        return backwards ? -static_cast<std::int64_t>(bytes) : static_cast<std::int64_t>(bytes);
      }
    };
    std::vector<entry> entries; ///< operands, then results; empty entries for those that are not stacked
    std::size_t operand_count = 0;
    bool reverse;

    recycled_vector<std::byte*> with(plain_span<std::byte* const> others, std::size_t first) const {
      recycled_vector<std::byte*> found;
      for (std::size_t k = 0; k < others.size(); ++k)
        found.push_back(entries[first + k].place != nullptr ? entries[first + k].place : others[k]);
      return found;
    }
  };
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
