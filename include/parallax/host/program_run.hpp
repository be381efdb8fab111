// One call of a compiled program on the host: its outermost block, and its sections on their devices.
#pragma once

#include <parallax/host/block_runner.hpp>
#include <parallax/host/device_pool.hpp>
#include <parallax/runtime/section_call.hpp>
#include <parallax/runtime/transfers.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace parallax::host {

/// One call of a program.
class program_run {
 public:
  program_run(const std::int64_t* whole, const kernel_function* functions,
              std::vector<parallax::detail::runtime_value> arguments)
      : table(whole),
        kernels(functions),
        values(std::move(arguments)),
        extents(whole, [&](std::size_t leaf) { return values[leaf].shape.data(); }) {
    parallax::detail::check_guards(table, extents);
    std::erase_if(values, [](const parallax::detail::runtime_value& value) { return !value.is_input; });
  }

  /// Runs the program; returns its outputs.
  std::vector<parallax::detail::runtime_value> run() {
    block_runner outermost(table, 0, extents, kernels, {});
    values.resize(static_cast<std::size_t>(outermost.table.value_count));
    outermost.values = &values;
    outermost.prepare(nullptr);
    outermost.run([this](parallax::detail::table_reader& r, block_runner& block) { call(r, block); });
    return parallax::detail::outermost_results(outermost.table, values, std::move(outermost.outputs));
  }

 private:
  const std::int64_t* table;
  const kernel_function* kernels;
  std::vector<parallax::detail::runtime_value> values;
  parallax::detail::resolved_extents extents;

  /// Runs a section on its devices.
  void call(parallax::detail::table_reader& r, block_runner& outer) {
    auto section = parallax::detail::section_call::read(table, r, extents, device_pool::instance().size(),
                                                        "set PARALLAX_HOST_DEVICES to have more");
    std::vector<std::vector<buffer>> inputs; // by operand, by position
    for (const auto& operand : section.operands) inputs.push_back(pieces_of(outer, section, operand));

    std::vector<std::vector<buffer>> outputs(section.devices.size());
    team& together = team_of(section.mesh, section.devices);
    auto body = [&](int position) {
      std::vector<const std::byte*> arguments;
      for (const auto& pieces : inputs) arguments.push_back(pieces[static_cast<std::size_t>(position)].data());
      block_runner block(table, section.block, extents, kernels, {&together, position});
      block.prepare(&arguments);
      block.run([](parallax::detail::table_reader&, block_runner&) {});
      outputs[static_cast<std::size_t>(position)] = std::move(block.outputs);
    };
    device_pool::instance().run(together, body);
    section.set_results(table, extents, values, std::move(outputs));
  }

  /// A team with this mesh. It is kept for the next call, which has often the same; no call begins inside another.
  static team& team_of(const std::vector<std::int64_t>& mesh, const std::vector<int>& devices) {
    thread_local std::unique_ptr<team> last;
    if (!last || !last->is_for(mesh, devices)) last = std::make_unique<team>(mesh, devices);
    return *last;
  }

  /// An operand's pieces by position: where they lie already if they lie so, otherwise copied there.
  std::vector<buffer> pieces_of(block_runner& outer, const parallax::detail::section_call& section,
                                const parallax::detail::section_operand& wanted) {
    if (outer.table.place_of(wanted.source) == parallax::detail::buffer_place::value) {
      const auto& value = values[static_cast<std::size_t>(outer.table.number_of(wanted.source))];
      if (section.in_place(value, wanted)) return value.pieces;
    }
    const std::byte* whole = outer.data(wanted.source);
    std::size_t bytes = outer.table.bytes_of(wanted.source);
    std::vector<buffer> pieces;
    if (wanted.spread.empty()) {
      // the host's devices share their memory: one copy serves all
      buffer copy = buffer::allocate(bytes);
      parallax::detail::copy_bytes(copy.data(), whole, bytes);
      parallax::detail::count_host_to_device(bytes * section.devices.size());
      pieces.assign(section.devices.size(), copy);
      return pieces;
    }
    for (std::size_t p = 0; p < section.devices.size(); ++p) {
      pieces.push_back(wanted.piece_of(whole, bytes, static_cast<std::int64_t>(p)));
      parallax::detail::count_host_to_device(pieces.back().bytes());
    }
    return pieces;
  }
};

} // namespace parallax::host
