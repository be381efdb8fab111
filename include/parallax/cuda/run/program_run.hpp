// One call of a compiled program on CUDA devices: everything is enqueued, and nothing waited for.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/graph_run.hpp>
#include <parallax/cuda/run/memory_need.hpp>
#include <parallax/cuda/run/section_runner.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/runtime/agreement/agreed_call.hpp>
#include <parallax/runtime/guard_message.hpp>
#include <parallax/runtime/section_call.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The main section runs on device 0, the others on the devices that they are mapped to.
template <device_api Api> class program_run {
 public:
  program_run(const plan_view& whole, const program_launchers<Api>& launchers, recycled_vector<runtime_value> arguments)
      : plan(whole),
        kernels(launchers),
        values(std::move(arguments)),
        calls(calls_held(whole)),
        agreed(whole, {"CUDA devices", order_of_sums()}, values,
               [] { return backend<Api>::instance().device_count(); }),
        extents(agreed.extents_of(whole, values)) {
    agreed.meet(plan);
    check_guards(plan, extents);
    std::erase_if(values, [](const runtime_value& value) { return !value.is_input; });
  }

  /// Runs the program; its outputs stay on the devices, in the memory there that is lent for them. Throws errors of the
  /// devices' calls, `shape_error`, and `out_of_memory`.
  recycled_vector<runtime_value> run(given_memory given = {}) {
    return agreed.or_fail([&] { return run_here(given); });
  }

 private:
  using runner = section_runner<Api>;
  static std::string_view order_of_sums() {
    return backend<Api>::instance().options.deterministic ? "with PARALLAX_DETERMINISTIC=1" : "";
  }

  /// Holds this process' calls: a user's function runs while the backend is locked, and may call programs that other
  /// processes run too.
  static std::unique_lock<std::recursive_mutex> calls_held(const plan_view& plan) {
    processes::world* const all = processes::current_world();
    if (all == nullptr || all->count() == 1 || plan.all<ffi_step>().empty()) return {};
    return all->hold_calls();
  }

  const plan_view& plan;
  const program_launchers<Api>& kernels;
  recycled_vector<runtime_value> values;
  std::unique_lock<std::recursive_mutex> calls;
  agreed_call agreed;
  resolved_extents extents;
  backend<Api>* owner = nullptr;
  device<Api>* home = nullptr;
  /// The last section that was called, and its devices; the main section if none was.
  section_id called = section_id::main;
  recycled_vector<int> called_devices;
  std::optional<small_values<Api>> small_arguments;      ///< on device 0
  std::vector<std::optional<std::size_t>> small_numbers; ///< by value: its number among the small arguments

  recycled_vector<runtime_value> run_here(given_memory given) {
    std::lock_guard lock(backend<Api>::mutex());
    kept_failure::check_kept();
    owner = &backend<Api>::instance();
    try {
      if (given.empty()) return run_main(given);
      check_given(given, plan, extents, [this](std::size_t value) { return address_of_argument(value); });
      recycled_vector<runtime_value> results = run_main(given);
      for (std::size_t k = 0; k < given.size(); ++k) copy_into(given[k], results[k]);
      return results;
    } catch (const out_of_memory& failure) {
      if (failure.device() < 0) throw;
      throw failure.with("; the program needs " + need_on(failure.device()).text());
    }
  }

  section_plan section_at(section_id id) const { return {plan, id, extents}; }

  /// The address of an argument, on the host or a device; null if it is in pieces.
  const std::byte* address_of_argument(std::size_t number) const {
    const runtime_value& value = values[number];
    if (!value.on_host) return nullptr;
    return value.host.on_device() == nullptr ? value.host.data() : address_of<Api>(value.host);
  }

  /// Copies a result to memory that is lent for it on a device, unless it is there already.
  void copy_into(const result_memory& given, runtime_value& result) {
    allocation<Api>* const memory = allocation_of<Api>(given.on_device);
    if (memory == nullptr) return;
    const buffer& whole = at_home(result);
    if (address_of<Api>(whole) != memory->address())
      copy_across<Api>(memory->home, memory->address(), *home, address_of<Api>(whole), result.bytes());
  }

  recycled_vector<runtime_value> run_main(given_memory given) {
    home = &owner->device_at(0);
    const section_plan main = section_at(section_id::main);
    const mesh<Api> here({}, {home});
    const memory_taken taken = taken_by_main(main, given);
    graph_run<Api> graphs(*owner, main, section_id::main, here, taken);
    const auto source_of = [this](std::size_t number, int) { return source_at_home(values[number]); };
    if (or_settle([&] { return graphs.prepare(source_of, given) && graphs.run(kernels, given); }))
      return main_results(main, values, std::move(graphs.outputs[0]));
    auto value_at = [this](std::size_t number, int) { return address_at_home(number); };
    runner running(*owner, main, kernels, here, value_at);
    values.resize(index_of(main.section.value_count));
    running.outputs = std::move(graphs.outputs);
    running.prepare(given);
    if (taken.any()) given.begin_to_take();
    or_settle([&] { running.run([&](const call_step& step, runner& caller) { call(step, caller, given); }); });
    graphs.note(running);
    return main_results(main, values, std::move(running.outputs[0]));
  }

  /// The memory of donated arguments that the main section's results take.
  memory_taken taken_by_main(const section_plan& main, given_memory given) const {
    memory_taken all(1, main.outputs().size());
    for (std::size_t k = 0; k < all.by_position[0].size(); ++k) {
      const int argument = given.donor_of(k);
      if (argument < 0 || main.outputs()[k].value != value_id::none) continue;
      const runtime_value& value = values[index_of(argument)];
      if (!value.is_given_away || !value.on_host) continue;
      all.by_position[0][k] = taken_on(*home, value.host);
    }
    return all;
  }
  /// Donated memory, if it lies on this device; otherwise null.
  static buffer taken_on(const device<Api>& on, const buffer& memory) {
    const allocation<Api>* const here = allocation_of<Api>(memory);
    if (here == nullptr || &here->home != &on) return {};
    memory.forget_copies();
    return memory;
  }

  /// The memory that the running sections need on a device.
  memory_need need_on(int number) const {
    memory_need need;
    if (number == 0) need += memory_need::of(section_at(section_id::main));
    if (plain::contains(called_devices, number)) need += memory_need::of(section_at(called));
    return need;
  }

  /// Runs a section by `run()`. If that fails, waits until no device uses its memory, before that is released: the
  /// devices' order may not have been enqueued.
  template <class Run> auto or_settle(Run run) {
    try {
      return run();
    } catch (...) {
      owner->settle();
      throw;
    }
  }

  /// The address of a value's elements for a graph of device 0.
  argument_source source_at_home(runtime_value& value) {
    if (!value.on_host && !lies_here(value.pieces)) value.host_data();
    if (value.on_host && allocation_of<Api>(value.host) == nullptr && !becomes_kept(value.host, value.bytes()))
      return {value.host.data(), true};
    return {address_of<Api>(at_home(value)), false};
  }

  /// The address of a value's elements on device 0; copies them there at the first call.
  std::byte* address_at_home(std::size_t number) {
    if (!is_small(values[number])) return address_of<Api>(at_home(values[number]));
    if (!small_arguments) send_small_arguments();
    return small_arguments->address(*small_numbers[number]);
  }
  static bool is_small(const runtime_value& value) {
    return value.on_host && value.host.on_device() == nullptr && small_values<Api>::takes(value.bytes());
  }
  void send_small_arguments() {
    small_arguments.emplace(*home);
    small_numbers.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_small(values[i])) small_numbers[i] = small_arguments->add(values[i].host.data(), values[i].bytes());
    small_arguments->send();
  }

  /// A value's elements in one buffer on device 0, where they are kept for the rest of the call.
  const buffer& at_home(runtime_value& value) {
    if (!value.on_host && !value.devices.empty() && lies_here(value.pieces)) {
      value.host = gathered(value);
      value.on_host = true;
    }
    if (!value.on_host) value.host_data(); // of another backend
    if (allocation<Api>* memory = allocation_of<Api>(value.host)) {
      if (&memory->home != home) value.host = moved(*home, value.host);
    } else if (value.host.bytes() > 0) {
      value.host = uploaded<Api>(*home, value.host, host_part::whole(value.host.data(), value.bytes()));
    }
    return value.host;
  }
  /// Whether a copy of the host's bytes should be kept: not if they are sent for the first time, perhaps also the last.
  static bool becomes_kept(const buffer& memory, std::size_t bytes) {
    return memory.may_keep_copies() && !small_values<Api>::takes(bytes) && memory.note_sent();
  }
  static bool lies_here(const recycled_vector<buffer>& pieces) {
    for (const buffer& piece : pieces)
      if (piece.bytes() > 0 && allocation_of<Api>(piece) == nullptr) return false;
    return true;
  }
  /// A copy of a device's buffer on another device.
  buffer moved(device<Api>& to, const buffer& from) const {
    buffer copy = allocate<Api>(to, from.bytes());
    if (allocation<Api>* memory = allocation_of<Api>(from))
      copy_across<Api>(to, address_of<Api>(copy), memory->home, memory->address(), from.bytes());
    return copy;
  }

  /// The pieces of a value put together on device 0.
  buffer gathered(const runtime_value& value) const {
    check_all_pieces(value.axes, value.pieces.size());
    buffer whole = allocate<Api>(*home, value.bytes());
    if (value.bytes() == 0) return whole;
    recycled_vector<spread_axis> spread;
    const plain_span<const std::int64_t> shape(value.shape);
    for (const shard_axis& a : value.axes)
      spread.push_back({a.axis, a.size, a.device_stride, product(shape.first(index_of(a.axis)))});
    for (std::int64_t number = 0; number < piece_count(value.axes); ++number) {
      const std::int64_t position = position_of_piece(value.axes, number);
      buffer piece = value.pieces[index_of(position)];
      if (&allocation_of<Api>(piece)->home != home) piece = moved(*home, piece);
      copy_piece<direction::into_whole>(spread, position, value.bytes(), address_of<Api>(whole),
                                        address_of<Api>(piece));
    }
    return whole;
  }

  enum class direction { into_whole, out_of_whole };

  /// Copies, on device 0, between a whole array and its piece for a position: rows of the last spread dimension at
  /// once, for each index of the dimensions before it.
  template <direction Direction>
  void copy_piece(plain_span<const spread_axis> spread, std::int64_t position, std::size_t whole_bytes,
                  std::byte* whole, std::byte* piece) const {
    if (spread.empty()) {
      auto [to, from] = Direction == direction::into_whole ? std::pair(whole, piece) : std::pair(piece, whole);
      return copy_across<Api>(*home, to, *home, from, whole_bytes);
    }
    const spread_axis& first = spread.front();
    const auto rows = index_of(first.before), size = index_of(first.size);
    const std::size_t row = whole_bytes / rows, slice = row / size;
    std::byte* at = whole + index_of(first.index_at(position)) * slice;
    if (spread.size() == 1) {
      return Direction == direction::into_whole ? home->copy_rows(at, row, piece, slice, slice, rows)
                                                : home->copy_rows(piece, slice, at, row, slice, rows);
    }
    recycled_vector<spread_axis> rest(spread.begin() + 1, spread.end());
    for (auto& axis : rest) axis.before /= first.before * first.size;
    std::size_t piece_row = slice;
    for (const auto& axis : rest) piece_row /= index_of(axis.size);
    for (std::size_t i = 0; i < rows; ++i)
      copy_piece<Direction>(rest, position, slice, at + i * row, piece + i * piece_row);
  }

  /// Runs a section on its devices.
  void call(const call_step& step, runner& caller, given_memory given) {
    const section_call section(plan, step, extents, agreed.mesh_of(step.section), owner->device_count(),
                               "set PARALLAX_CUDA_DEVICES_PER_GPU to have more");
    called = section.section;
    called_devices = section.devices;
    const section_plan mapped = section_at(section.section);
    std::vector<device<Api>*> devices;
    for (int number : section.devices) devices.push_back(&owner->device_at(number));
    std::vector<operand_pieces> inputs;
    for (const auto& operand : section.operands) inputs.push_back(pieces_of(caller, section, operand, devices));
    const mesh<Api> all(section.here, devices, agreed.mesh_of(section.section));
    if (all.is_divided_twice()) or_settle([&] { make_cliques(*owner, plan, all, section.section); });
    memory_taken taken(devices.size(), section.results.size());
    section.for_each_taken(plan, values, given, [&](std::size_t result, std::size_t operand) {
      if (inputs[operand].on_host) return;
      for (std::size_t p = 0; p < devices.size(); ++p)
        taken.by_position[p][result] = taken_on(*devices[p], inputs[operand].pieces[p]);
    });
    graph_run<Api> graphs(*owner, mapped, section.section, all, taken);
    const auto source_of = [&](std::size_t number, int position) -> argument_source {
      const buffer& piece = inputs[number].pieces[index_of(position)];
      if (inputs[number].on_host) return {piece.data(), true};
      return {address_of<Api>(piece), false};
    };
    if (or_settle([&] { return graphs.prepare(source_of, {}) && graphs.run(kernels, given); })) {
      section.set_results(mapped, values, std::move(graphs.outputs));
      return;
    }
    std::deque<small_values<Api>> small; // by position
    for (device<Api>* each : devices) small.emplace_back(*each);
    for (operand_pieces& each : inputs)
      for (std::size_t p = 0; each.on_host && p < devices.size(); ++p)
        each.small_number = small[p].add(each.pieces[p].data(), each.pieces[p].bytes());
    for (auto& each : small) each.send();
    auto value_at = [&](std::size_t number, int position) {
      const operand_pieces& of = inputs[number];
      const auto p = index_of(position);
      return of.on_host ? small[p].address(of.small_number) : address_of<Api>(of.pieces[p]);
    };
    runner running(*owner, mapped, kernels, all, value_at);
    running.outputs = std::move(graphs.outputs);
    running.prepare();
    if (taken.any()) given.begin_to_take();
    or_settle([&] { running.run([](const call_step&, runner&) {}); });
    graphs.note(running);
    section.set_results(mapped, values, std::move(running.outputs));
  }

  /// An operand of a section: its pieces by position, on their devices, or all on the host if they are small.
  struct operand_pieces {
    recycled_vector<buffer> pieces;
    bool on_host = false;
    std::size_t small_number = 0; ///< among each device's small values
  };

  /// An operand's pieces: the value's own pieces if they lie as the operand needs them, otherwise copies on the
  /// devices. Small pieces stay on the host.
  operand_pieces pieces_of(runner& caller, const section_call& section, const section_operand& wanted,
                           const std::vector<device<Api>*>& devices) {
    const buffer_record& source = caller.section.buffer_at(wanted.source);
    const std::size_t bytes = caller.section.bytes_of(source);
    recycled_vector<buffer> pieces;
    if (source.kind == buffer_kind::value) {
      auto& value = values[index_of(source.number)];
      if (section.in_place(value, wanted) && lies_here(value.pieces)) return {value.pieces};
      const bool on_host = value.on_host && allocation_of<Api>(value.host) == nullptr;
      if (on_host || (!value.on_host && !lies_here(value.pieces))) {
        value.host_data();
        const bool small = small_values<Api>::takes(wanted.piece_bytes(bytes));
        for (std::size_t p = 0; p < devices.size(); ++p) {
          const auto place = section.place_of(p);
          if (const auto part = wanted.part_of(value.host.data(), bytes, place); part && !small) {
            pieces.push_back(uploaded<Api>(*devices[p], value.host, *part));
            continue;
          }
          buffer piece = value.host;
          if (!wanted.spread.empty()) piece = wanted.piece_of(value.host.data(), bytes, place);
          pieces.push_back(small ? piece : upload<Api>(*devices[p], piece.data(), piece.bytes()));
        }
        return {std::move(pieces), small};
      }
    }
    std::byte* whole = caller.data(wanted.source, 0);
    for (std::size_t p = 0; p < devices.size(); ++p) {
      if (wanted.spread.empty()) {
        pieces.push_back(allocate<Api>(*devices[p], bytes));
        copy_across<Api>(*devices[p], address_of<Api>(pieces.back()), *home, whole, bytes);
        continue;
      }
      buffer piece = allocate<Api>(*home, wanted.piece_bytes(bytes));
      if (piece.bytes() > 0) {
        copy_piece<direction::out_of_whole>(wanted.spread, section.place_of(p), bytes, whole, address_of<Api>(piece));
        if (devices[p] != home) piece = moved(*devices[p], piece);
      }
      pieces.push_back(std::move(piece));
    }
    return {std::move(pieces)};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
