// A user's functions as programs keep them: entries of one type, made from the types of the arrays that the functions
// take.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/ffi_buffer.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/ffi_function.hpp>
#include <parallax/transforms/passes/call.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

template <class T> inline constexpr bool is_ffi_buffer = false;
template <class T, int Rank> inline constexpr bool is_ffi_buffer<ffi_buffer<T, Rank>> = true;

/// The arrays that a function takes, and the stream before them.
template <class Function> struct ffi_signature;
template <class... T, int... Ranks> struct ffi_signature<void (*)(ffi_buffer<T, Ranks>...)> {
  using views = std::tuple<ffi_buffer<T, Ranks>...>;
  using stream = void;
};
template <class Stream, class... T, int... Ranks>
  requires(!is_ffi_buffer<Stream>)
struct ffi_signature<void (*)(Stream, ffi_buffer<T, Ranks>...)> {
  using views = std::tuple<ffi_buffer<T, Ranks>...>;
  using stream = Stream;
};
template <class... T> struct ffi_signature<void (*)(T...) noexcept> : ffi_signature<void (*)(T...)> {};

template <class Rules>
concept has_host_function = requires { typename ffi_signature<decltype(&Rules::host)>::views; } &&
                            std::is_void_v<typename ffi_signature<decltype(&Rules::host)>::stream>;
template <class Rules>
concept has_cuda_function = requires { &Rules::cuda; };

/// The type of operand `I`.
template <std::size_t I> using operand_type = tracer;
// a concept: nvcc 12.4 finds none if the list of operands is expanded in a `requires` of a member
template <class Rules, class... Operands>
concept has_batch_of =
    requires(const Operands&... operands) { Rules::batch(std::array<bool, sizeof...(Operands)>{}, operands...); };

/// The functions of rules, as programs keep them.
template <class Rules, int Operands> class ffi_entries {
  using views = typename ffi_signature<decltype(&Rules::host)>::views;
  static constexpr std::size_t count = std::tuple_size_v<views>;
  using all = std::make_index_sequence<count>;

  template <std::size_t I> static auto view(const ffi_arguments& a) {
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
  template <std::size_t... I> static void run_host(const ffi_arguments& a, std::index_sequence<I...>) {
    Rules::host(view<I>(a)...);
  }
  static void host(const ffi_arguments& a) { run_host(a, all{}); }

  template <std::size_t... I>
  static void run_cuda(const void* stream, const ffi_arguments& a, std::index_sequence<I...>) {
    using type = typename ffi_signature<decltype(&Rules::cuda)>::stream;
    Rules::cuda(*static_cast<const type*>(stream), view<I>(a)...);
  }
  static void cuda(const void* stream, const ffi_arguments& a) { run_cuda(stream, a, all{}); }

  static constexpr growing_vector<tracer> batch(context& trace, const growing_vector<tracer>& operands,
                                                const operand_flags& mapped) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return leaves_to_tracers(trace, Rules::batch(std::array<bool, sizeof...(I)>{mapped[I] != 0 ...}, operands[I]...));
    }(std::make_index_sequence<std::size_t{Operands}>{});
  }

  static constexpr bool cuda_fits() {
    if constexpr (has_cuda_function<Rules>) {
      using signature = ffi_signature<decltype(&Rules::cuda)>;
      return std::is_same_v<typename signature::views, views> && !std::is_void_v<typename signature::stream>;
    } else {
      return true;
    }
  }
  static constexpr ffi_function make() {
    ffi_function made{.host = &host};
    if constexpr (has_cuda_function<Rules> && cuda_fits()) {
      made.cuda = &cuda;
      made.stream_type = &name_of_type<typename ffi_signature<decltype(&Rules::cuda)>::stream>;
    }
    if constexpr (has_batch(std::make_index_sequence<std::size_t{Operands}>{})) made.batch = &batch;
    return made;
  }
  template <std::size_t... I> static constexpr bool has_batch(std::index_sequence<I...>) {
    return has_batch_of<Rules, operand_type<I>...>;
  }

 public:
  static constexpr ffi_function function = make();

  /// The element type of the array that the functions take as argument `number`; plain numbers are converted to it.
  static constexpr element_type type_of(std::size_t number) {
    return number < count ? types_of(all{})[number] : element_type::float32;
  }
  /// Whether the functions take arrays like these: element types and ranks.
  static constexpr bool check(context& trace, const growing_vector<tracer>& operands,
                              const growing_vector<abstract_value>& results) {
    if (!cuda_fits()) {
      trace.fail(message() << "custom_call: cuda takes other arrays than host, or no stream; let it take a stream, and "
                              "then what host takes");
      return false;
    }
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

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
