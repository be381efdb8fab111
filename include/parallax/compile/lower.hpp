// Lowering: a prepared graph becomes a list of steps over buffers.
#pragma once

#include <parallax/compile/assign_slots.hpp>
#include <parallax/compile/build_kernel.hpp>
#include <parallax/compile/find_epilogues.hpp>
#include <parallax/compile/known_equal.hpp>
#include <parallax/compile/plan_product.hpp>
#include <parallax/compile/start_early.hpp>

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
    epilogue_finder(trace.extents, program.kernels, block).run();
    start_reductions_early(block);
    assign_slots(block);
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
  /// The kernel's number in the program; kernels alike are one.
  constexpr int kernel_number(kernel_structure&& kernel) {
    std::size_t i = 0;
    while (i < program.kernels.size() && !(program.kernels[i] == kernel)) ++i;
    if (i == program.kernels.size()) program.kernels.push_back(std::move(kernel));
    return static_cast<int>(i);
  }
  constexpr void push(kernel_builder& kernel) {
    kernel.step.kernel = kernel_number(std::move(kernel.structure));
    block.steps.push_back(std::move(kernel.step));
  }
  constexpr kernel_builder kernel() { return kernel_builder(trace, fused, buffer_of, mesh, scratch); }

  /// Emits the steps that a node's operands come from, where they do not stand earlier.
  constexpr void require_operands(int id) {
    for (int operand : g.operands(id)) {
      if (fused.rows.inner_member(id, operand) >= 0) continue;
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
    if (fused.row_group(id) >= 0) return emit_rows(id);
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

  constexpr void emit_rows(int id) {
    for (int member : fused.members[at(id)])
      if (fused.has_buffer[at(member)]) own_buffer(member);
    kernel_builder loop = kernel();
    loop.run_rows(id);
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
    planned_step step = plan_product(trace.extents, fused, buffer_of, id);
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
    if (primitives::collective::has_groups(p))
      for (std::int64_t word : primitives::collective::groups(p)) step.parameters.push_back(word);
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
    } else if (operation == primitives::number_of<primitives::all_to_all>) {
      step.kind = step_kind::all_to_all;
      dims slice = g.shape(operand);
      slice.erase(0);
      around(slice, 0);
    } else {
      bool one_source = operation == primitives::number_of<primitives::pbroadcast>;
      step.kind = one_source ? step_kind::broadcast : step_kind::permute;
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
      } else if (block.buffers[at(buffer)].place == buffer_place::slot) {
        block.buffers[at(buffer)].place = buffer_place::output;
        block.buffers[at(buffer)].number = static_cast<int>(k);
        output.number = buffer;
      } else {
        // an argument, or a second output of one value
        int copy = new_buffer(g.value(id), buffer_place::output, static_cast<int>(k));
        planned_step step;
        step.extents = {block.buffers[at(copy)].count};
        step.accesses = {{copy, 0, {1}}, {buffer, 0, {1}}};
        step.kernel = kernel_number({{{load_vector, g.at(id).type, 0, {1}}}, kernel_result::vector, -1});
        block.steps.push_back(step);
        output.number = copy;
      }
      block.outputs.push_back(output);
    }
  }
};

/// Lowers a traced program.
constexpr planned_program lower(context& trace) {
  planned_program program;
  prepared_program prepared = prepare(trace);
  if (trace.failed) return program;
  program.sections = prepared.sections;
  known_equal same(trace);
  same.rename(trace.at(prepared.root));
  for (const section& s : prepared.sections) same.rename(trace.at(s.body));
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
