// Lowering: a prepared graph becomes a list of steps over buffers.
#pragma once

#include <parallax/compile/build_kernel.hpp>

#include <utility>

namespace parallax::detail {

/// Lowers one graph to one block.
class block_builder {
 public:
  planned_block block;

  constexpr block_builder(context& owner, planned_program& whole, int graph_id, const section* place)
      : trace(owner),
        program(whole),
        g(owner.at(graph_id)),
        fused(owner, graph_id),
        mesh(place),
        buffer_of(g.nodes.size(), -1),
        emitted(g.nodes.size(), 0),
        scratch(g.nodes.size(), -1) {}

  constexpr void run() {
    block.argument_count = static_cast<int>(g.inputs.size());
    block.value_count = block.argument_count;
    for (std::size_t k = 0; k < g.inputs.size(); ++k)
      buffer_of[at(g.inputs[k])] = new_buffer(g.value(g.inputs[k]), buffer_place::value, static_cast<int>(k));
    for (int id = 0; id < g.size() && !trace.failed; ++id)
      if (fused.live[at(id)] && g.at(id).operation >= 0) emit(id);
    if (trace.failed) return;
    place_outputs();
    plan_slots();
  }

 private:
  context& trace;
  planned_program& program;
  const graph& g;
  fusion fused;
  const section* mesh;
  std::vector<int> buffer_of;
  std::vector<char> emitted;
  std::vector<int> scratch; ///< of the kernel builders

  static constexpr std::size_t at(int id) { return static_cast<std::size_t>(id); }

  constexpr int new_buffer(const abstract_value& value, buffer_place place, int number) {
    block.buffers.push_back({place, number, value.type, value.shape, trace.extents.product(value.shape), -1, -1});
    return static_cast<int>(block.buffers.size()) - 1;
  }
  constexpr int own_buffer(int id) {
    buffer_of[at(id)] = new_buffer(g.value(id), buffer_place::slot, -1);
    return buffer_of[at(id)];
  }
  constexpr void push(kernel_builder& kernel) {
    std::size_t i = 0;
    while (i < program.kernels.size() && !(program.kernels[i] == kernel.structure)) ++i;
    if (i == program.kernels.size()) program.kernels.push_back(std::move(kernel.structure));
    kernel.step.kernel = static_cast<int>(i);
    block.steps.push_back(std::move(kernel.step));
  }
  constexpr kernel_builder kernel() { return kernel_builder(trace, fused, buffer_of, mesh, scratch); }

  /// Emits the steps that a node's operands come from, where they do not stand earlier.
  constexpr void require_operands(int id) {
    for (int operand : g.operands(id)) {
      int base = fused.base_of(operand);
      if (base < 0 || buffer_of[at(base)] >= 0) continue;
      if (int loop = fused.loop_of[at(base)]; loop >= 0) base = loop;
      else if (g.at(base).operation == primitives::number_of<primitives::call_result>) base = g.operand(base, 0);
      emit(base);
    }
  }

  constexpr void emit(int id) {
    bool computed_elsewhere = fused.loop_of[at(id)] >= 0 && fused.loop_of[at(id)] != id;
    if (computed_elsewhere || emitted[at(id)]) return;
    emitted[at(id)] = 1;
    require_operands(id);
    for (int member : fused.members[at(id)]) require_operands(member);
    if (fused.is_alias(id)) {
      buffer_of[at(id)] = buffer_of[at(g.operand(id, 0))];
      return;
    }
    primitive_kind kind = rules_of(g.at(id).operation).kind;
    if (kind == primitive_kind::nested) return emit_call(id);
    if (!fused.has_buffer[at(id)]) return;
    switch (kind) {
    case primitive_kind::reduction: return emit_reduction(id);
    case primitive_kind::product: return emit_product(id);
    case primitive_kind::assembly: return emit_assembly(id);
    case primitive_kind::collective: return emit_collective(id);
    default: {
      for (int member : fused.members[at(id)])
        if (fused.has_buffer[at(member)]) own_buffer(member);
      if (buffer_of[at(id)] < 0) own_buffer(id); // of a view or a source
      kernel_builder loop = kernel();
      loop.run(id, id);
      loop.write_whole(buffer_of[at(id)]);
      push(loop);
    }
    }
  }

