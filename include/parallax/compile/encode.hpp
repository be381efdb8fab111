// A planned program as one constant table of numbers, which is all that remains of it at run time.
//
// The table starts with the places of its parts: extents, guards, kernels, blocks. Every part is a sequence that a
// `table_reader` reads from front to back; what it contains is said where it is written below.
#pragma once

#include <parallax/compile/lower.hpp>

#include <array>

namespace parallax::detail {

/// The places of the parts of a table.
enum table_header : int { extents_at, guards_at, kernels_at, blocks_at, header_size };

/// Reads a table from front to back.
class table_reader {
 public:
  constexpr explicit table_reader(const std::int64_t* start) : at(start) {}
  constexpr std::int64_t next() { return *at++; }
  constexpr int next_int() { return static_cast<int>(*at++); }
  constexpr const std::int64_t* skip(std::int64_t count) {
    const std::int64_t* here = at;
    at += count;
    return here;
  }

 private:
  const std::int64_t* at;
};

/// A table of at most `Capacity` numbers, or the error that kept it from being made.
template <std::size_t Capacity> struct bounded_table {
  std::array<std::int64_t, Capacity> words{};
  std::size_t size = 0; ///< what is needed, even where it exceeds the capacity
  message error;
};

template <std::size_t Capacity> class table_writer {
 public:
  constexpr explicit table_writer(bounded_table<Capacity>& whole) : table(whole) {}

  constexpr void put(std::int64_t word) {
    if (table.size < Capacity) table.words[table.size] = word;
    ++table.size;
  }
  /// Says at place `place` that a part begins here; or how far it is from `start` to here.
  constexpr void begin(std::size_t place, std::size_t start = 0) {
    if (place < Capacity) table.words[place] = static_cast<std::int64_t>(table.size - start);
  }
  template <class List> constexpr void put_list(const List& list) {
    put(static_cast<std::int64_t>(list.size()));
    for (const auto& word : list) put(static_cast<std::int64_t>(word));
  }
  constexpr void put_text(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    for (char c : text) put(c);
  }
  constexpr void put_value(const abstract_value& value) {
    put(static_cast<std::int64_t>(value.type));
    put_list(value.shape);
  }

  constexpr void put_extents(const dim_table& extents) {
    begin(extents_at);
    put(static_cast<std::int64_t>(extents.atoms.size()));
    for (const dim_atom& atom : extents.atoms) put(atom.quotient), put(atom.first), put(atom.second);
    put(static_cast<std::int64_t>(extents.entries.size()));
    for (const dim_table::polynomial& polynomial : extents.entries) {
      put(static_cast<std::int64_t>(polynomial.size()));
      for (const dim_term& term : polynomial) put(term.coefficient), put_list(term.atoms);
    }
  }
  constexpr void put_guards(const std::vector<guard>& guards) {
    begin(guards_at);
    put(static_cast<std::int64_t>(guards.size()));
    for (const guard& g : guards) {
      put(g.condition);
      put_text(g.operation);
      put(g.left), put(g.right);
      put_value(g.left_value), put_value(g.right_value);
      put(static_cast<std::int64_t>(g.mapped_arguments.size()));
      for (const mapped_argument& a : g.mapped_arguments) put(a.argument), put(a.axis), put_value(a.value);
    }
  }
  constexpr void put_kernels(const std::vector<kernel_structure>& kernels) {
    begin(kernels_at);
    put(static_cast<std::int64_t>(kernels.size()));
    std::size_t places = table.size;
    for (std::size_t i = 0; i < kernels.size(); ++i) put(0);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      begin(places + i);
      const kernel_structure& k = kernels[i];
      put(static_cast<std::int64_t>(k.result)), put(k.reduction);
      put(static_cast<std::int64_t>(k.statements.size()));
      std::size_t statements = table.size;
      for (std::size_t s = 0; s < k.statements.size(); ++s) put(0);
      for (std::size_t s = 0; s < k.statements.size(); ++s) {
        begin(statements + s);
        const kernel_statement& statement = k.statements[s];
        put(statement.operation), put(static_cast<std::int64_t>(statement.type)), put(statement.parameter),
            put_list(statement.operands);
      }
    }
  }
  constexpr void put_step(const planned_step& step, const std::vector<section>& sections) {
    put(static_cast<std::int64_t>(step.kind));
    switch (step.kind) {
    case step_kind::kernel:
      put(step.kernel), put(step.reduced), put_list(step.extents);
      put(static_cast<std::int64_t>(step.accesses.size()));
      for (const access& a : step.accesses) {
        put(a.buffer), put(a.offset);
        for (dim stride : a.strides) put(stride);
      }
      put(static_cast<std::int64_t>(step.constants.size()));
      for (const kernel_constant& c : step.constants)
        put(static_cast<std::int64_t>(c.kind)), put(static_cast<std::int64_t>(c.type)), put(c.value);
      break;
    case step_kind::product: {
      const planned_product& p = step.product;
      put(step.result), put(step.operands[0]), put(step.left_offset), put(step.operands[1]), put(step.right_offset);
      put_list(p.batch);
      for (const auto* strides : {&p.left_batch, &p.right_batch, &p.result_batch})
        for (dim stride : *strides) put(stride);
      put(p.rows), put(p.columns), put(p.depth), put(p.left_row), put(p.left_depth), put(p.right_depth),
          put(p.right_column);
      put(static_cast<std::int64_t>(p.precision));
      break;
    }
    case step_kind::epilogue: {
      const planned_epilogue& e = step.epilogue;
      put(static_cast<std::int64_t>(e.activation)), put(e.result), put(e.bias), put(e.bias_offset), put(e.auxiliary),
          put(e.bias_gradient), put(e.sums_right);
      put(static_cast<std::int64_t>(step.parts.size()));
      const std::size_t words = table.size;
      put(0);
      for (const planned_step& part : step.parts) put_step(part, sections);
      begin(words, words + 1);
      break;
    }
    case step_kind::call:
      put(step.section);
      put(static_cast<std::int64_t>(step.operands.size()));
      for (std::size_t k = 0; k < step.operands.size(); ++k) {
        const std::vector<spread_dimension>& spread = sections[static_cast<std::size_t>(step.section)].operands[k];
        put(step.operands[k]), put(static_cast<std::int64_t>(spread.size()));
        for (std::size_t i = 0; i < spread.size(); ++i)
          put(spread[i].mesh_axis), put(spread[i].dimension), put(step.before[k][i]);
      }
      put_list(step.results), put_list(step.parameters);
      break;
    default:
      put(step.result), put(step.operands[0]), put(step.mesh_axes), put(step.reduction), put(step.outer),
          put(step.inner);
      put_list(step.parameters);
    }
  }
  constexpr void put_block(const planned_block& block, const section* place, const std::vector<section>& sections) {
    if (place) put_list(place->mesh);
    else put(0);
    put(block.argument_count), put(block.value_count), put(block.slot_count);
    put(static_cast<std::int64_t>(block.buffers.size()));
    for (const planned_buffer& b : block.buffers)
      put(static_cast<std::int64_t>(b.place)), put(b.number), put(static_cast<std::int64_t>(b.type)), put(b.count);
    put(static_cast<std::int64_t>(block.outputs.size()));
    for (std::size_t k = 0; k < block.outputs.size(); ++k) {
      const planned_output& output = block.outputs[k];
      put(output.is_value), put(output.number), put_value(output.value);
      put(place ? static_cast<std::int64_t>(place->results[k].size()) : 0);
      if (place)
        for (const spread_dimension& s : place->results[k]) put(s.mesh_axis), put(s.dimension);
    }
    put(static_cast<std::int64_t>(block.steps.size()));
    for (const planned_step& step : block.steps) put_step(step, sections);
  }
  constexpr void put_program(const planned_program& program, const context& trace) {
    for (int i = 0; i < header_size; ++i) put(0);
    put_extents(trace.extents);
    put_guards(trace.guards);
    put_kernels(program.kernels);
    begin(blocks_at);
    put(static_cast<std::int64_t>(program.blocks.size()));
    std::size_t places = table.size;
    for (std::size_t i = 0; i < program.blocks.size(); ++i) put(0);
    for (std::size_t i = 0; i < program.blocks.size(); ++i) {
      begin(places + i);
      put_block(program.blocks[i], i == 0 ? nullptr : &program.sections[i - 1], program.sections);
    }
  }

