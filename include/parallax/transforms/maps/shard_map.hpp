// shard_map: one instance of a function per device of a mesh, each on its blocks of the arguments.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/mapped_axes.hpp>
#include <parallax/transforms/calls/pmap_call.hpp>
#include <parallax/transforms/maps/axis_spec.hpp>
#include <parallax/transforms/maps/mesh.hpp>
#include <parallax/transforms/maps/pmap.hpp>
#include <parallax/transforms/maps/shard_specs.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/donate.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A function over the blocks of its arguments. For each axis of the mesh that cuts an array, the array has a dimension
/// in front of the one that is cut, as `partition::place_of` says.
template <class Function, class Mesh, class InSpecs, class OutSpecs> struct mapped_blocks {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!any_traced<Args...>()) {
      return execute(*this, args...);
    } else if constexpr (!is_callable<Function, traced_t<Args>...>()) {
      return refuse_call<Function, Args...>(trace_of_trees(args...), "shard_map");
    } else {
      context& owner = trace_of_trees(args...);
      return trace<Args...>(owner, leaves_to_tracers(owner, args...), true);
    }
  }

  /// The results for arguments with these leaves. `of_all_devices`: the mesh consists of all devices of all processes,
  /// so that a process may have some of the blocks only; otherwise it has all blocks of the arguments.
  template <class... Args>
  constexpr auto trace(context& owner, const growing_vector<tracer>& leaves, bool of_all_devices) const {
    auto in = InSpecs::template read<Mesh, Args...>();
    bool fits = check_fit(owner, "shard_map", "in_specs", in);
    for (std::size_t k = 0; fits && k < leaves.size(); ++k)
      if (leaves[k].owner)
        fits = check_partition<Mesh>(owner, "argument", k, in.values[k], leaves[k].rank() - in.values[k].cut_count());
    // after an error the function is still traced, with all arguments as they are
    if (!fits) in.values.assign(leaves.size(), {});
    return level<0, Args...>(owner, leaves, in.values, of_all_devices);
  }

 private:
  /// Maps the axes of the mesh from number `Axis` on.
  template <int Axis, class... Args>
  constexpr auto level(context& owner, const growing_vector<tracer>& leaves, const growing_vector<partition>& in,
                       bool of_all_devices) const {
    if constexpr (Axis == Mesh::rank) {
      return call_on(owner, function, leaves, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
    } else {
      growing_vector<int> places;
      for (const partition& cut : in) places.push_back(cut.place_of(Axis, Axis));
      const dim size = size_along<Axis>(owner, leaves, places);
      primitives::pmap_call::parameters call{.size = size, .is_of_whole_mesh = of_all_devices};
      call.body = owner.open_graph();
      mapped_axis bound = axis_of_pmap(owner, Mesh::name(Axis), size);
      bound.bit = owner.next_axis_bit();
      call.axis = owner.bind_axis(bound);
      growing_vector<tracer> inputs;
      for (std::size_t k = 0; k < leaves.size(); ++k)
        inputs.push_back(leaves[k].owner ? input_of(owner, leaves[k].value(), places[k], bound.bit) : leaves[k]);
      auto tree = level<Axis + 1, Args...>(owner, inputs, in, of_all_devices);
      const growing_vector<tracer> results = tracers_of(tree);
      set_outputs(owner, results);
      owner.unbind_axis();
      owner.close_graph();
      growing_vector<tracer> operands;
      const result_flags varies = add_operands(owner, call, leaves, places, operands);
      if (owner.failed || !add_results<Axis>(owner, call, tree, results, varies)) return tree;
      return with_leaves(tree, emit_call<primitives::pmap_call>(owner, operands, call));
    }
  }

  /// The number of blocks of the arguments along an axis: those of this process if the axis is open, otherwise all.
  template <int Axis>
  static constexpr dim size_along(context& owner, const growing_vector<tracer>& leaves,
                                  const growing_vector<int>& places) {
    constexpr bool is_open = Mesh::size(Axis) == dyn;
    const tracer* first = nullptr;
    dim size{is_open ? 1 : Mesh::size(Axis)};
    for (std::size_t k = 0; k < leaves.size() && !owner.failed; ++k) {
      if (!leaves[k].owner || places[k] == unmapped) continue;
      const tracer& other = first ? *first : leaves[k];
      const dim along = leaves[k].dimension(places[k]);
      size = first || !is_open
                 ? unify(owner, "shard_map", size, along, other.value(), leaves[k].value(), "put both on one mesh")
                 : along;
      if (!first) first = &leaves[k];
    }
    if (is_open && !first)
      owner.fail(message() << "shard_map: nothing says how many devices there are along " << Mesh::name(Axis)
                           << ", an axis of open size; cut an argument along it, or give it a size as a device_axis");
    return size;
  }
  static constexpr tracer input_of(context& owner, abstract_value value, int place, axis_bits bit) {
    if (place != unmapped) {
      value.shape.erase(place);
      value.varies = value.varies | bit;
    }
    return new_input(owner, value);
  }

  /// Sets the position of the axis in each result; false after an error.
  template <int Axis, class Tree>
  static constexpr bool add_results(context& owner, primitives::pmap_call::parameters& call, const Tree&,
                                    const growing_vector<tracer>& results, const result_flags& varies) {
    const auto out = OutSpecs::template read<Mesh, Tree>();
    if (!check_fit(owner, "shard_map", "out_specs", out)) return false;
    for (std::size_t k = 0; k < results.size(); ++k) {
      const partition& cut = out.values[k];
      int rank = results[k].rank();
      for (int inner = Axis + 1; inner < Mesh::rank; ++inner) rank -= cut.has(inner) ? 1 : 0;
      if (!check_partition<Mesh>(owner, "result", k, cut, rank)) return false;
      call.out_axes.push_back(cut.place_of(Axis, Axis));
      const bool differs = varies[k] || results[k].varies().contains(owner.axes[call.axis].bit);
      if (call.out_axes[k] != unmapped || !differs) continue;
      owner.fail(message() << "shard_map: result " << static_cast<int>(k) << " differs between the instances along "
                           << Mesh::name(Axis) << ", which its spec in out_specs does not name; name it there, or "
                           << "reduce the result first with psum, pmean or another collective");
      return false;
    }
    return true;
  }
};
template <class Function, class Mesh, class InSpecs, class OutSpecs>
inline constexpr bool is_transformed<mapped_blocks<Function, Mesh, InSpecs, OutSpecs>> = true;
template <class Function, class Mesh, class InSpecs, class OutSpecs>
inline constexpr bool is_pmapped<mapped_blocks<Function, Mesh, InSpecs, OutSpecs>> = true;