  constexpr void emit_reduction(int id) {
    int operation = g.at(id).operation;
    bool positions = operation == primitives::number_of<primitives::argmax> ||
                     operation == primitives::number_of<primitives::argmin>;
    kernel_builder loop = kernel();
    loop.run(g.operand(id, 0), id, g.parameters(id), operation, positions);
    loop.write_whole(own_buffer(id));
    push(loop);
  }

  constexpr void emit_assembly(int id) {
    int piece = fused.first_piece[at(id)];
    for (int k = 0; k < g.at(id).operand_count; ++k)
      for (int member : fused.members[at(piece + k)]) require_operands(member);
    int buffer = own_buffer(id);
    dims shape = g.shape(id), strides = contiguous_strides(trace.extents, shape);
    dim_table& t = trace.extents;
    if (g.at(id).operation == primitives::number_of<primitives::concatenate>) {
      int axis = static_cast<int>(g.parameter(id, 0));
      dim start = 0;
      for (int k = 0; k < g.at(id).operand_count; ++k) {
        int operand = g.operand(id, k);
        write_piece(operand, piece + k, buffer, strides, t.multiply(start, strides[axis]));
        start = t.add(start, g.extent(operand, axis));
      }
      return;
    }
    // padding: the value everywhere, then the operand into its window
    kernel_builder fill = kernel();
    fill.run(g.operand(id, 1), piece + 1);
    fill.step.extents = {t.product(shape)};
    for (std::size_t i = 1; i < fill.step.accesses.size(); ++i) fill.step.accesses[i].strides = {0};
    fill.write_whole(buffer);
    push(fill);
    dim offset = 0;
    dims spread;
    for (int k = 0; k < shape.size(); ++k) {
      offset = t.add(offset, t.multiply(g.parameter(id, k), strides[k]));
      spread.push_back(t.multiply(strides[k], t.add(g.parameter(id, 2 * shape.size() + k), 1)));
    }
    write_piece(g.operand(id, 0), piece, buffer, spread, offset);
  }
  constexpr void write_piece(int operand, int loop_number, int buffer, const dims& strides, dim offset) {
    kernel_builder loop = kernel();
    loop.run(operand, loop_number);
    loop.write_window(buffer, strides, offset);
    push(loop);
  }

  constexpr void emit_product(int id) {
    planned_step step;
    step.kind = step_kind::product;
    primitives::dot_axes axes = primitives::dot_axes::read(g.parameters(id));
    access layouts[2];
    for (int side = 0; side < 2; ++side) {
      int operand = g.operand(id, side);
      index_map map;
      for (int k = 0; k < g.at(operand).rank; ++k) map.push_back({k, 1, 0});
      int base = operand;
      while (!fused.has_array(base)) {
        map = through_view(trace.extents, g, base, map);
        base = g.operand(base, 0);
      }
      layouts[side] = locate(trace.extents, g.shape(base), map, g.at(operand).rank, buffer_of[at(base)]);
      step.operands.push_back(buffer_of[at(base)]);
    }
    int left = g.operand(id, 0), right = g.operand(id, 1);
    dims left_shape = g.shape(left), right_shape = g.shape(right);
    auto left_free = axes.left_free(left_shape.size()), right_free = axes.right_free(right_shape.size());
    dim_table& t = trace.extents;
    planned_product& p = step.product;
    for (int axis : left_free) p.rows = t.multiply(p.rows, left_shape[axis]);
    for (int axis : right_free) p.columns = t.multiply(p.columns, right_shape[axis]);
    for (int axis : axes.left_contract) p.depth = t.multiply(p.depth, left_shape[axis]);
    dim result_stride = t.multiply(p.rows, p.columns);
    for (int i = axes.left_batch.size(); i-- > 0;) {
      p.batch.insert(0, left_shape[axes.left_batch[i]]);
      p.left_batch.insert(0, layouts[0].strides[axes.left_batch[i]]);
      p.right_batch.insert(0, layouts[1].strides[axes.right_batch[i]]);
      p.result_batch.insert(0, result_stride);
      result_stride = t.multiply(result_stride, left_shape[axes.left_batch[i]]);
    }
    p.left_row = fusion::group_stride(left_free, left_shape, layouts[0].strides);
    p.left_depth = fusion::group_stride(axes.left_contract, left_shape, layouts[0].strides);
    p.right_depth = fusion::group_stride(axes.right_contract, right_shape, layouts[1].strides);
    p.right_column = fusion::group_stride(right_free, right_shape, layouts[1].strides);
    step.left_offset = layouts[0].offset;
    step.right_offset = layouts[1].offset;
    step.result = own_buffer(id);
    block.steps.push_back(step);
  }

