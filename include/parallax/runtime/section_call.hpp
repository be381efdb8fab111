// A call of a section: on which devices it runs, how its operands are spread over them, and what its results are.
#pragma once

#include <parallax/arrays/memory/host_part.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/arrays/memory/slices.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/process_mesh.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/section_plan.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// A dimension of an operand that lies along an axis of the mesh, and the number of elements before it.
struct spread_axis {
  int dimension;
  std::int64_t size;        ///< of the mesh axis
  std::int64_t mesh_stride; ///< the one at place p has the index p / mesh_stride % size
  std::int64_t before;

  std::int64_t index_at(std::int64_t place) const { return place / mesh_stride % size; }
};

struct section_operand {
  buffer_id source = buffer_id::none;  ///< of the calling section
  recycled_vector<spread_axis> spread; ///< by dimension, the first one first

  /// The bytes of a piece of `whole_bytes` bytes.
  std::size_t piece_bytes(std::size_t whole_bytes) const {
    for (const spread_axis& s : spread) whole_bytes /= index_of(s.size);
    return whole_bytes;
  }
  /// The piece of a place, in the array of `bytes` bytes at `whole`; none unless it consists of rows that lie equally
  /// far apart.
  std::optional<host_part> part_of(const std::byte* whole, std::size_t bytes, std::int64_t place) const {
    host_part part = host_part::whole(whole, bytes);
    if (bytes == 0) return part;
    // the last dimension first, so that those before it keep their sizes
    for (std::size_t i = spread.size(); i-- > 0;) {
      const spread_axis& s = spread[i];
      if (s.size == 1) continue;
      const std::size_t index = index_of(s.index_at(place)), size = index_of(s.size), before = index_of(s.before);
      if (part.rows == 1) {
        const std::size_t slice = part.row_bytes / (before * size);
        part = {part.first + index * slice, before, slice, before == 1 ? slice : slice * size};
      } else if (before == 1) {
        part.rows /= size;
        part.first += index * part.rows * part.pitch;
        if (part.rows == 1) part.pitch = part.row_bytes;
      } else {
        return std::nullopt;
      }
    }
    return part;
  }
  /// Copies the piece of a place out of the array of `bytes` bytes at `whole`.
  buffer piece_of(const std::byte* whole, std::size_t bytes, std::int64_t place) const {
    buffer piece;
    // the last dimension first, so that those before it keep their sizes
    for (std::size_t i = spread.size(); i-- > 0;) {
      const spread_axis& s = spread[i];
      bytes /= index_of(s.size);
      buffer next = buffer::allocate(bytes);
      std::size_t inner = s.before == 0 ? 0 : bytes / index_of(s.before);
      copy_slice_out(whole, next.data(), s.before, s.size, inner, s.index_at(place));
      piece = std::move(next);
      whole = piece.data();
    }
    return piece;
  }
};

/// A call of a section on this process' devices. Its arrays have an index along each axis of `mesh`. If the process has
/// pieces for some of these indices only, their places follow each other from `first_place` on.
struct section_call {
  section_id section = section_id::main;
  recycled_vector<std::int64_t> mesh; ///< how many indices arrays have along its axes
  recycled_vector<std::int64_t> here; ///< how many of them this process has
  std::int64_t first_place = 0;       ///< where in `mesh` this process' begin
  recycled_vector<int> devices;       ///< by position
  recycled_vector<section_operand> operands;
  plain_span<const value_id> results;

  std::int64_t mesh_stride(mesh_axis axis) const {
    std::int64_t stride = 1;
    for (std::size_t m = index_of(axis) + 1; m < mesh.size(); ++m) stride *= mesh[m];
    return stride;
  }
  std::int64_t mesh_size(mesh_axis axis) const { return mesh[index_of(axis)]; }

  /// The place, among an array's pieces, of the piece for a position.
  std::int64_t place_of(std::size_t position) const { return first_place + static_cast<std::int64_t>(position); }

  /// A call that may use `available` devices. `whole` is the mesh of all processes; null if this process is by itself.
  /// Throws `shape_error` if the devices do not fit; `remedy` says how to have more devices.
  section_call(const plan_view& plan, const mapped_section_step& step, const resolved_extents& extents,
               const processes::process_mesh* whole, int available, const char* remedy)
      : section(step.section),
        mesh(section_plan(plan, section, extents).mesh()),
        here(mesh),
        results(plan[step.results]) {
    if (whole != nullptr) lie_in(whole->part());
    for (const mapped_operand& given : plan[step.operands]) {
      section_operand& operand = operands.emplace_back();
      operand.source = given.buffer;
      for (const spread_dimension& s : plan[given.spread])
        operand.spread.push_back({s.dimension, mesh_size(s.over), mesh_stride(s.over), extents[s.before]});
      plain::sort_few(operand.spread,
                      [](const spread_axis& a, const spread_axis& b) { return a.dimension < b.dimension; });
    }
    choose_devices(plan[step.devices], available, remedy);
  }

