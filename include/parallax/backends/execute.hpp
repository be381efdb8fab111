// From a call with arrays to its results, on the host backend.
#pragma once

#include <parallax/compile/program_error.hpp>
#include <parallax/host/block_runner.hpp>
#include <parallax/host/device_pool.hpp>
#include <parallax/host/reduce.hpp>
#include <parallax/runtime/eager.hpp>

#include <algorithm>
#include <memory>

namespace parallax {

namespace host {

/// The host's functions for a program's kernels, in order.
template <class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_function, sizeof...(I)>{
        kernel_function_of<typename parallax::detail::program_kernel<Program, I>::type>()...};
  }
  static constexpr auto functions = make(std::make_index_sequence<parallax::detail::kernel_count<Program>>{});
};

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

  /// How many arguments and results of calls a program has.
  static std::size_t value_count(const std::int64_t* table) {
    parallax::detail::table_reader header(block_runner::block_start(table, 0));
    header.skip(header.next());
    header.next();
    return static_cast<std::size_t>(header.next());
  }

  /// Runs the program; returns its outputs.
  std::vector<parallax::detail::runtime_value> run() {
    block_runner outermost(table, 0, extents, kernels, {});
    values.resize(value_count(table));
    outermost.values = &values;
    outermost.prepare(nullptr);
    outermost.run([this](parallax::detail::table_reader& r, block_runner& block) { call(r, block); });
    std::vector<parallax::detail::runtime_value> results;
    results.reserve(outermost.outputs.size());
    parallax::detail::table_reader r = outermost.read_outputs();
    for (std::size_t k = 0; k < outermost.outputs.size(); ++k) {
      bool is_value = r.next() != 0;
      std::int64_t number = r.next();
      abstract_value described = parallax::detail::read_value(r);
      r.skip(2 * r.next());
      if (is_value) {
        results.push_back(values[static_cast<std::size_t>(number)]);
        continue;
      }
      parallax::detail::runtime_value& value = results.emplace_back();
      value.type = described.type;
      for (dim extent : described.shape) value.shape.push_back(extents[extent]);
      value.on_host = true;
      value.host = std::move(outermost.outputs[k]);
    }
    return results;
  }

 private:
  const std::int64_t* table;
  const kernel_function* kernels;
  std::vector<parallax::detail::runtime_value> values;
  parallax::detail::resolved_extents extents;

  struct list {
    const std::int64_t* words;
    std::int64_t count;
    std::int64_t operator[](std::int64_t i) const { return words[i]; }
  };
  static list read_list(parallax::detail::table_reader& r) {
    std::int64_t count = r.next();
    return {r.skip(count), count};
  }

  /// A dimension of an operand that lies along an axis of the mesh, and the number of elements before it.
  struct spread_axis {
    int mesh_axis;
    int dimension;
    std::int64_t before;
  };
  struct operand_place {
    std::int64_t buffer;
    std::vector<spread_axis> spread;
  };

  /// Runs a section on its devices.
  void call(parallax::detail::table_reader& r, block_runner& outer) {
    int section_block = r.next_int() + 1;
    std::vector<operand_place> operands;
    for (std::int64_t n = r.next(); n > 0; --n) {
      operands.push_back({r.next(), {}});
      for (std::int64_t spread = r.next(); spread > 0; --spread) {
        int mesh_axis = r.next_int(), dimension = r.next_int();
        operands.back().spread.push_back({mesh_axis, dimension, extents[r.next()]});
      }
    }
    list results = read_list(r), explicit_devices = read_list(r);
    parallax::detail::table_reader header(block_runner::block_start(table, section_block));
    std::vector<std::int64_t> mesh;
    std::int64_t count = 1;
    for (std::int64_t n = header.next(); n > 0; --n) {
      mesh.push_back(extents[header.next()]);
      count *= mesh.back();
    }
    std::vector<int> devices = choose_devices(mesh, count, explicit_devices);
    if (count == 0) throw shape_error("pmap: the mapped axis has extent 0; map at least one element");

    std::vector<std::vector<buffer>> inputs; // by operand, by position
    for (operand_place& each : operands) inputs.push_back(pieces_of(outer, each, mesh, devices));

    std::vector<std::vector<buffer>> outputs(static_cast<std::size_t>(count));
    team& together = team_of(mesh, devices);
    auto body = [&](int position) {
      std::vector<const std::byte*> arguments;
      for (const auto& pieces : inputs) arguments.push_back(pieces[static_cast<std::size_t>(position)].data());
      block_runner block(table, section_block, extents, kernels, {&together, position});
      block.prepare(&arguments);
      block.run([](parallax::detail::table_reader&, block_runner&) {});
      outputs[static_cast<std::size_t>(position)] = std::move(block.outputs);
    };
    device_pool::instance().run(together, body);

    block_runner description(table, section_block, extents, kernels, {});
    parallax::detail::table_reader out = description.read_outputs();
    for (std::int64_t k = 0; k < results.count; ++k) {
      out.next(), out.next();
      parallax::detail::runtime_value& value = values[static_cast<std::size_t>(results[k])];
      abstract_value piece = parallax::detail::read_value(out);
      value.type = piece.type;
      value.shape = {};
      for (dim extent : piece.shape) value.shape.push_back(extents[extent]);
      std::vector<shard_axis> axes;
      std::int64_t spread = out.next();
      for (std::int64_t i = 0; i < spread; ++i) {
        int mesh_axis = out.next_int();
        axes.push_back({out.next_int(), mesh[static_cast<std::size_t>(mesh_axis)], mesh_stride(mesh, mesh_axis)});
      }
      // the piece's shape with the spread dimensions back in, outermost last to first
      std::sort(axes.begin(), axes.end(), [](const shard_axis& a, const shard_axis& b) { return a.axis < b.axis; });
      for (const shard_axis& a : axes) value.shape.insert(a.axis, a.size);
      value.on_host = false;
      value.axes = axes;
      value.devices = devices;
      value.pieces.clear();
      for (auto& all : outputs) value.pieces.push_back(std::move(all[static_cast<std::size_t>(k)]));
    }
  }

  static std::vector<int> choose_devices(const std::vector<std::int64_t>& mesh, std::int64_t count, const list& given) {
    std::vector<int> devices;
    int available = device_pool::instance().size();
    if (given.count > 0) {
      if (mesh[0] != given.count)
        throw shape_error("Leading axis size of input to pmapped function must equal the number of local devices "
                          "passed to pmap. Got axis_size=" +
                          std::to_string(mesh[0]) + ", num_local_devices=" + std::to_string(given.count) + ".");
      if (count != given.count)
        throw shape_error("pmapped function requires " + std::to_string(count) +
                          " local devices to run due to nested pmapped or other parallel functions, but only " +
                          std::to_string(given.count) + " are available. (outer axis size: " + std::to_string(mesh[0]) +
                          ")");
      for (std::int64_t i = 0; i < given.count; ++i) devices.push_back(static_cast<int>(given[i]));
      return devices;
    }
    if (count > available)
      throw shape_error("compiling computation that requires " + std::to_string(count) + " logical devices, but only " +
                        std::to_string(available) + " devices are available (num_replicas=" + std::to_string(count) +
                        "); set PARALLAX_HOST_DEVICES to have more");
    for (int i = 0; i < count; ++i) devices.push_back(i);
    return devices;
  }

  /// A team with this mesh. It is kept for the next call, which has often the same; no call begins inside another.
  static team& team_of(const std::vector<std::int64_t>& mesh, const std::vector<int>& devices) {
    thread_local std::unique_ptr<team> last;
    if (!last || !last->is_for(mesh, devices)) last = std::make_unique<team>(mesh, devices);
    return *last;
  }

  static std::int64_t mesh_stride(const std::vector<std::int64_t>& mesh, int axis) {
    std::int64_t stride = 1;
    for (std::size_t m = static_cast<std::size_t>(axis) + 1; m < mesh.size(); ++m) stride *= mesh[m];
    return stride;
  }

  /// An operand's pieces by position: where they lie already if they lie so, otherwise copied there.
  std::vector<buffer> pieces_of(block_runner& outer, operand_place& wanted, const std::vector<std::int64_t>& mesh,
                                const std::vector<int>& devices) {
    auto by_dimension = [](const auto& a, const auto& b) { return a.dimension < b.dimension; };
    std::sort(wanted.spread.begin(), wanted.spread.end(), by_dimension);
    bool is_value = outer.place_of(wanted.buffer) == parallax::detail::buffer_place::value;
    parallax::detail::runtime_value* value =
        is_value ? &values[static_cast<std::size_t>(outer.number_of(wanted.buffer))] : nullptr;
    if (value && !value->devices.empty() && value->devices == devices) {
      bool in_place = value->axes.size() == wanted.spread.size();
      for (std::size_t i = 0; in_place && i < wanted.spread.size(); ++i) {
        const spread_axis& s = wanted.spread[i];
        in_place = value->axes[i] ==
                   shard_axis{s.dimension, mesh[static_cast<std::size_t>(s.mesh_axis)], mesh_stride(mesh, s.mesh_axis)};
      }
      if (in_place) return value->pieces;
    }
    const std::byte* whole = outer.data(wanted.buffer);
    std::size_t bytes = outer.bytes_of(wanted.buffer);
    std::vector<buffer> pieces;
    if (wanted.spread.empty()) {
      // the host's devices share their memory: one copy serves all
      buffer copy = buffer::allocate(bytes);
      parallax::detail::copy_bytes(copy.data(), whole, bytes);
      parallax::detail::count_host_to_device(bytes * devices.size());
      pieces.assign(devices.size(), copy);
      return pieces;
    }
    for (std::int64_t p = 0; p < static_cast<std::int64_t>(devices.size()); ++p) {
      buffer piece;
      const std::byte* from = whole;
      std::size_t piece_bytes = bytes;
      // the last dimension first, so that those before it keep their sizes
      for (std::size_t i = wanted.spread.size(); i-- > 0;) {
        const spread_axis& s = wanted.spread[i];
        std::int64_t size = mesh[static_cast<std::size_t>(s.mesh_axis)];
        piece_bytes /= static_cast<std::size_t>(size);
        buffer next = buffer::allocate(piece_bytes);
        std::size_t inner = s.before == 0 ? 0 : piece_bytes / static_cast<std::size_t>(s.before);
        parallax::detail::copy_slice_out(from, next.data(), s.before, size, inner,
                                         p / mesh_stride(mesh, s.mesh_axis) % size);
        piece = std::move(next);
        from = piece.data();
      }
      parallax::detail::count_host_to_device(piece_bytes);
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }
};

} // namespace host