  constexpr void emit_collective(int id) {
    planned_step step;
    int operation = g.at(id).operation;
    std::span<const std::int64_t> p = g.parameters(id);
    std::span<const std::int64_t> rest = primitives::collective::rest(p);
    for (std::int64_t axis : primitives::collective::axes(p))
      step.mesh_axes |= 1U << mesh->mesh_axis_of[static_cast<std::size_t>(axis)];
    int operand = g.operand(id, 0);
    step.operands.push_back(buffer_of[at(operand)]);
    step.result = own_buffer(id);
    dim_table& t = trace.extents;
    auto around = [&](const dims& shape, int axis) {
      step.outer = step.inner = 1;
      for (int i = 0; i < shape.size(); ++i)
        if (i < axis) step.outer = t.multiply(step.outer, shape[i]);
        else step.inner = t.multiply(step.inner, shape[i]);
    };
    if (operation == primitives::number_of<primitives::psum> || operation == primitives::number_of<primitives::pmax> ||
        operation == primitives::number_of<primitives::pmin>) {
      step.kind = step_kind::all_reduce;
      step.reduction = operation;
    } else if (operation == primitives::number_of<primitives::all_gather>) {
      step.kind = step_kind::all_gather;
      around(g.shape(operand), static_cast<int>(rest[0]));
    } else if (operation == primitives::number_of<primitives::psum_scatter>) {
      step.kind = step_kind::reduce_scatter;
      around(g.shape(id), static_cast<int>(rest[0]));
    } else if (operation == primitives::number_of<primitives::axis_slice>) {
      step.kind = step_kind::axis_slice;
      around(g.shape(id), static_cast<int>(rest[0]));
    } else {
      step.kind = step_kind::permute;
      for (std::int64_t parameter : rest) step.parameters.push_back(parameter);
    }
    block.steps.push_back(step);
  }

  constexpr void emit_call(int id) {
    planned_step step;
    step.kind = step_kind::call;
    call_parameters call = call_parameters::read(g.parameters(id));
    step.section = call.body;
    step.parameters = call.devices;
    const section& mapped = program.sections[at(call.body)];
    for (int k = 0; k < call.operand_count; ++k) {
      int operand = g.operand(id, k);
      step.operands.push_back(buffer_of[at(operand)]);
      step.before.push_back({});
      for (const spread_dimension& s : mapped.operands[at(k)]) {
        dim before = 1;
        for (int axis = 0; axis < s.dimension; ++axis) before = trace.extents.multiply(before, g.extent(operand, axis));
        step.before.back().push_back(before);
      }
    }
    for (int k = 0; k < call.result_count; ++k) {
      step.results.push_back(block.value_count);
      for (int user = id + 1; user < g.size(); ++user)
        if (g.at(user).operation == primitives::number_of<primitives::call_result> && g.operand(user, 0) == id &&
            g.parameter(user, 0) == k)
          buffer_of[at(user)] = new_buffer(g.value(user), buffer_place::value, block.value_count);
      ++block.value_count;
    }
    block.steps.push_back(step);
  }