/// Reshapes an array to have a dimension for each axis of the mesh that cuts it. Dimensions must be divisible by the
/// number of their blocks.
template <class Mesh> constexpr tracer cut_up(tracer x, const partition& cut, std::size_t number) {
  context& trace = *x.owner;
  if (cut.cut_count() == 0) return x;
  dims shape;
  for (int d = 0; d < x.rank(); ++d) {
    dim blocks{1};
    for (int i = 0; i < cut.cuts_of(d); ++i) {
      const int axis = cut.dimensions[index_of(d)].axes[index_of(i)];
      if (Mesh::size(axis) == dyn) {
        trace.fail(message() << "shard_map: inside another function the axes of a mesh have sizes that are known "
                             << "while compiling; give " << Mesh::name(axis)
                             << " one, as a device_axis of a name and a size");
        return x;
      }
      shape.push_back(dim{Mesh::size(axis)});
      blocks = trace.extents.multiply(blocks, shape[shape.size() - 1]);
    }
    const dim whole = x.dimension(d), block = trace.extents.divide(whole, blocks);
    if (!(trace.extents.multiply(block, blocks) == whole)) {
      if (is_static(whole)) {
        message text;
        text << "shard_map: argument " << static_cast<int>(number) << ", ";
        print_value(text, trace.extents, x.value());
        trace.fail(text << ", has " << whole.number() << " elements along axis " << d << ", which " << blocks.number()
                        << " devices do not divide evenly; pad it, or use another mesh");
        return x;
      }
      require(trace, guard_kind::divisible, "shard_map: a dimension that is cut", whole, blocks, x.value());
    }
    shape.push_back(block);
  }
  return build::reshape(x, shape);
}
/// The inverse of `cut_up`: an array without the dimensions of the mesh's axes.
constexpr tracer put_together(tracer x, const partition& cut) {
  if (cut.cut_count() == 0) return x;
  dims shape;
  for (int d = 0, at = 0; at < x.rank(); ++d) {
    dim whole = x.dimension(at++);
    for (int i = 0; i < cut.cuts_of(d); ++i) whole = x.owner->extents.multiply(whole, x.dimension(at++));
    shape.push_back(whole);
  }
  return build::reshape(x, shape);
}