 private:
  bounded_table<Capacity>& table;
};

template <std::size_t Capacity, class Function, class... Trees>
constexpr bounded_table<Capacity> compile_table(bool strict) {
  context trace;
  trace.strict = strict;
  static_cast<void>(trace_program<Function, Trees...>(trace));
  bounded_table<Capacity> result;
  planned_program program;
  if (!trace.failed) program = lower(trace);
  if (!trace.failed) trace.check_extents("lowering");
  if (trace.failed) {
    result.error = trace.error;
    return result;
  }
  table_writer<Capacity>(result).put_program(program, trace);
  return result;
}

/// The compiled form of `Function` on arguments of these types. Programs are told apart by their types, never by their
/// contents, so that no table enters a mangled name.
template <class Function, class... Trees> struct program {
  // Most programs fit, so that they are traced once; the others are traced again at their size.
  static constexpr std::size_t first_capacity = 16384;
  static constexpr auto first = compile_table<first_capacity, Function, Trees...>(false);
  static constexpr bool valid = first.error.size == 0;

  template <std::size_t Size> static constexpr std::array<std::int64_t, Size> exact() {
    std::array<std::int64_t, Size> words{};
    if constexpr (Size <= first_capacity) {
      for (std::size_t i = 0; i != Size; ++i) words[i] = first.words[i];
    } else {
      return compile_table<Size, Function, Trees...>(false).words;
    }
    return words;
  }
  static constexpr auto table = exact<first.size>();

  using result_tree = program_result<Function, Trees...>;
};

} // namespace parallax::detail
