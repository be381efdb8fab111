// custom_call: a user's own function, on the host and on CUDA, as an operation of array programs.
#pragma once

#include <parallax/core/ffi_buffer.hpp>
#include <parallax/core/foreign_function.hpp>
#include <parallax/core/growing_vector.hpp>
#include <parallax/transforms/custom_rules.hpp>
#include <parallax/transforms/ffi_call.hpp>
#include <parallax/transforms/graph_function.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax {
namespace detail {

template <class T> inline constexpr bool is_ffi_buffer = false;
template <class T, int Rank> inline constexpr bool is_ffi_buffer<ffi_buffer<T, Rank>> = true;

/// The arrays that a function takes, and the stream before them.
template <class Function> struct foreign_signature;
template <class... T, int... Ranks> struct foreign_signature<void (*)(ffi_buffer<T, Ranks>...)> {
  using views = std::tuple<ffi_buffer<T, Ranks>...>;
  using stream = void;
};
template <class Stream, class... T, int... Ranks>
  requires(!is_ffi_buffer<Stream>)
struct foreign_signature<void (*)(Stream, ffi_buffer<T, Ranks>...)> {
  using views = std::tuple<ffi_buffer<T, Ranks>...>;
  using stream = Stream;
};
template <class... T> struct foreign_signature<void (*)(T...) noexcept> : foreign_signature<void (*)(T...)> {};

template <class Rules>
concept has_host_function = requires { typename foreign_signature<decltype(&Rules::host)>::views; } &&
                            std::is_void_v<typename foreign_signature<decltype(&Rules::host)>::stream>;
template <class Rules>
concept has_cuda_function = requires { &Rules::cuda; };

/// The functions of rules, as programs keep them.
template <class Rules, int Operands> class foreign_entries {
  using views = typename foreign_signature<decltype(&Rules::host)>::views;
  static constexpr std::size_t count = std::tuple_size_v<views>;
  using all = std::make_index_sequence<count>;

  template <std::size_t I> static auto view(const foreign_arguments& a) {
    using type = std::tuple_element_t<I, views>;
    constexpr std::ptrdiff_t before = [] {
      const std::array<int, count> ranks = ranks_of(all{});
      std::ptrdiff_t sum = 0;
      for (int k = 0; k < static_cast<int>(I); ++k) sum += ranks[index_of(k)];
      return sum;
    }();
    return type(reinterpret_cast<typename type::element_type*>(a.data[I]), a.extents + before);
  }
  template <std::size_t... I> static constexpr std::array<element_type, count> types_of(std::index_sequence<I...>) {
    return {element_type_of<std::remove_const_t<typename std::tuple_element_t<I, views>::element_type>>...};
  }
  template <std::size_t... I> static constexpr std::array<int, count> ranks_of(std::index_sequence<I...>) {
    return {std::tuple_element_t<I, views>::rank...};
  }
  template <std::size_t... I> static void run_host(const foreign_arguments& a, std::index_sequence<I...>) {
    Rules::host(view<I>(a)...);
  }
  static void host(const foreign_arguments& a) { run_host(a, all{}); }

  template <std::size_t... I>
  static void run_cuda(const void* stream, const foreign_arguments& a, std::index_sequence<I...>) {
    using type = typename foreign_signature<decltype(&Rules::cuda)>::stream;
    Rules::cuda(*static_cast<const type*>(stream), view<I>(a)...);
  }
  static void cuda(const void* stream, const foreign_arguments& a) { run_cuda(stream, a, all{}); }

  static constexpr growing_vector<tracer> batch(context& trace, const growing_vector<tracer>& operands,
                                                const growing_vector<char>& mapped) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return leaves_to_tracers(trace, Rules::batch(std::array<bool, sizeof...(I)>{mapped[I] != 0 ...}, operands[I]...));
    }(std::make_index_sequence<std::size_t{Operands}>{});
  }

  static constexpr foreign_function make() {
    foreign_function made{.host = &host};
    if constexpr (has_cuda_function<Rules>) {
      using signature = foreign_signature<decltype(&Rules::cuda)>;
      static_assert(std::is_same_v<typename signature::views, views> && !std::is_void_v<typename signature::stream>,
                    "parallax: custom_call: cuda takes a stream, and then what host takes");
      made.cuda = &cuda;
      made.stream_type = &name_of_type<typename signature::stream>;
    }
    if constexpr (has_batch(std::make_index_sequence<std::size_t{Operands}>{})) made.batch = &batch;
    return made;
  }
  template <std::size_t... I> static constexpr bool has_batch(std::index_sequence<I...>) {
    return requires(tracer x) { Rules::batch(std::array<bool, sizeof...(I)>{}, (static_cast<void>(I), x)...); };
  }

 public:
  static constexpr foreign_function function = make();

  /// The element type of an array that the functions take, which numbers become.
  static constexpr element_type type_of(std::size_t number) {
    return number < count ? types_of(all{})[number] : element_type::float32;
  }
  /// Whether the host's function takes arrays like these: element types and ranks.
  static constexpr bool check(context& trace, const growing_vector<tracer>& operands,
                              const growing_vector<abstract_value>& results) {
    growing_vector<abstract_value> values = vector_of(operands, [](const tracer& x) { return x.value(); });
    for_each(results, [&](const abstract_value& y) { values.push_back(y); });
    if (values.size() != count) {
      trace.fail(message() << "custom_call: host takes " << static_cast<std::int64_t>(count)
                           << " arrays, but there are " << static_cast<std::int64_t>(operands.size())
                           << " arguments and " << static_cast<std::int64_t>(results.size())
                           << " results; let it take a plx::ffi_buffer of each argument, and then of each result");
      return false;
    }
    return check_all(trace, values, operands.size(), all{});
  }

 private:
  template <std::size_t... I>
  static constexpr bool check_all(context& trace, const growing_vector<abstract_value>& values, std::size_t operands,
                                  std::index_sequence<I...>) {
    return (check_one<std::tuple_element_t<I, views>>(trace, values[I], I, operands) && ...);
  }
  template <class View>
  static constexpr bool check_one(context& trace, const abstract_value& value, std::size_t number,
                                  std::size_t operands) {
    using T = typename View::element_type;
    const bool is_operand = number < operands;
    if (value.type == element_type_of<std::remove_const_t<T>> && value.rank() == View::rank &&
        std::is_const_v<T> == is_operand)
      return true;
    message text;
    text << "custom_call: " << (is_operand ? "argument " : "result ")
         << static_cast<std::int64_t>(is_operand ? number : number - operands) << " is ";
    print_value(text, trace.extents, value);
    text << ", but host takes " << name_of(element_type_of<std::remove_const_t<T>>) << " of rank " << View::rank
         << (std::is_const_v<T> ? ", of const elements" : ", whose elements are not const");
    trace.fail(text << "; arguments are read, and results written");
    return false;
  }
};