/// A call with arrays of a function mapped by shard_map; `parallax/sharding` defines it.
template <class Mapped, class... Args> struct mesh_call;

} // namespace detail

/// Returns `x` as a value that may differ between the instances along axes of a mesh: the initial carry of a loop whose
/// rounds differ, for example. JAX: lax.pvary
template <detail::fixed_string... Names> constexpr tracer pvary(tracer x) {
  detail::context& trace = *x.owner;
  const primitives::mapped_axes over = detail::find_participants<Names...>(trace, "pvary").over;
  return trace.failed ? x : detail::vary_along(x, over.bits(trace));
}

/// A function mapped by shard_map. Call it with arrays and global arrays, or with tracers inside another traced
/// function.
template <class Function, class Mesh, class InSpecs, class OutSpecs> struct shard_mapped {
  using blocks_function = detail::mapped_blocks<Function, Mesh, InSpecs, OutSpecs>;
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) {
      using call = detail::mesh_call<shard_mapped, Args...>;
      if constexpr (call::is_runnable()) return call::run(function, args...);
      else if constexpr (call::is_refused_on_blocks()) return call::refuse(function, args...);
      else return execute(*this, call::as_arrays(args)...);
    } else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>()) {
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "shard_map");
    } else {
      return trace(args...);
    }
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    detail::context& owner = detail::trace_of_trees(args...);
    detail::growing_vector<tracer> leaves = detail::leaves_to_tracers(owner, args...);
    const auto in = InSpecs::template read<Mesh, Args...>();
    if (in.fit == detail::entry_fit::fits)
      for (std::size_t k = 0; k < leaves.size() && !owner.failed; ++k)
        if (leaves[k].owner && detail::check_partition<Mesh>(owner, "argument", k, in.values[k], leaves[k].rank()))
          leaves[k] = detail::cut_up<Mesh>(leaves[k], in.values[k], k);
    auto tree = blocks_function{function}.template trace<Args...>(owner, leaves, false);
    if (owner.failed) return tree;
    const auto out = OutSpecs::template read<Mesh, decltype(tree)>();
    detail::growing_vector<tracer> results = detail::tracers_of(tree);
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = detail::put_together(results[k], out.values[k]);
    return detail::with_leaves(tree, results);
  }
};

template <class Function, class Mesh, class InSpecs, class OutSpecs>
inline constexpr bool detail::is_transformed<shard_mapped<Function, Mesh, InSpecs, OutSpecs>> = true;

/// Runs `function` once on each device of a mesh, on the device's blocks of the arguments. An argument's dimension is
/// divided evenly among the devices along the axes that its spec in `in` names; along other axes each device has all of
/// it. Collectives combine the instances by the names of the axes. Results are put together as `out` says; a result
/// that differs along an axis that its spec does not name is an error while compiling. A value that all instances along
/// an axis share has one derivative: that of the sum over instances. Called with arrays it returns `global_array`s,
/// which stay on their devices. `donate<0>` has such calls use up argument 0. `pmap` is the case of one axis that takes
/// single indices. JAX: shard_map
template <class Function, class Mesh, class InSpecs, class OutSpecs, auto... Donated>
constexpr auto shard_map(Function function, Mesh, InSpecs, OutSpecs, donate_t<Donated...> donated = {}) {
  return detail::with_donated(shard_mapped<Function, Mesh, InSpecs, OutSpecs>{function}, donated);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
