// The texts of errors in programs. They are traced at run time here; tests/compile_fail shows how a compiler prints
// them.
#include "support/test.hpp"
#include "transforms/error_arguments.hpp"
#include "transforms/error_of.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <string>
#include <tuple>

namespace error_texts_test {

namespace plx = parallax;
using plx::in_axes, plx::none, plx::shaped;
using namespace error_arguments;

TEST_CASE("a right program has no error", "[errors]") {
  CHECK(error_of(identity, matrix).empty());
  CHECK(error_of([](auto x, auto y) { return x + y; }, matrix, dynamic).empty());
}

TEST_CASE("products name both shapes and the extents that differ", "[errors]") {
  auto dot = [](auto x, auto y) { return plx::dot(x, y); };
  auto matmul = [](auto x, auto y) { return plx::matmul(x, y); };
  CHECK(error_of(dot, matrix, five) ==
        "dot: shapes float32[3,4] and float32[5] do not agree: extent 4 of axis 1 must equal extent 5 of axis 0");
  CHECK(error_of(matmul, matrix, matrix) ==
        "matmul: shapes float32[3,4] and float32[3,4] do not agree: extent 4 of axis 1 must equal extent 3 of axis 0");
  CHECK(error_of(matmul, scalar, matrix) ==
        "matmul: shapes float32[] and float32[3,4] do not agree: scalars are not allowed; use *");
  CHECK(error_of(matmul, shaped<float, 3, 4, 5>, shaped<float, 2, 5, 4>) ==
        "matmul: shapes float32[3,4,5] and float32[2,5,4] do not agree: batch extents must be equal, or one of them 1");
  CHECK(error_of([](auto x, auto y) { return plx::dot_general(x, y, {{0}, {}}); }, matrix, five) ==
        "dot_general: shapes float32[3,4] and float32[5] do not agree: name as many axes of the left operand as of the "
        "right");
}

TEST_CASE("shapes that cannot be broadcast", "[errors]") {
  std::string shapes = "shapes float32[3,4] and float32[5] do not agree: 4 is not 5; make these extents equal, or one "
                       "of them 1";
  CHECK(error_of([](auto x, auto y) { return x + y; }, matrix, five) == "add: " + shapes);
  CHECK(error_of([](auto x, auto y) { return plx::where(x > 0, x, y); }, matrix, five) == "where: " + shapes);
  CHECK(error_of([](auto x) { return plx::broadcast_to(x, {5}); }, matrix) ==
        "broadcast_to: cannot broadcast float32[3,4] to shape (5); give at least as many extents as the array has");
  CHECK(error_of([](auto x) { return plx::broadcast_to(x, {3, 5}); }, matrix) ==
        "broadcast_to: cannot broadcast float32[3,4] to shape (3,5); each extent stays or was 1");
  CHECK(error_of([](auto x) { return plx::broadcast_to(x, {-3, 3, 4}); }, matrix) ==
        "broadcast_to: -3 in (-3,3,4) is not an extent, for float32[3,4]; give extents from 0 on");
}

TEST_CASE("reshapes keep the number of elements", "[errors]") {
  std::string start = "reshape: cannot reshape array float32[3,4] of size 12 into shape ";
  CHECK(error_of([](auto x) { return plx::reshape(x, {5, 2}); }, matrix) ==
        start + "(5,2); the numbers of elements must be equal");
  CHECK(error_of([](auto x) { return plx::reshape(x, {5, -1}); }, matrix) ==
        start + "(5,-1); the numbers of elements must be equal");
  CHECK(error_of([](auto x) { return plx::reshape(x, {-1, -1}); }, matrix) ==
        start + "(-1,-1); one extent may be -1, no other is negative");
  CHECK(error_of([](auto x) { return plx::reshape(x, {-2, 6}); }, matrix) ==
        start + "(-2,6); one extent may be -1, no other is negative");
  CHECK(
      error_of([](auto x) { return plx::reshape(x, {0, -1}); }, shaped<float, 3, 0>) ==
      "reshape: cannot reshape array float32[3,0] of size 0 into shape (0,-1); -1 cannot be inferred beside an extent "
      "of 0");
  CHECK(error_of([](auto x) { return plx::reshape(x, {}); }, matrix) ==
        start + "(); the numbers of elements must be equal");
}

TEST_CASE("more dimensions than arrays may have", "[errors]") {
  constexpr auto eight = shaped<float, 1, 1, 1, 1, 1, 1, 1, 2>;
  constexpr auto two = shaped<float, 2>;
  std::string nine = ": the result has 9 dimensions; parallax supports at most 8";
  CHECK(error_of([](auto x) { return plx::expand_dims(x, 0); }, eight) == "expand_dims" + nine);
  CHECK(error_of([](auto x) { return plx::stack({x, x}); }, eight) == "stack" + nine);
  CHECK(error_of([](auto x) { return plx::reshape(x, {1, 1, 1, 1, 1, 1, 1, 1, 12}); }, matrix) == "reshape" + nine);
  CHECK(error_of([](auto x) { return plx::broadcast_to(x, {1, 1, 1, 1, 1, 1, 1, 3, 4}); }, matrix) ==
        "broadcast_to" + nine);
  CHECK(error_of([](auto x) { return x + plx::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, matrix) == "full" + nine);
  CHECK(error_of([](auto x) { return x + plx::broadcasted_iota<int, 0>({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, matrix) ==
        "broadcasted_iota" + nine);
  CHECK(error_of([](auto key) { return plx::random::normal(key, {1, 1, 1, 1, 1, 1, 1, 1, 1}); },
                 shaped<std::uint32_t, 2>) == "random::normal" + nine);
  CHECK(error_of([](auto x, auto y) { return plx::dot_general(x, y, {{}, {}}); }, eight, eight) ==
        "dot_general: the result has 16 dimensions; parallax supports at most 8");
  auto gather = plx::pmap<"i">([](auto x, auto y) { return plx::all_gather<"i">(y) + x; }, in_axes<0, none>);
  CHECK(error_of(gather, two, eight) == "all_gather" + nine);
  // an array of 8 dimensions that a mapping gives one more
  CHECK(error_of(plx::vmap([](auto x, auto y) { return plx::sum(x + y); }, in_axes<0, none>), two, eight) ==
        "add" + nine);
  CHECK(error_of(plx::vmap([](auto, auto y) { return y; }, in_axes<0, none>), two, eight) == "vmap" + nine);
  CHECK(error_of(plx::pmap([](auto x, auto y) { return x + y; }, in_axes<0, none>), two, eight) == "pmap" + nine);
  CHECK(error_of([](auto x) { return x + x; }, eight).empty());
}

TEST_CASE("extremes along axes without elements", "[errors]") {
  constexpr auto empty = shaped<float, 3, 0>;
  CHECK(error_of([](auto x) { return plx::max(x); }, empty) ==
        "max: zero-size array to reduction operation max which has no identity (axis 1), for float32[3,0]; reduce axes "
        "that have elements");
  CHECK(error_of([](auto x) { return plx::min(x, -1); }, empty) ==
        "min: zero-size array to reduction operation min which has no identity (axis 1), for float32[3,0]; reduce axes "
        "that have elements");
  CHECK(
      error_of([](auto x) { return plx::argmax(x); }, empty) ==
      "argmax: attempt to get argmax of an empty sequence (axis 1), for float32[3,0]; reduce axes that have elements");
  CHECK(
      error_of([](auto x) { return plx::argmin(x, 1); }, empty) ==
      "argmin: attempt to get argmin of an empty sequence (axis 1), for float32[3,0]; reduce axes that have elements");
  CHECK(error_of([](auto x) { return std::tuple(plx::max(x, 0), plx::argmin(x, 0), plx::logsumexp(x, 1)); }, empty)
            .empty());
}

TEST_CASE("powers of integers", "[errors]") {
  CHECK(error_of([](auto x) { return plx::power(x, -2); }, shaped<int, 3>) ==
        "power: Integers cannot be raised to negative powers, got integer_pow -2; convert them with astype first");
}

TEST_CASE("axes that are not there, or twice", "[errors]") {
  std::string bounds = " is out of bounds for array of dimension 2; give an axis from -2 to 1";
  CHECK(error_of([](auto x) { return plx::sum(x, 2); }, matrix) == "sum: axis 2" + bounds);
  CHECK(error_of([](auto x) { return plx::softmax(x, -3); }, matrix) == "softmax: axis -3" + bounds);
  CHECK(error_of([](auto x) { return plx::argmax(x, 2); }, matrix) == "argmax: axis 2" + bounds);
  CHECK(error_of([](auto x) { return x * x.shape(5); }, matrix) == "shape: axis 5" + bounds);
  CHECK(error_of([](auto x) { return plx::expand_dims(x, 3); }, matrix) ==
        "expand_dims: axis 3 is out of bounds for array of dimension 3; give an axis from -3 to 2");
  CHECK(error_of([](auto x) { return plx::mean(x, {0, -2}); }, matrix) ==
        "mean: axis -2 is given twice; name every axis at most once");
  CHECK(error_of([](auto x) { return plx::transpose(x, {0}); }, matrix) ==
        "transpose: 1 axes given for an array of dimension 2; name every axis once");
  CHECK(error_of([](auto x) { return plx::squeeze(x, 0); }, matrix) ==
        "squeeze: cannot select an axis to squeeze out which has size not equal to one, got axis 0 of float32[3,4]; "
        "choose an axis of extent 1");
}

TEST_CASE("parts of arrays", "[errors]") {
  CHECK(error_of([](auto x) { return plx::slice(x, {0, 0}, {3, 9}); }, matrix) ==
        "slice: from 0 to 9 is not within axis 1 of float32[3,4]; give 0 <= start <= limit <= extent");
  CHECK(error_of([](auto x) { return plx::slice(x, {0, -1}, {3, 4}); }, matrix) ==
        "slice: -1 in (0,-1) is not an extent, for float32[3,4]; give extents from 0 on");
  CHECK(error_of([](auto x) { return plx::slice(x, {0, 0}, {3, 4}, {1, 0}); }, matrix) ==
        "slice: stride 0 is not positive; give a stride from 1 on");
  CHECK(error_of([](auto x) { return plx::slice(x, {0}, {3}); }, matrix) ==
        "slice: 1 starts, 1 limits and 0 strides for an array of dimension 2; give one per axis");
  CHECK(error_of([](auto x) { return plx::slice_in_dim(x, none, 5, 1, 1); }, matrix) ==
        "slice_in_dim: bound 5 is not within axis 1 of float32[3,4]; give bounds from -4 to 4");
  CHECK(error_of([](auto x) { return plx::slice_in_dim(x, -4, none); }, matrix) ==
        "slice_in_dim: bound -4 is not within axis 0 of float32[3,4]; give bounds from -3 to 3");
  CHECK(error_of([](auto x) { return plx::slice_in_dim(x, 2, 1); }, matrix) ==
        "slice: from 2 to 1 is not within axis 0 of float32[3,4]; give 0 <= start <= limit <= extent");
  CHECK(error_of([](auto x) { return plx::index_in_dim(x, 3); }, matrix) ==
        "index_in_dim: index 3 is out of bounds for axis 0 of float32[3,4]; give an index from -3 to 2");
  CHECK(error_of([](auto x) { return plx::pad(x, 0.f, {{1, 1, 0}}); }, matrix) ==
        "pad: 1 paddings for an array of dimension 2; give one per axis");
  CHECK(error_of([](auto x) { return plx::pad(x, 0.f, {{1, 1, -1}, {}}); }, matrix) ==
        "pad: interior padding -1 is negative; give one from 0 on");
}

TEST_CASE("arrays to join", "[errors]") {
  CHECK(error_of([](auto x, auto y) { return plx::concatenate({x, y}, 0); }, matrix, shaped<float, 2, 5>) ==
        "concatenate: shapes float32[3,4] and float32[2,5] do not agree: 4 is not 5; make these extents equal");
  CHECK(error_of([](auto x, auto y) { return plx::concatenate({x, y}, 0); }, matrix, five) ==
        "concatenate: shapes float32[3,4] and float32[5] differ in rank; give arrays of one rank");
  CHECK(error_of([](auto x, auto y) { return plx::stack({x, y}); }, matrix, shaped<float, 2, 5>) ==
        "stack: shapes float32[3,4] and float32[2,5] differ; give arrays of one shape");
}

TEST_CASE("types that an operation does not take", "[errors]") {
  CHECK(error_of([](auto x) { return x & x; }, matrix) ==
        "and: bitwise operations take integers or truth values, not float32; convert first, or use bitcast");
  CHECK(error_of([](auto x) { return plx::bitcast<double>(x); }, matrix) ==
        "bitcast: float32 and float64 differ in size or are truth values; bitcast between types of equal size");
  CHECK(error_of([](auto x) { return plx::random::uniform<float>(x, {2}); }, shaped<std::uint32_t, 3, 2>) ==
        "random::uniform: expected a key, uint32[2], but got uint32[3,2]; make one with random::key, and use vmap for "
        "several");
  CHECK(error_of([](auto x) { return plx::philox::normal(x); }, matrix).starts_with("philox::normal: expected a key"));
  CHECK(error_of([](auto x) { return x * static_cast<float>(x.shape(0).number()); }, dynamic) ==
        "number: this extent is known at the call only; give the array a static extent to use it as a number");
}

TEST_CASE("values that are no partners of the keys they are sorted by", "[errors]") {
  auto sorted = [](auto keys, auto values) { return plx::sort_key_val(keys, values); };
  CHECK(error_of(sorted, four, matrix) ==
        "sort_key_val: float32[4] and float32[3,4] have not the same shape; give values "
        "of the shape of the keys");
  CHECK(error_of(sorted, four, five) == "sort_key_val: shapes float32[4] and float32[5] do not agree: 4 is not 5; give "
                                        "values of the shape of the keys");
}

TEST_CASE("values that are no arrays", "[errors]") {
  std::string rest = " is no array: take and return arrays, numbers, and trees of them (tuples, pairs, std::arrays, "
                     "aggregate templates of their leaf types)";
  CHECK(error_of([](auto) { return "hello"; }, matrix).ends_with(rest));
  CHECK(error_of([](auto) {}, matrix) == "traced function: a value of type void" + rest);
}

} // namespace error_texts_test
