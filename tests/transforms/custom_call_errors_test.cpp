// The texts of errors about users' own functions. They are traced at run time here.
#include "support/test.hpp"
#include "transforms/error_of.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

namespace custom_call_errors_test {

namespace {

namespace plx = parallax;
using plx::shaped;

constexpr auto four = shaped<float, 4>;

/// Rules of one argument and one result.
struct copied {
  static void host(plx::ffi_buffer<const float, 1>, plx::ffi_buffer<float, 1>) {}
  static constexpr auto shape(auto x) { return x; }
};
struct of_two : copied {
  static constexpr auto shape(auto x, auto) { return x; }
};
struct of_two_results : copied {
  static constexpr auto shape(auto x) { return std::pair{x, x}; }
};
struct of_a_number : copied {
  static constexpr auto shape(auto x) { return plx::sum(x); }
};
struct filled {
  static void host(plx::ffi_buffer<float, 1>, plx::ffi_buffer<float, 1>) {}
  static constexpr auto shape(auto x) { return x; }
};
struct batched_twice : copied {
  static constexpr auto batch(const std::array<bool, 1>&, auto x) { return std::pair{x, x}; }
};
struct batched_to_one : copied {
  static constexpr auto batch(const std::array<bool, 1>&, auto x) { return plx::sum(x, 0); }
};
struct backward_only : copied {
  static constexpr auto vjp(auto, auto, auto cotangent) { return std::tuple{cotangent}; }
};
struct narrow_tangent : copied {
  static constexpr auto jvp(auto, auto, auto tangents) { return plx::sum(std::get<0>(tangents)); }
};
struct narrow_cotangent : copied {
  static constexpr auto vjp(auto, auto, auto cotangent) { return std::tuple{plx::sum(cotangent)}; }
};
struct cuda_without_stream : copied {
  static void cuda(plx::ffi_buffer<const float, 1>, plx::ffi_buffer<float, 1>) {}
};
struct cuda_of_matrices : copied {
  static void cuda(int, plx::ffi_buffer<const float, 2>, plx::ffi_buffer<float, 2>) {}
};
template <std::size_t> struct one_of_many : copied {};

template <class Rules> constexpr auto total = [](auto x) { return plx::sum(plx::custom_call<Rules>(x)); };

} // namespace

TEST_CASE("custom_call: right rules have no error", "[errors]") {
  CHECK(error_of(plx::custom_call<copied>, four).empty());
  CHECK(error_of(plx::vmap(plx::custom_call<copied>), shaped<float, 3, 4>).empty());
  CHECK(error_of(plx::grad(total<backward_only>), four).empty());
}

TEST_CASE("custom_call: the arrays that host takes", "[errors]") {
  const std::string advice = "; let it take a plx::ffi_buffer of each argument, and then of each result";
  CHECK(error_of(plx::custom_call<of_two>, four, four) ==
        "custom_call: host takes 2 arrays, but there are 2 arguments and 1 results" + advice);
  CHECK(error_of(plx::custom_call<of_two_results>, four) ==
        "custom_call: host takes 2 arrays, but there are 1 arguments and 2 results" + advice);
  CHECK(error_of(plx::custom_call<copied>, shaped<double, 4>) ==
        "custom_call: argument 0 is float64[4], but host takes float32 of rank 1, of const elements; arguments are "
        "read, and results written");
  CHECK(error_of(plx::custom_call<of_a_number>, four) ==
        "custom_call: result 0 is float32[], but host takes float32 of rank 1, whose elements are not const; arguments "
        "are read, and results written");
  CHECK(error_of(plx::custom_call<filled>, four) ==
        "custom_call: argument 0 is float32[4], but host takes float32 of rank 1, whose elements are not const; "
        "arguments are read, and results written");
}

TEST_CASE("custom_call: what it is not given, and what cuda takes", "[errors]") {
  CHECK(error_of([](auto x) { return plx::custom_call<copied>(std::pair{x, x}); }, four) ==
        "custom_call: one of its arguments is a tree; give it arrays and numbers, the leaves of a tree one by one");
  const std::string other = "custom_call: cuda takes other arrays than host, or no stream; let it take a stream, and "
                            "then what host takes";
  CHECK(error_of(plx::custom_call<cuda_without_stream>, four) == other);
  CHECK(error_of(plx::custom_call<cuda_of_matrices>, four) == other);
}

TEST_CASE("custom_call: batches that are not like a call", "[errors]") {
  const std::string advice = "; let it return that type and shape";
  CHECK(error_of(plx::vmap(plx::custom_call<batched_twice>), shaped<float, 3, 4>) ==
        "custom_call: batch returns 2 arrays, but a call 1; let it return one for each result");
  CHECK(error_of(plx::vmap(plx::custom_call<batched_to_one>), shaped<float, 3, 4>) ==
        "custom_call: the rule returns float32[4] as batched result 0, which is to be float32[3,4]" + advice);
}

TEST_CASE("custom_call: derivatives that its rules do not say, or say of another shape", "[errors]") {
  const auto along = [](auto x) {
    return plx::jvp(plx::custom_call<copied>, std::tuple{x}, std::tuple{plx::ones_like(x)}).second;
  };
  CHECK(error_of(along, four) == "jvp: nothing is known of the derivative of a custom_call; give its rules jvp");
  CHECK(error_of(plx::grad(total<copied>), four) ==
        "grad: nothing is known of the derivative of a custom_call; give its rules vjp, or jvp");
  CHECK(error_of(plx::custom_call<narrow_tangent>, four) ==
        "custom_call: the rule returns float32[] as tangent 0, which is to be float32[4]; let it return that type and "
        "shape");
  CHECK(error_of(plx::custom_call<narrow_cotangent>, four) ==
        "custom_call: the rule returns float32[] as cotangent 0, which is to be float32[4]; let it return that type "
        "and shape");
}

TEST_CASE("custom_call: a program calls so many functions", "[errors]") {
  constexpr auto chain = []<std::size_t... I>(std::index_sequence<I...>) {
    return [](auto x) {
      ((x = plx::custom_call<one_of_many<I>>(x)), ...);
      return x;
    };
  };
  const auto error_of_many = []<class Function>(Function) {
    return std::string(plx::detail::words_of<Function, plx::detail::abstract_t<decltype(four)>>().error.view());
  };
  CHECK(error_of_many(chain(std::make_index_sequence<16>{})).empty());
  CHECK(error_of_many(chain(std::make_index_sequence<17>{})) ==
        "custom_call: a program calls at most 16 functions of its user's own; make it two programs");
}

} // namespace custom_call_errors_test