  /// Whether a value's pieces lie as an operand wants them.
  bool in_place(const runtime_value& value, const section_operand& operand) const {
    if (value.devices.empty() || value.devices != devices) return false;
    return plain::equal(value.axes, operand.spread, [](const shard_axis& a, const spread_axis& s) {
      return a == shard_axis{s.dimension, s.size, s.mesh_stride};
    });
  }

  /// Calls `f(result, operand)` for each result that takes the memory of a donated argument, if the argument's pieces
  /// lie as the operand needs them.
  template <class F>
  void for_each_taken(const plan_view& plan, const recycled_vector<runtime_value>& values, given_memory given,
                      const F& f) const {
    const plain_span<const output_record> outputs = plan[plan.section(section_id::main).outputs];
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const int argument = given.donor_of(k);
      if (argument < 0 || !values[index_of(argument)].is_donated) continue;
      const auto result = plain::find(results, outputs[k].value);
      if (result == results.end()) continue;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const buffer_record& source = plan[plan.section(section_id::main).buffers][index_of(operands[i].source)];
        if (source.kind == buffer_kind::bound && source.number == argument &&
            in_place(values[index_of(argument)], operands[i]))
          f(index_of(result - results.begin()), i);
      }
    }
  }

  /// Describes the section's results: `pieces` by position, by result.
  void set_results(const section_plan& called, recycled_vector<runtime_value>& values,
                   recycled_vector<recycled_vector<buffer>>&& pieces) const {
    for (std::size_t k = 0; k < results.size(); ++k) {
      const output_record& output = called.outputs()[k];
      runtime_value& value = values[index_of(results[k])];
      value = {};
      value.type = output.described.type;
      value.shape = called.resolved(output.described.shape);
      for (const spread_dimension& s : called.plan[output.spread])
        value.axes.push_back({s.dimension, mesh_size(s.over), mesh_stride(s.over)});
      // the piece's shape with the spread dimensions back in, outermost last to first
      plain::sort_few(value.axes, [](const shard_axis& a, const shard_axis& b) { return a.axis < b.axis; });
      for (const shard_axis& a : value.axes) value.shape.insert(a.axis, a.size);
      value.devices = devices;
      for (auto& of_position : pieces) value.pieces.push_back(std::move(of_position[k]));
    }
  }

 private:
  void lie_in(const processes::mesh_part& part) {
    if (!part.fits())
      throw shape_error("shard_map: the " + std::to_string(part.size()) +
                        " devices of this process are not indices along the axes of the mesh; use another mesh, or "
                        "other numbers of devices");
    for (int axis = 0; axis < part.rank(); ++axis) here[index_of(axis)] = part[axis].here;
    // arrays begin with the first row of the mesh, or with the first one that this process has
    const std::int64_t rows_before = mesh[0] == part[0].all ? 0 : part[0].first;
    first_place = part.begin() - rows_before * mesh_stride(mesh_axis::outermost);
  }
  void choose_devices(plain_span<const int> given, int available, const char* remedy) {
    std::int64_t count = 1;
    for (std::int64_t size : here) count *= size;
    if (!given.empty()) {
      const auto given_count = std::ssize(given);
      if (mesh[0] != given_count)
        throw shape_error("Leading axis size of input to pmapped function must equal the number of local devices "
                          "passed to pmap. Got axis_size=" +
                          std::to_string(mesh[0]) + ", num_local_devices=" + std::to_string(given_count) + ".");
      if (count != given_count)
        throw shape_error("pmapped function requires " + std::to_string(count) +
                          " local devices to run due to nested pmapped or other parallel functions, but only " +
                          std::to_string(given_count) + " are available. (outer axis size: " + std::to_string(mesh[0]) +
                          ")");
      devices.assign(given.begin(), given.end());
    } else {
      if (count > available)
        throw shape_error("compiling computation that requires " + std::to_string(count) +
                          " logical devices, but only " + std::to_string(available) +
                          " devices are available (num_replicas=" + std::to_string(count) + "); " + remedy);
      for (int i = 0; i < count; ++i) devices.push_back(i);
    }
    if (count == 0) throw shape_error("pmap: the mapped axis has extent 0; map at least one element");
  }
};

/// The results of a program's main section. `outputs` are the buffers of all results that are no values.
inline recycled_vector<runtime_value> main_results(const section_plan& section,
                                                   const recycled_vector<runtime_value>& values,
                                                   recycled_vector<buffer>&& outputs) {
  recycled_vector<runtime_value> results;
  results.reserve(outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const output_record& output = section.outputs()[k];
    if (output.value != value_id::none) {
      results.push_back(values[index_of(output.value)]);
      continue;
    }
    runtime_value& value = results.emplace_back();
    value.type = output.described.type;
    value.shape = section.resolved(output.described.shape);
    value.on_host = true;
    value.host = std::move(outputs[k]);
  }
  return results;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
