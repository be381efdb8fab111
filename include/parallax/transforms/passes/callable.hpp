// Whether a user's function can be called with the arguments that a transformation passes to it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/call.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The result of a function whose body does not compile; the compiler has reported that.
struct not_compiled {};

/// Whether a function can be called with arguments of these types. This compiles the function's body, so that errors in
/// it are found a few steps away from the user's line. It is no concept: if a concept is checked within itself, g++
/// leaves out the steps in between.
template <class Function, class... Args> constexpr bool is_callable() {
  return requires(const Function& function, Args&... args) {
    requires !std::is_same_v<decltype(function(args...)), not_compiled>;
  };
}

struct absent {};
template <class A> using by_value = A;
template <class A> using by_reference = const A&;
// A call that fits both a generic function and one of these is ambiguous. So it is known to fit, and the function's
// body is not compiled.
template <class Function, template <class> class By> struct rivalled : Function {
  using Function::operator();
  template <class A> void operator()(By<A>, absent = {}) const;
  template <class A, class B> void operator()(By<A>, By<B>, absent = {}) const;
  template <class A, class B, class C> void operator()(By<A>, By<B>, By<C>, absent = {}) const;
  template <class A, class B, class C, class D> void operator()(By<A>, By<B>, By<C>, By<D>, absent = {}) const;
};
inline constexpr int most_counted_arguments = 4;

// no tracer, since a body that does not compile for tracers would make clang++ think that the function takes none
struct counted {};
template <std::size_t> using counted_argument = const counted;
template <class Function, template <class> class By, std::size_t... I>
constexpr bool is_ambiguous(std::index_sequence<I...>) {
  return !requires(const rivalled<Function, By>& function, counted_argument<I>... args) { function(args...); };
}
/// Whether a generic function takes `Count` arguments. g++ prefers a rival whose parameters are the function's own.
template <class Function, int Count> constexpr bool takes() {
  using arguments = std::make_index_sequence<std::size_t{Count}>;
  if constexpr (is_ambiguous<Function, by_reference>(arguments{})) return true;
  else return is_ambiguous<Function, by_value>(arguments{});
}

template <class Function, class Result, class... Args>
constexpr int count_parameters(Result (Function::*)(Args...) const) {
  return static_cast<int>(sizeof...(Args));
}
template <class Function>
concept has_one_signature = requires { count_parameters(&Function::operator()); };
/// The number of arguments that a function takes; 0 if that cannot be told.
template <class Function, int First = 1> constexpr int argument_count() {
  if constexpr (First > most_counted_arguments || !std::is_class_v<Function>) return 0;
  else if constexpr (has_one_signature<Function>) return count_parameters(&Function::operator());
  else if constexpr (takes<Function, First>()) return First;
  else return argument_count<Function, First + 1>();
}

/// Reports a call that does not fit; returns a value that stands for its result.
template <class Function, class... Args> constexpr auto refuse_call(context& trace, std::string_view transformation) {
  constexpr int given = static_cast<int>(sizeof...(Args)), taken = argument_count<Function>();
  if constexpr (std::is_invocable_v<const Function&, const Args&...> ||
                (taken == given && !has_one_signature<Function>)) {
    return not_compiled{};
  } else {
    message text;
    text << transformation << ": the function ";
    if (taken == 0 || taken == given)
      text << "cannot be called with these " << given << " arguments: check how many it takes, and of which types";
    else text << "takes " << taken << (taken == 1 ? " argument" : " arguments") << ", but was called with " << given;
    trace.fail(text);
    return build::literal(trace, element_type::float32, 0);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