namespace detail {

/// The leaves of an argument as values; leaves that are known while compiling have none.
template <class T> void append_values(std::vector<runtime_value>& values, const T& tree) {
  tree_for_each(
      [&]<class L>(const L& leaf) {
        if constexpr (is_static_leaf<L>) values.emplace_back().is_input = false;
        else values.push_back(value_of(leaf));
      },
      tree);
}

/// Whether all leaves of a tree are what a program can take.
template <class T> constexpr bool all_leaves_are_values() {
  if constexpr (tree_node<T>) {
    return []<class... C>(std::type_identity<std::tuple<C...>>) {
      return (all_leaves_are_values<C>() && ...);
    }(std::type_identity<children_t<T>>{});
  } else {
    return eager_operand<T> || is_static_leaf<T> || requires(const T& x) { value_of(x); };
  }
}
template <class T> inline constexpr bool is_argument = all_leaves_are_values<T>();

template <class Program> auto make_results(std::vector<runtime_value>&& outputs) {
  auto leaf = [&]<class L, int Number>() {
    return output_description<Program, Number>::make(std::move(outputs[static_cast<std::size_t>(Number)]));
  };
  return tree_build<typename Program::result_tree>(leaf);
}

template <class Function, class... Args> auto run_program(const Args&... args) {
  using compiled = program<Function, abstract_t<Args>...>;
  if constexpr (!compiled::valid) {
    return report_error<Function, abstract_t<Args>...>();
  } else {
    constexpr int leaves = (0 + ... + leaf_count<Args>);
    std::vector<runtime_value> arguments;
    arguments.reserve(
        std::max(static_cast<std::size_t>(leaves), host::program_run::value_count(compiled::table.data())));
    (append_values(arguments, args), ...);
    host::program_run run(compiled::table.data(), host::kernel_table<compiled>::functions.data(), std::move(arguments));
    return make_results<compiled>(run.run());
  }
}

} // namespace detail

/// The number of devices a pmap may use; the environment variable PARALLAX_HOST_DEVICES sets it. JAX: device_count
inline int device_count() { return host::device_pool::instance().size(); }

/// Calls a traced function with arrays: its program was compiled with this code, and runs now.
template <class Function, class... Args> auto execute(const Function&, const Args&... args) {
  static_assert(detail::is_stateless<Function>, "parallax: the outermost function must not capture: make captured "
                                                "functions static constexpr, and pass captured values as arguments");
  static_assert(
      (detail::is_argument<Args> && ...),
      "parallax: an argument is neither an array nor a number nor a tree of them (tuple, pair, std::array, "
      "aggregate): let a struct be a template of its leaf types, template <class T> struct params { T w, b; }");
  if constexpr (detail::is_stateless<Function> && (detail::is_argument<Args> && ...))
    return detail::run_program<Function>(detail::evaluated(args)...);
  else return detail::no_result<Function>{};
}

} // namespace parallax