  constexpr void place_outputs() {
    for (std::size_t k = 0; k < g.outputs.size(); ++k) {
      int id = g.outputs[k];
      planned_output output{false, 0, g.value(id)};
      output.value.weak = false;
      int buffer = buffer_of[at(id)];
      if (g.at(id).operation == primitives::number_of<primitives::call_result>) {
        output.is_value = true;
        output.number = block.buffers[at(buffer)].number;
      } else if (block.buffers[at(buffer)].place == buffer_place::slot && !fused.is_alias(id)) {
        block.buffers[at(buffer)].place = buffer_place::output;
        block.buffers[at(buffer)].number = static_cast<int>(k);
        output.number = buffer;
      } else {
        // an argument, an alias, or a second output of one value
        int copy = new_buffer(g.value(id), buffer_place::output, static_cast<int>(k));
        planned_step step;
        step.extents = {block.buffers[at(copy)].count};
        step.accesses = {{copy, 0, {1}}, {buffer, 0, {1}}};
        kernel_structure structure{{{load_vector, g.at(id).type, 0, {1}}}, kernel_result::vector, -1};
        std::size_t i = 0;
        while (i < program.kernels.size() && !(program.kernels[i] == structure)) ++i;
        if (i == program.kernels.size()) program.kernels.push_back(structure);
        step.kernel = static_cast<int>(i);
        block.steps.push_back(step);
        output.number = copy;
      }
      block.outputs.push_back(output);
    }
  }

  /// Buffers that are not live at the same time share a slot; a slot is as large as the largest of them.
  constexpr void plan_slots() {
    for (int s = 0; s < static_cast<int>(block.steps.size()); ++s) {
      const planned_step& step = block.steps[at(s)];
      auto touch = [&](int number) {
        if (number < 0) return;
        planned_buffer& b = block.buffers[at(number)];
        if (b.first_step < 0) b.first_step = s;
        b.last_step = s;
      };
      touch(step.result);
      for (int operand : step.operands) touch(operand);
      for (const access& a : step.accesses) touch(a.buffer);
    }
    std::vector<std::vector<int>> beginning(block.steps.size()); // by step: the buffers that it is the first to use
    for (int i = 0; i < static_cast<int>(block.buffers.size()); ++i)
      if (const planned_buffer& b = block.buffers[at(i)]; b.place == buffer_place::slot && b.first_step >= 0)
        beginning[at(b.first_step)].push_back(i);
    std::vector<int> holder; // by slot: the buffer in it
    for (int s = 0; s < static_cast<int>(block.steps.size()); ++s) {
      for (int i : beginning[at(s)]) {
        planned_buffer& b = block.buffers[at(i)];
        int chosen = -1;
        for (int slot = 0; slot < static_cast<int>(holder.size()); ++slot) {
          const planned_buffer& old = block.buffers[at(holder[at(slot)])];
          if (old.last_step >= s) continue;
          bool same = old.count == b.count && size_of(old.type) == size_of(b.type);
          bool holds = is_static(old.count) && is_static(b.count) && old.count >= b.count;
          if (same || (chosen < 0 && holds)) chosen = slot;
          if (same) break;
        }
        if (chosen < 0) {
          chosen = static_cast<int>(holder.size());
          holder.push_back(0);
        }
        holder[at(chosen)] = i;
        b.number = chosen;
      }
    }
    block.slot_count = static_cast<int>(holder.size());
  }
};

/// Lowers a traced program.
constexpr planned_program lower(context& trace) {
  planned_program program;
  prepared_program prepared = prepare(trace);
  if (trace.failed) return program;
  program.sections = prepared.sections;
  block_builder outermost(trace, program, prepared.root, nullptr);
  outermost.run();
  program.blocks.push_back(outermost.block);
  for (const section& s : prepared.sections) {
    block_builder inner(trace, program, s.body, &s);
    inner.run();
    program.blocks.push_back(inner.block);
  }
  return program;
}

} // namespace parallax::detail