template <std::size_t> struct one_tracer {
  using type = tracer;
};
template <class Indices> struct tuple_of_tracers;
template <std::size_t... I> struct tuple_of_tracers<std::index_sequence<I...>> {
  using type = std::tuple<typename one_tracer<I>::type...>;
};

/// The call of a foreign function, whose rules may say derivatives: graphs that are given the results first.
template <class Rules, class Tree, int Count> class foreign_trace {
  using arguments = typename tuple_of_tracers<std::make_index_sequence<std::size_t{Count}>>::type;
  static constexpr bool has_vjp = requires(const arguments& x, const Tree& y) { Rules::vjp(x, y, y); };
  static constexpr bool has_jvp = requires(const arguments& x, const Tree& y) { Rules::jvp(x, y, x); };

 public:
  constexpr foreign_trace(context& owner, const growing_vector<tracer>& given, const Tree& results)
      : trace(owner), operands(given), tree(results) {
    values = vector_of(tracers_of(results), [](const tracer& y) { return strong(y.value()); });
  }
  constexpr growing_vector<tracer> emit() {
    using entries = foreign_entries<Rules, Count>;
    if (trace.failed || !entries::check(trace, operands, values)) return tracers_of(tree);
    primitives::ffi_call::parameters p;
    p.function = trace.number_of(&entries::function);
    for_each(values, [&](const abstract_value& y) { p.add_result(y); });
    return emit_with_rules(p);
  }

 private:
  context& trace;
  const growing_vector<tracer>& operands;
  const Tree& tree; ///< of values like the results
  growing_vector<abstract_value> values;

  constexpr growing_vector<tracer> emit_with_rules(const primitives::ffi_call::parameters& p) {
    if constexpr (!has_vjp && !has_jvp) {
      return emit_call<primitives::ffi_call>(trace, operands, p);
    } else {
      primitives::custom_call::parameters
          call; // nvcc 13.0 forgets the lists of one that constants in braces initialise
      call.given_results = true;
      for_each(operands, [&](const tracer& x) { call.moving.push_back(char{is_floating(x.type())}); });
      call.body = trace.open_graph();
      const growing_vector<tracer> inputs = inputs_like(trace, operands);
      const growing_vector<tracer> outputs = emit_call<primitives::ffi_call>(trace, inputs, p);
      set_outputs(trace, outputs);
      trace.close_graph();
      if constexpr (has_jvp) call.tangents.push_back(trace_jvp());
      if constexpr (has_vjp) call.backward.push_back(trace_vjp());
      if (trace.failed) return tracers_of(tree);
      return emit_call<primitives::custom_call>(trace, operands, call);
    }
  }
  constexpr growing_vector<tracer> result_inputs() const {
    return vector_of(values, [&](const abstract_value& y) { return new_input(trace, y); });
  }
  /// Of those that are floating an input, and zeros for others.
  constexpr tracer direction(const abstract_value& of) const {
    return is_floating(of.type) ? new_input(trace, of) : build::zeros(trace, of);
  }
  static constexpr arguments tuple_of(const growing_vector<tracer>& leaves) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return arguments{leaves[I]...};
    }(std::make_index_sequence<std::size_t{Count}>{});
  }
  /// Closes the innermost graph, whose outputs are the directions of floating values.
  constexpr graph_id close(std::string_view what, const growing_vector<tracer>& given,
                           const growing_vector<abstract_value>& of) {
    growing_vector<tracer> outputs;
    growing_vector<abstract_value> expected;
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (!is_floating(of[k].type)) continue;
      expected.push_back(of[k]);
      outputs.push_back(given[k].owner ? build::convert(given[k], given[k].type()) : build::zeros(trace, of[k]));
    }
    check_alike(trace, "custom_call", what, outputs, expected);
    const graph_id graph = trace.innermost();
    set_outputs(trace, outputs);
    trace.close_graph();
    return graph;
  }

  constexpr graph_id trace_jvp() {
    trace.open_graph();
    const growing_vector<tracer> ys = result_inputs(), xs = inputs_like(trace, operands);
    const growing_vector<tracer> directions =
        vector_of(operands, [&](const tracer& x) { return direction(x.value()); });
    const arguments at = tuple_of(xs), along = tuple_of(directions);
    const Tree result = with_leaves(tree, ys);
    const auto made = Rules::jvp(at, result, along);
    constexpr bool fits = same_structure<Tree, std::remove_cvref_t<decltype(made)>>();
    static_assert(fits, "parallax: custom_call: jvp takes the tuple of arguments, the result and the tuple "
                        "of tangents, and returns a tree of tangents like the result");
    growing_vector<tracer> leaves(values.size());
    if constexpr (fits) leaves = leaves_to_tracers(trace, made);
    return close("tangent", leaves, values);
  }
  constexpr graph_id trace_vjp() {
    trace.open_graph();
    const growing_vector<tracer> ys = result_inputs(), xs = inputs_like(trace, operands);
    const growing_vector<tracer> directions = vector_of(values, [&](const abstract_value& y) { return direction(y); });
    const arguments at = tuple_of(xs);
    const Tree result = with_leaves(tree, ys), along = with_leaves(tree, directions);
    const auto made = Rules::vjp(at, result, along);
    constexpr bool fits = one_tree_each<arguments, std::remove_cvref_t<decltype(made)>>;
    static_assert(fits, "parallax: custom_call: vjp takes the tuple of arguments, the result and its "
                        "cotangents, and returns a tuple: a cotangent for each argument, or none");
    growing_vector<tracer> leaves;
    if constexpr (fits)
      std::apply(
          [&](const auto&... each) {
            auto take = [&]<class Given>(const Given& cotangent) {
              if constexpr (std::is_same_v<Given, none_t>) leaves.push_back({});
              else leaves.push_back(leaves_to_tracers(trace, cotangent)[0]);
            };
            (take(each), ...);
          },
          made);
    leaves.resize(operands.size());
    return close("cotangent", leaves, vector_of(operands, [](const tracer& x) { return x.value(); }));
  }
};

