// Enqueues the steps of one section: on one device for the main one, on each device of its mesh for a mapped one.
#pragma once

#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_queue.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/cuda/run/placed_section.hpp>
#include <parallax/cuda/run/steps/capture_estimate.hpp>
#include <parallax/cuda/run/steps/captured_loops.hpp>
#include <parallax/cuda/run/steps/device_steps.hpp>
#include <parallax/cuda/run/steps/epilogue_steps.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/cuda/run/steps/loop_steps.hpp>
#include <parallax/cuda/run/steps/product_runner.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The kind of exchanges among these devices in a graph.
template <device_api Api> captured_exchange exchange_in_graph(const mesh<Api>& all) {
  if (all.is_alone()) return captured_exchange::copy;
  return all.is_one_of_each_process() ? captured_exchange::of_processes : captured_exchange::none;
}

template <device_api Api> class section_runner : public placed_section<Api> {
  using placed = placed_section<Api>;

 public:
  using api = Api;
  using call_function = function_ref<void(const mapped_section_step&, section_runner&)>;
  using placed::section, placed::all, placed::place_of, placed::addresses, placed::memory_of_bodies;
  using typename placed::value_function;

  section_runner(backend<Api>& of, const section_plan& run, const program_launchers<Api>& launchers, mesh<Api> devices,
                 const run_state& how, value_function values, std::vector<std::byte*> slot_memory = {})
      : placed(run, std::move(devices), values, std::move(slot_memory)),
        owner(of),
        launch(launchers),
        state(how),
        exchanges(of, all) {}
  section_runner(const section_runner&) = delete; // what is enqueued refers to its members
  section_runner& operator=(const section_runner&) = delete;

  void run(call_function call) {
    run_steps(section.steps(), call);
    exchanges.finish();
  }

  /// A buffer's first byte at a position, for work that is enqueued from now on: waits for exchanges that use the
  /// buffer.
  std::byte* data(buffer_id id, int position) {
    exchanges.need(id);
    return place_of(id, position);
  }

  /// Runs a loop at one position.
  void run_at(const kernel_step& step, int p) { device_steps(*this, launch).run_at(step, p); }

  // Bodies of loops and branches

  bool runs_at(int position) const { return state.runs_at(position); }
  int first_position() const { return state.first_position(); }
  /// Calls `f` with each position; `f` enqueues about `launches` launches.
  void run_at_positions(std::size_t launches, function_ref<void(int)> f) const {
    if (!state.is_captured() && launches * index_of(all.size()) >= least_launches)
      return owner.threads.run(all.size(), f);
    for (int p = 0; p < all.size(); ++p) f(p);
  }
  /// A runner of a body on the same devices, with the memory for bodies from byte `behind` on. It reads `how` at each
  /// run.
  section_runner body_runner(section_id body, const run_state& how, std::size_t behind = 0) const {
    std::vector<std::byte*> memory = memory_of_bodies;
    for (std::byte*& each : memory) each += behind;
    return {*this, body, how, std::move(memory)};
  }

 private:
  /// For a body, all of whose values have addresses.
  struct all_are_placed {
    std::byte* operator()(std::size_t, int) const { return nullptr; }
  };
  static constexpr all_are_placed all_placed{};

  section_runner(const section_runner& whole, section_id body, const run_state& how,
                 std::vector<std::byte*> slot_memory)
      : section_runner(whole.owner, {whole.section.plan, body, whole.section.extents}, whole.launch, whole.all, how,
                       all_placed, std::move(slot_memory)) {}

  backend<Api>& owner;
  const program_launchers<Api>& launch;
  const run_state& state;
  epilogue_steps<Api> epilogues;
  std::vector<const step_record*> apart; ///< steps that are to be enqueued next
  exchange_queue<Api> exchanges;

  struct step_runner {
    section_runner& self;
    call_function call;

    void operator()(const kernel_step& step) const { self.run_everywhere(step); }
    void operator()(const product_step& step) const { product_runner(self).run(step); }
    void operator()(const epilogue_step& step) const {
      if (!self.state.runs_everywhere() || !self.run_epilogue(step)) run_parts(step);
    }
    void operator()(const accumulation_step& step) const {
      if (product_runner(self).accumulates(step)) self.run_everywhere(step);
      else run_parts(step);
    }
    void operator()(const placed_product_step& step) const {
      if (!self.state.runs_everywhere() || !product_runner(self).run_placed(step)) run_parts(step);
    }
    void operator()(const launch_batch_step& step) const { self.run_everywhere(step); }
    void operator()(const exchange_step& step) const {
      if (self.all.is_alone()) self.run_alone(step);
      else self.add_exchange(step);
    }
    void operator()(const axis_slice_step& step) const { self.run_everywhere(step); }
    void operator()(const ffi_step& step) const { device_steps(self, self.launch).run(step); }
    void operator()(const mapped_section_step& step) const { call(step, self); }
    void operator()(const scan_step& step) const { self.run_loop(step, call); }
    void operator()(const cond_step& step) const { self.run_loop(step, call); }
    void operator()(const while_step& step) const { self.run_loop(step, call); }

   private:
    template <class Step> void run_parts(const Step& step) const {
      self.run_steps(self.section.plan[step.parts], call);
    }
  };
  /// The body has collectives of its own, which run behind the waiting ones.
  template <class Step> void run_loop(const Step& step, call_function call) {
    if constexpr (!std::is_same_v<Step, cond_step>)
      if (launch.whole.have(section.plan, step)) return device_steps(*this, launch).run_whole(step);
    exchanges.finish();
    if (state.decides && !is_unrolled(step)) captured_loops(*this, state).run(step, call);
    else loop_steps(*this, owner, state).run(step, call);
  }
  bool is_unrolled(const scan_step& step) const { return capture_estimate::is_unrolled(section, step, conditions()); }
  capture_conditions conditions() const {
    return {exchange_in_graph(all), true, owner.options.deterministic, launch.whole};
  }
  static bool is_unrolled(const while_step&) { return false; }
  static bool is_unrolled(const cond_step&) { return false; }

  void run_steps(plain_span<const step_record> list, call_function call) {
    const bool shares = !state.is_captured() && all.size() > 1 && owner.threads.size() > 1;
    for (const step_record& step : list) {
      const bool is_exchange = step.kind == step_kind::exchange;
      if (!state.is_captured() && exchanges.may_start_aside() && !is_exchange && !wants_waiting(step)) {
        run_apart();
        exchanges.start_aside();
      }
      if (!state.is_captured()) owner.note_step();
      if (shares && is_apart(step)) {
        add_apart(step);
      } else {
        run_apart();
        visit_step(section.plan, step, step_runner{*this, call});
      }
    }
    run_apart();
  }

  // Steps that each device does by itself, up to the next one in which they meet: by several threads of the host

  /// Waking threads costs as much as some launches.
  static constexpr std::size_t least_launches = 12;

  bool is_apart(const step_record& step) {
    switch (step.kind) {
    case step_kind::kernel:
    case step_kind::launch_batch:
    case step_kind::product:
    case step_kind::axis_slice: return true;
    case step_kind::accumulation:
      return product_runner(*this).accumulates(section.plan.template at<accumulation_step>(step.index));
    case step_kind::epilogue:
    case step_kind::placed_product:
    case step_kind::exchange:
    case step_kind::mapped_section:
    case step_kind::ffi:
    case step_kind::scan:
    case step_kind::cond:
    case step_kind::while_loop: return false;
    }
    return false;
  }
  void add_apart(const step_record& step) {
    visit_buffers(section.plan, step, [&](buffer_id id) {
      if (!exchanges.orders(id)) return;
      run_apart(); // goes first, as it does not wait
      exchanges.need(id);
    });
    apart.push_back(&step);
  }
  void run_apart() {
    if (apart.empty()) return;
    const auto steps = std::exchange(apart, {});
    const auto run_at = [&](int p) {
      if (!runs_at(p)) return;
      for (const step_record* step : steps) visit_step(section.plan, *step, apart_runner{*this, p});
    };
    run_at_positions(steps.size(), run_at);
  }
  struct apart_runner {
    section_runner& self;
    int position;

    void operator()(const kernel_step& step) const { self.run_at(step, position); }
    void operator()(const launch_batch_step& step) const { self.run_at(step, position); }
    void operator()(const product_step& step) const { self.run_at(step, position); }
    void operator()(const accumulation_step& step) const { self.run_at(step, position); }
    void operator()(const axis_slice_step& step) const { self.run_at(step, position); }
    // not apart: see `is_apart`
    void operator()(const epilogue_step&) const {}
    void operator()(const placed_product_step&) const {}
    void operator()(const exchange_step&) const {}
    void operator()(const mapped_section_step&) const {}
    void operator()(const ffi_step&) const {}
    void operator()(const scan_step&) const {}
    void operator()(const while_step&) const {}
    void operator()(const cond_step&) const {}
  };
  void add_exchange(const exchange_step& step) {
    for (int p = 0; p < all.size(); ++p)
      if (runs_at(p)) data(step.source, p), data(step.result, p);
    const int first = first_position();
    exchanges.add(runner_of(step), step.result, {data(step.source, first), section.bytes_of(step.source)},
                  {data(step.result, first), section.bytes_of(step.result)});
  }
  exchange_runner<Api> runner_of(const exchange_step& step) {
    return {owner, all, section, step, addresses(step.source), addresses(step.result), state};
  }
  /// Whether a step needs a result of a waiting exchange.
  bool wants_waiting(const step_record& step) const {
    bool wants = step.kind == step_kind::mapped_section;
    visit_buffers(section.plan, step, [&](buffer_id id) { wants = wants || exchanges.makes(id); });
    return wants;
  }

  /// An exchange that is a copy on each device, and waits for no other device.
  void run_alone(const exchange_step& step) {
    for (int p = 0; p < all.size(); ++p) data(step.source, p), data(step.result, p);
    runner_of(step).run_without_nccl();
  }
  /// A step at each position that runs it.
  template <class Step> void run_everywhere(const Step& step) {
    for (int p = 0; p < all.size(); ++p)
      if (runs_at(p)) run_at(step, p);
  }

  bool run_epilogue(const epilogue_step& epilogue) {
    const step_record first = section.plan[epilogue.parts][0]; // the product
    return epilogues.run(
        all, section, epilogue, section.plan.template at<product_step>(first.index),
        [&](buffer_id id, int p) { return data(id, p); },
        [this](function_ref<void(int)> f) { run_at_positions(2, f); });
  }

  void run_at(const launch_batch_step& step, int p) { device_steps(*this, launch).run_at(step, p); }
  void run_at(const axis_slice_step& step, int p) { device_steps(*this, launch).run_at(step, p); }
  void run_at(const product_step& step, int p) { product_runner(*this).run_at(step, p); }
  void run_at(const accumulation_step& step, int p) { product_runner(*this).run_at(step, p); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
