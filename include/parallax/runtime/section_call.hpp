// A call of a section: on which devices it runs, how its operands are spread over them, and what its results are.
#pragma once

#include <parallax/runtime/block_table.hpp>
#include <parallax/runtime/slices.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace parallax::detail {

/// A dimension of an operand that lies along an axis of the mesh, and the number of elements before it.
struct spread_axis {
  int dimension;
  std::int64_t size;        ///< of the mesh axis
  std::int64_t mesh_stride; ///< the one at position p has the index p / mesh_stride % size
  std::int64_t before;

  std::int64_t index_at(std::int64_t position) const { return position / mesh_stride % size; }
};

struct section_operand {
  std::int64_t source;             ///< a buffer of the calling block
  std::vector<spread_axis> spread; ///< by dimension, the first one first

  /// The bytes of a piece of `whole_bytes` bytes.
  std::size_t piece_bytes(std::size_t whole_bytes) const {
    for (const spread_axis& s : spread) whole_bytes /= static_cast<std::size_t>(s.size);
    return whole_bytes;
  }
  /// Copies the piece of a position out of the `bytes` bytes at `whole`.
  buffer piece_of(const std::byte* whole, std::size_t bytes, std::int64_t position) const {
    buffer piece;
    // the last dimension first, so that those before it keep their sizes
    for (std::size_t i = spread.size(); i-- > 0;) {
      const spread_axis& s = spread[i];
      bytes /= static_cast<std::size_t>(s.size);
      buffer next = buffer::allocate(bytes);
      std::size_t inner = s.before == 0 ? 0 : bytes / static_cast<std::size_t>(s.before);
      copy_slice_out(whole, next.data(), s.before, s.size, inner, s.index_at(position));
      piece = std::move(next);
      whole = piece.data();
    }
    return piece;
  }
};

struct section_call {
  int block = 0;
  std::vector<std::int64_t> mesh;
  std::vector<int> devices; ///< by position
  std::vector<section_operand> operands;
  std::vector<std::int64_t> results; ///< numbers of values

  std::int64_t mesh_stride(int axis) const {
    std::int64_t stride = 1;
    for (std::size_t m = static_cast<std::size_t>(axis) + 1; m < mesh.size(); ++m) stride *= mesh[m];
    return stride;
  }

  /// Reads a call, which `available` devices may serve. Throws `shape_error` where they cannot; `remedy` says how to
  /// have more devices.
  static section_call read(const std::int64_t* table, table_reader& r, const resolved_extents& extents, int available,
                           const char* remedy) {
    section_call call;
    call.block = r.next_int() + 1;
    call.mesh = block_table(table, call.block, extents).mesh();
    for (std::int64_t n = r.next(); n > 0; --n) {
      section_operand& operand = call.operands.emplace_back();
      operand.source = r.next();
      for (std::int64_t spread = r.next(); spread > 0; --spread) {
        int mesh_axis = r.next_int(), dimension = r.next_int();
        operand.spread.push_back({dimension, call.mesh[static_cast<std::size_t>(mesh_axis)],
                                  call.mesh_stride(mesh_axis), extents[r.next()]});
      }
      std::ranges::sort(operand.spread, {}, &spread_axis::dimension);
    }
    for (std::int64_t n = r.next(); n > 0; --n) call.results.push_back(r.next());
    std::vector<int> given;
    for (std::int64_t n = r.next(); n > 0; --n) given.push_back(r.next_int());
    call.choose_devices(given, available, remedy);
    return call;
  }

  /// Whether a value's pieces lie as an operand wants them.
  bool in_place(const runtime_value& value, const section_operand& operand) const {
    if (value.devices.empty() || value.devices != devices) return false;
    return std::ranges::equal(value.axes, operand.spread, [](const shard_axis& a, const spread_axis& s) {
      return a == shard_axis{s.dimension, s.size, s.mesh_stride};
    });
  }

  /// Describes the section's results: `pieces` by position, by result.
  void set_results(const std::int64_t* table, const resolved_extents& extents, std::vector<runtime_value>& values,
                   std::vector<std::vector<buffer>>&& pieces) const {
    table_reader out = block_table(table, block, extents).read_outputs();
    for (std::size_t k = 0; k < results.size(); ++k) {
      out.next(), out.next();
      runtime_value& value = values[static_cast<std::size_t>(results[k])];
      abstract_value piece = read_value(out);
      value = {};
      value.type = piece.type;
      for (dim extent : piece.shape) value.shape.push_back(extents[extent]);
      for (std::int64_t spread = out.next(); spread > 0; --spread) {
        int mesh_axis = out.next_int();
        value.axes.push_back({out.next_int(), mesh[static_cast<std::size_t>(mesh_axis)], mesh_stride(mesh_axis)});
      }
      // the piece's shape with the spread dimensions back in, outermost last to first
      std::ranges::sort(value.axes, {}, &shard_axis::axis);
      for (const shard_axis& a : value.axes) value.shape.insert(a.axis, a.size);
      value.devices = devices;
      for (auto& of_position : pieces) value.pieces.push_back(std::move(of_position[k]));
    }
  }

 private:
  void choose_devices(const std::vector<int>& given, int available, const char* remedy) {
    std::int64_t count = 1;
    for (std::int64_t size : mesh) count *= size;
    if (!given.empty()) {
      const auto given_count = static_cast<std::int64_t>(given.size());
      if (mesh[0] != given_count)
        throw shape_error("Leading axis size of input to pmapped function must equal the number of local devices "
                          "passed to pmap. Got axis_size=" +
                          std::to_string(mesh[0]) + ", num_local_devices=" + std::to_string(given_count) + ".");
      if (count != given_count)
        throw shape_error("pmapped function requires " + std::to_string(count) +
                          " local devices to run due to nested pmapped or other parallel functions, but only " +
                          std::to_string(given_count) + " are available. (outer axis size: " + std::to_string(mesh[0]) +
                          ")");
      devices = given;
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

/// The values of a program's outermost block at its outputs; `outputs` are the buffers of those that are no values.
inline std::vector<runtime_value> outermost_results(const block_table& block, const std::vector<runtime_value>& values,
                                                    std::vector<buffer>&& outputs) {
  std::vector<runtime_value> results;
  results.reserve(outputs.size());
  table_reader r = block.read_outputs();
  for (buffer& output : outputs) {
    bool is_value = r.next() != 0;
    std::int64_t number = r.next();
    abstract_value described = read_value(r);
    r.skip(2 * r.next());
    if (is_value) {
      results.push_back(values[static_cast<std::size_t>(number)]);
      continue;
    }
    runtime_value& value = results.emplace_back();
    value.type = described.type;
    for (dim extent : described.shape) value.shape.push_back(block.extents[extent]);
    value.on_host = true;
    value.host = std::move(output);
  }
  return results;
}

} // namespace parallax::detail