/// What a call returns: a tree like that of the rules' shape.
template <class Rules, class... Arguments>
using foreign_results =
    decltype(traced_like(std::declval<context&>(), Rules::shape(std::declval<const Arguments&>()...)));

} // namespace detail

/// What `custom_call` is: an operation of the rules' functions.
template <class Rules> struct foreign_operation {
  template <class... Args>
    requires(!detail::any_traced<Args...>())
  constexpr auto operator()(const Args&... args) const {
    return execute(*this, args...);
  }
  /// Of a type that is known without its body, which rules may call.
  template <class... Args>
    requires(detail::any_traced<Args...>())
  constexpr auto operator()(const Args&... args) const -> detail::foreign_results<Rules, detail::traced_t<Args>...> {
    using namespace detail;
    static_assert(((leaf_count<Args> == 1 && passed_extents_rank<Args> < 0) && ...),
                  "parallax: custom_call: its arguments are arrays and numbers; give the leaves of a tree one by one");
    constexpr int count = static_cast<int>(sizeof...(Args));
    context& owner = trace_of_trees(args...);
    growing_vector<tracer> operands = leaves_to_tracers(owner, args...);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      element_type type = operands[k].type();
      if constexpr (has_host_function<Rules>)
        if (operands[k].weak()) type = foreign_entries<Rules, count>::type_of(k);
      operands[k] = build::convert(operands[k], type);
    }
    const auto like = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced_like(owner, Rules::shape(operands[I]...));
    }(std::index_sequence_for<Args...>{});
    if constexpr (has_host_function<Rules>) {
      foreign_trace<Rules, std::remove_cvref_t<decltype(like)>, count> call(owner, operands, like);
      return with_leaves(like, call.emit());
    } else {
      owner.fail(message() << "custom_call: the rules have no static function host, or it is a template; let it take a "
                              "plx::ffi_buffer of each argument, of const elements, and then of each result");
      return like;
    }
  }
};

