// Loops and branches of a section: their bodies are enqueued by the host, round by round.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/runtime/loop_places.hpp>

#include <deque>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `Section` is the section's runner, which also runs the bodies; `how` is its state.
template <class Section, class Backend> class loop_steps {
 public:
  loop_steps(Section& section, Backend& of, const run_state& how) : outer(section), owner(of), state(how) {}

  /// All rounds, one after another.
  template <class Call> void run(const scan_step& step, Call call) {
    const scan_rounds rounds{outer.section.extents[step.count], step.reverse};
    places_by_position places = places_of(step);
    for_running([&](std::size_t p) { places[p].bring_in(rounds.count, copy_on(p, step)); });
    if (rounds.count == 0) for_running([&](std::size_t p) { places[p].copy_carries({.left = -1}, copy_on(p, step)); });
    Section body = outer.body_runner(step.body, state);
    body.place_slots();
    for (std::int64_t round = 0; round < rounds.count; ++round) {
      for_running([&](std::size_t p) {
        places[p].go_to(rounds[round]);
        body.place(places[p].arguments(), places[p].outputs(), static_cast<int>(p));
      });
      body.run(call);
    }
  }

  /// Runs rounds as long as the predicate holds, on each device by itself; the host waits for the predicate.
  template <class Call> void run(const while_step& step, Call call) {
    places_by_position places = places_of(step);
    for_running([&](std::size_t p) { places[p].bring_in(0, copy_on(p, step)); });
    run_state running = state.at({});
    std::vector<bool>& going = running.going;
    for (int p = 0; p < outer.all.size(); ++p) going.push_back(outer.runs_at(p));
    Section predicate = outer.body_runner(step.predicate, running), body = outer.body_runner(step.body, running);
    predicate.place_slots();
    body.place_slots();
    std::vector<loop_round> rounds(places.size());
    recycled_vector<buffer> answers;
    for (auto* each : outer.all.devices) answers.push_back(allocate<api>(*each, 1));
    while (true) {
      for_each_true(going, [&](std::size_t p) {
        std::byte* const answer = address_of<api>(answers[p]);
        places[p].go_to(rounds[p]);
        predicate.place(places[p].arguments(), {&answer, 1}, static_cast<int>(p));
      });
      predicate.run(call);
      for_each_true(going, [&](std::size_t p) {
        going[p] = value_from<std::byte>(p, address_of<api>(answers[p])) != std::byte{0};
      });
      if (!any(going)) break;
      for_each_true(going, [&](std::size_t p) {
        body.place(places[p].arguments(), places[p].outputs(), static_cast<int>(p));
        rounds[p].is_first = false;
        --rounds[p].left;
      });
      body.run(call);
    }
    for_running([&](std::size_t p) { places[p].copy_carries(rounds[p], copy_on(p, step)); });
  }

  /// Runs, on each device, the branch that its index chooses; the host waits for the index.
  template <class Call> void run(const cond_step& step, Call call) {
    std::vector<std::int32_t> chosen(outer.all.devices.size(), -1);
    for_running(
        [&](std::size_t p) { chosen[p] = value_from<std::int32_t>(p, outer.data(step.index, static_cast<int>(p))); });
    // all addresses are asked for, so that a graph has them whichever branch it takes
    std::vector<recycled_vector<std::byte*>> operands(outer.all.devices.size()), results(outer.all.devices.size());
    for_running([&](std::size_t p) {
      operands[p] = addresses(step.operands, p);
      results[p] = addresses(step.results, p);
    });
    std::int32_t number = 0;
    for (section_id each : outer.section.plan[step.branches]) {
      std::vector<bool> going;
      for (std::int32_t index : chosen) going.push_back(index == number);
      ++number;
      if (!any(going)) continue;
      const run_state running = state.at(going);
      Section branch = outer.body_runner(each, running);
      branch.place_slots();
      for_each_true(going, [&](std::size_t p) { branch.place(operands[p], results[p], static_cast<int>(p)); });
      branch.run(call);
    }
  }

 private:
  using api = typename Section::api;
  using places_by_position = std::deque<loop_places>;

  Section& outer;
  Backend& owner;
  const run_state& state;

  template <class Step> places_by_position places_of(const Step& step) {
    places_by_position places;
    for (int p = 0; p < outer.all.size(); ++p)
      places.emplace_back(outer.section, step.operands, step.results,
                          [&](buffer_id id) { return outer.runs_at(p) ? outer.data(id, p) : nullptr; });
    return places;
  }
  recycled_vector<std::byte*> addresses(record_list<buffer_id> buffers, std::size_t position) {
    recycled_vector<std::byte*> found;
    for (buffer_id each : outer.section.plan[buffers]) found.push_back(outer.data(each, static_cast<int>(position)));
    return found;
  }
  /// Copies carries on a device.
  template <class Step> auto copy_on(std::size_t position, const Step& step) {
    return [this, position, &step](std::byte* to, const std::byte* from, std::size_t number) {
      auto& on = *outer.all.devices[position];
      copy_across<api>(on, to, on, from, outer.section.bytes_of(outer.section.plan[step.results][number].buffer));
    };
  }
  /// A value that a device computes; waits for it.
  template <class T> T value_from(std::size_t position, const std::byte* address) {
    auto& on = *outer.all.devices[position];
    T value{};
    on.activate();
    on.host_copies.to_host(
        reinterpret_cast<std::byte*>(&value), address, sizeof value, owner.threads, [](const auto& wait) { wait(); },
        owner.waiting());
    return value;
  }

  static bool any(const std::vector<bool>& flags) {
    return plain::any_of(flags, [](bool each) { return each; });
  }
  template <class F> static void for_each_true(const std::vector<bool>& flags, const F& f) {
    for (std::size_t k = 0; k < flags.size(); ++k)
      if (flags[k]) f(k);
  }
  /// Calls `f` for each position that runs the section.
  template <class F> void for_running(const F& f) const {
    for (int p = 0; p < outer.all.size(); ++p)
      if (outer.runs_at(p)) f(static_cast<std::size_t>(p));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
