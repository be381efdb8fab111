// Functions of arrays as plain code: objects without memory, threads, locks or exceptions, for programs that have no
// room or no time for the library's runtime. This header includes none of that, and compiles without exceptions and
// run-time type information.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/operations.hpp>

#include <parallax/compile/program_error.hpp>
#include <parallax/compile/program_table.hpp>
#include <parallax/compile/trace/expression.hpp>
#include <parallax/host/direct/lone_call.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The memory of an array with `Count` elements, row-major: a pointer to the first, an array, or a span; for a single
/// element, the element itself too. Memory with another number of elements does not compile; behind a pointer the
/// number is not known.
template <class T, std::size_t Count> class elements {
 public:
  template <class Pointer>
    requires std::is_pointer_v<Pointer> && std::is_convertible_v<Pointer, T*>
  constexpr elements(const Pointer& pointer) noexcept : first(pointer) {}

  template <class U, std::size_t Other>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr elements(U (&array)[Other]) noexcept : elements(std::span<U, Other>(array)) {}
  template <class U, std::size_t Other>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr elements(std::array<U, Other>& array) noexcept : elements(std::span<U, Other>(array)) {}
  template <class U, std::size_t Other>
    requires std::is_convertible_v<const U (*)[], T (*)[]>
  constexpr elements(const std::array<U, Other>& array) noexcept : elements(std::span<const U, Other>(array)) {}
  template <class U, std::size_t Other>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr elements(std::span<U, Other> span) noexcept : first(span.data()) {
    static_assert(Other != std::dynamic_extent,
                  "parallax: a span for a compiled_function has a static extent: write span.first<count>()");
    static_assert(Other == Count, "parallax: this memory has another number of elements than the argument or result of "
                                  "the compiled_function that it is for");
  }
  constexpr elements(T& element) noexcept
    requires(Count == 1)
      : first(&element) {}

  constexpr T* data() const { return first; }

 private:
  T* first;
};

namespace detail {

/// The first extent of an argument that is not static.
template <class... Trees> constexpr message dynamic_extent_among() {
  message found;
  int number = 0; // of the function's argument, which may be a tree of arrays
  bool has_found = false;
  [[maybe_unused]] auto look = [&]<class L, int>() {
    if constexpr (is_abstract_array<L>) {
      for (int i = 0; i < L::extents_type::rank && !has_found; ++i) {
        if (L::extents_type::values[index_of(i)] != dyn) continue;
        has_found = true;
        found << "compiled_function: extent " << i << " of argument " << number
              << " is not static: give each extent of shaped<...> as a number";
      }
    } else if (!has_found) {
      has_found = true;
      found << "compiled_function: argument " << number << " is no array of static extents: write shaped<float, 3>";
    }
    return 0;
  };
  ((static_cast<void>(tree_build<Trees>(look)), ++number), ...);
  return found;
}
template <class... Trees> struct dynamic_extent_error {
  static constexpr message error = dynamic_extent_among<Trees...>();
};
template <class> struct device_error_text {
  static constexpr message error = [] {
    return message() << "compiled_function: pmap needs devices, and a compiled_function runs in the calling thread: "
                        "use vmap, or call the function with arrays";
  }();
};

template <std::size_t Bytes> struct workspace_error {
  static constexpr message error = message() << "compiled_function: intermediate values take " << std::int64_t{Bytes}
                                             << " bytes: give the call std::array<std::byte, f.workspace_bytes> of "
                                                "its caller's as the last argument";
};

/// The types of a program's arguments and results.
template <class Program> struct program_types {
  static constexpr section_record section = Program::plan.section(section_id::main);
  static constexpr const buffer_record& buffer_of(buffer_kind kind, std::size_t number) {
    for (const buffer_record& buffer : Program::plan[section.buffers])
      if (buffer.kind == kind && index_of(buffer.number) == number) return buffer;
    return Program::plan[section.buffers][0];
  }
  template <std::size_t I>
  using argument = elements<const element_t<buffer_of(buffer_kind::bound, I).type>,
                            index_of(buffer_of(buffer_kind::bound, I).count.number())>;
  template <std::size_t I>
  using result = elements<element_t<buffer_of(buffer_kind::output, I).type>,
                          index_of(buffer_of(buffer_kind::output, I).count.number())>;
};

template <class Program, class Arguments, class Results> class compiled_call;
template <class Program, std::size_t... A, std::size_t... R>
class compiled_call<Program, std::index_sequence<A...>, std::index_sequence<R...>> {
  using types = program_types<Program>;