template <class Rules> inline constexpr bool detail::is_transformed<foreign_operation<Rules>> = true;

/// A function of a user's own as an operation: `custom_call<rules>(x, y)`, inside traced functions and at once. `rules`
/// is a type with these static functions:
///
/// - `host(ffi_buffer<const T, Rank>..., ffi_buffer<U, Rank>...)`, no template: reads arguments and fills results, of
///   which none share memory. Several threads may call it at a time, and it must not throw.
/// - `cuda(cudaStream_t, ...)`, if there is a CUDA backend: enqueues the same on the stream, and does not wait.
/// - `shape(x...)`, constexpr: arrays like the results, one or a tree of them, of which only shapes and types are used.
/// - `jvp(arguments, result, tangents)` and `vjp(arguments, result, cotangents)`, constexpr, if it has derivatives, as
///   for `custom_jvp` and `custom_vjp`; with `jvp` alone, the way back is that transposed.
/// - `batch(is_mapped, x...)`, constexpr: the results of a batch along axis 0, where arguments that are mapped lie
///   along axis 0; `is_mapped` is an array of bool. Without it, a loop calls the function for each element.
///
/// JAX: ffi.ffi_call with custom_jvp, custom_vjp and custom_vmap.
template <class Rules> inline constexpr foreign_operation<Rules> custom_call{};

} // namespace parallax