 public:
  static constexpr std::size_t argument_count = sizeof...(A), result_count = sizeof...(R);
  /// The bytes of memory that a call needs for intermediate values, at any address.
  static constexpr std::size_t workspace_bytes = host::lone_call<Program>::workspace_bytes;

  /// Computes the results of the arguments, both leaf by leaf. Memory of results must not overlap any other.
  void operator()(typename types::template argument<A>... arguments, typename types::template result<R>... results,
                  std::span<std::byte, workspace_bytes> workspace) const noexcept {
    std::byte* const outputs[] = {reinterpret_cast<std::byte*>(results.data())..., nullptr};
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      const std::byte* const values[] = {
          reinterpret_cast<const std::byte*>(arguments.data())...,
          reinterpret_cast<const std::byte*>(program_table<Program, K>::numbers.data())..., nullptr};
      host::lone_call<Program>::run(values, outputs, workspace.data());
    }(std::make_index_sequence<Program::table_count>{});
  }
  /// The call without a workspace, for programs that need none.
  void operator()(typename types::template argument<A>... arguments,
                  typename types::template result<R>... results) const noexcept
    requires(workspace_bytes == 0)
  {
    (*this)(arguments..., results..., std::span<std::byte, 0>());
  }
  /// Stops compilation, and says what is missing.
  void operator()(typename types::template argument<A>..., typename types::template result<R>...) const noexcept
    requires(workspace_bytes > 0)
  {
    print_error<workspace_error<workspace_bytes>>();
  }
};

/// Stands for a program with an error; calls of it cause no further errors.
struct no_compiled_call {
  static constexpr std::size_t workspace_bytes = 0;
  template <class... Memory> void operator()(Memory&&...) const noexcept {}
};

/// An object that calls a program without a runtime. If no such call is possible, compilation stops with the reason.
template <class Function, class... Trees> constexpr auto compiled_call_of() {
  if constexpr (dynamic_extent_error<Trees...>::error.size != 0) {
    print_error<dynamic_extent_error<Trees...>>();
    return no_compiled_call{};
  } else if constexpr (!is_callable<Function, traced_t<Trees>...>() || !is_evaluated<Function, Trees...>) {
    return no_compiled_call{};
  } else if constexpr (!program<Function, Trees...>::valid) {
    print_error<error_of<program<Function, Trees...>>>();
    show_line<Function, Trees...>();
    return no_compiled_call{};
  } else if constexpr (!host::direct_steps<program<Function, Trees...>>::stay_on_host) {
    print_error<device_error_text<Function>>();
    return no_compiled_call{};
  } else {
    using compiled = program<Function, Trees...>;
    constexpr section_record section = compiled::plan.section(section_id::main);
    return compiled_call<compiled, std::make_index_sequence<index_of(section.argument_count) - compiled::table_count>,
                         std::make_index_sequence<index_of(section.outputs.count)>>{};
  }
}

} // namespace detail

/// The program of `Function` on arguments of the given shapes, such as `shaped<float, 3, 4>`, as a function of their
/// memory: constant, reentrant, without allocations, locks and exceptions. It is called with the arguments, then the
/// results, each as `elements`, and the workspace, if it needs one. JAX: jit(f).lower(...).compile()
template <auto Function, auto... Shapes>
class compiled_function
    : public decltype(detail::compiled_call_of<std::remove_const_t<decltype(Function)>,
                                               detail::abstract_t<std::remove_const_t<decltype(Shapes)>>...>()) {};

} // namespace parallax::PARALLAX_INLINE_VERSION
