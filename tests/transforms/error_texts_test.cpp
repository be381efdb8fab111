// The texts of errors in programs. They are traced at run time here; tests/compile_fail shows how a compiler prints
// them.
#include "test.hpp"
#include "transforms/error_of.hpp"

#include <parallax/parallax.hpp>

#include <string>

namespace error_texts_test {

namespace plx = parallax;
using plx::in_axes, plx::out_axes, plx::none, plx::shaped, plx::tree, plx::dyn, plx::devices;

namespace {

constexpr auto matrix = shaped<float, 3, 4>;
constexpr auto four = shaped<float, 4>;
constexpr auto five = shaped<float, 5>;
constexpr auto scalar = shaped<float>;
constexpr auto dynamic = shaped<float, dyn, dyn>;

constexpr auto identity = [](auto x) { return x; };
constexpr auto first_of_two = [](auto x, auto) { return x; };

} // namespace

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

TEST_CASE("names of axes", "[errors]") {
  CHECK(error_of([](auto x) { return plx::psum<"i">(x); }, matrix) ==
        "psum: unbound axis name: i; no axis name is bound here: map the function with pmap<\"i\"> or vmap<\"i\">");
  CHECK(error_of(plx::pmap<"rows">(plx::pmap<"cols">([](auto x) { return plx::psum<"row">(x); })), matrix) ==
        "psum: unbound axis name: row; bound axis names are: rows, cols");
  CHECK(error_of(plx::vmap<"i">([](auto x) { return x + plx::axis_index<"j">(); }), matrix) ==
        "axis_index: unbound axis name: j; bound axis names are: i");
  // a name is not bound outside of what is mapped
  CHECK(error_of([](auto x) { return plx::psum<"i">(plx::vmap<"i">(identity)(x)); }, matrix)
            .starts_with("psum: unbound axis name: i; no axis name"));
}

TEST_CASE("collectives", "[errors]") {
  auto permute = [](auto x) { return plx::ppermute<"i">(x, {{0, 1}, {1, 1}}); };
  CHECK(error_of(plx::pmap<"i">(permute), matrix) ==
        "ppermute: sources and destinations must be unique, got ((0, 1), (1, 1)); name every instance at most once as "
        "a source and once as a destination");
  auto beyond = [](auto x) { return plx::ppermute<"i">(x, {{0, 3}}); };
  CHECK(error_of(plx::pmap<"i">(beyond), matrix) ==
        "ppermute: pair (0, 3) is outside the axis of size 3; give indices from 0 to 2");
  auto partial = [](auto x) { return plx::ppermute<"i">(x, {{0, 1}}); };
  CHECK(error_of(plx::vmap<"i">(partial), matrix) ==
        "ppermute: Permutation doesn't match the axis size! Over a vmapped axis of size 3 give every instance one "
        "source");
  CHECK(error_of(plx::vmap<"i">(partial), dynamic)
            .starts_with("ppermute: pairs over a vmapped axis need its size while compiling"));
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x); }), matrix) ==
        "psum_scatter: reduce_scatter operand scatter dimension size 4 must match shard count 3; use "
        "gather_mode::tiled to divide a longer one");
  CHECK(
      error_of(plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled); }), matrix) ==
      "psum_scatter: tiled reduce_scatter operand scatter dimension size 4 must be divisible by shard_count 3; pad "
      "it, or map over another number");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x, 3); }), matrix) ==
        "all_gather: axis 3 is out of bounds for array of dimension 2; give an axis from -2 to 1");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::pbroadcast<"i">(x, 3); }), matrix) ==
        "pbroadcast: source 3 is outside the axis of size 3; give an index from 0 to 2");
  CHECK(error_of(plx::vmap<"i">([](auto x) { return plx::pbroadcast<"j">(x, 0); }), matrix) ==
        "pbroadcast: unbound axis name: j; bound axis names are: i");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::all_to_all<"i">(x, 0, 0); }), matrix) ==
        "all_to_all requires the size of the mapped axis i to equal x.shape[split_axis], but they are 3 and 4 "
        "respectively; use gather_mode::tiled to divide a longer one");
  CHECK(error_of(plx::vmap<"i">([](auto x) { return plx::all_to_all<"i">(x, 0, 0, plx::gather_mode::tiled); }),
                 matrix) == "all_to_all: The size of all_to_all split_axis (4) has to be divisible by the size of the "
                            "named axis i (3); pad it, or map over another number");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::all_to_all<"i">(x, 0, 1); }), matrix) ==
        "all_to_all: axis 1 is out of bounds for array of dimension 1; give an axis from -1 to 0");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::pswapaxes<"i">(x, 0); }), matrix)
            .starts_with("all_to_all requires the size of the mapped axis i"));
}

TEST_CASE("collectives along several axes", "[errors]") {
  constexpr auto nested = [](auto f) { return plx::pmap<"i">(plx::pmap<"j">(f)); };
  CHECK(error_of(nested([](auto x) { return plx::all_gather<"j", "i">(x); }), matrix) ==
        "all_gather: name each axis once, the outermost first");
  CHECK(error_of(nested([](auto x) { return plx::psum<"j", "i">(x); }), matrix).empty());
  constexpr auto half = plx::pmap<"i">(plx::vmap<"j">([](auto x) { return plx::pbroadcast<"i", "j">(x, 0); }));
  CHECK(error_of(half, matrix) == "pbroadcast: several axes of which vmap maps one are not supported; call it for one "
                                  "axis after the other");
}

TEST_CASE("groups of instances", "[errors]") {
  using plx::axis_index_groups;
  constexpr auto cover = [](std::string_view groups) {
    return "psum: axis_index_groups must cover all indices exactly once, got " + std::string(groups) +
           " for an axis of size 3; name each index in one group";
  };
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 1}}); }), matrix) ==
        cover("((0, 1))"));
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 1}, {1}}); }), matrix) ==
        cover("((0, 1), (1))"));
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 3}, {1}}); }), matrix) ==
        cover("((0, 3), (1))"));
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{}); }), matrix) == cover("()"));
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::pmax<"i">(x, axis_index_groups{{0, 1, 2, 3}}); }), matrix)
            .starts_with("pmax: axis_index_groups must cover all indices exactly once, got ((0, 1, 2, 3))"));
  // an axis whose size only the call knows
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::pmean<"i">(x, axis_index_groups{{0, 2}}); }), dynamic) ==
        "pmean: axis_index_groups must cover all indices exactly once, got ((0, 2)); name each index in one group");
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 2}, {1}}); }), matrix)
            .empty());
  auto unequal = [](std::string_view operation) {
    return std::string(operation) + ": Replica groups must be equally sized, got ((0, 2), (1))";
  };
  constexpr auto gather = [](auto x) { return plx::all_gather<"i">(x, axis_index_groups{{0, 2}, {1}}); };
  constexpr auto scatter = [](auto x) { return plx::psum_scatter<"i">(x, axis_index_groups{{0, 2}, {1}}); };
  constexpr auto exchange = [](auto x) { return plx::all_to_all<"i">(x, axis_index_groups{{0, 2}, {1}}, 0, 0); };
  CHECK(error_of(plx::pmap<"i">(gather), matrix) == unequal("all_gather"));
  CHECK(error_of(plx::pmap<"i">(scatter), matrix) == unequal("psum_scatter"));
  CHECK(error_of(plx::pmap<"i">(exchange), matrix) == unequal("all_to_all"));
  constexpr auto single = [](auto x) { return plx::psum_scatter<"i">(x, axis_index_groups{{0, 1, 2}}); };
  CHECK(error_of(plx::pmap<"i">(single), matrix)
            .starts_with("psum_scatter: reduce_scatter operand scatter dimension size 4 must match shard count 3"));
  constexpr auto vmapped = plx::vmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 1}, {2}}); });
  CHECK(error_of(vmapped, matrix) == "psum: axis_index_groups not supported in vmap collectives; map that axis with "
                                     "pmap, or split it into two and name one of them");
  constexpr auto varying = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 1}, {2}}); },
                                          plx::out_axes<plx::none>);
  CHECK(error_of(varying, matrix).find("differs between instances") != std::string::npos);
  constexpr auto reversed =
      plx::pmap<"i">(plx::pmap<"j">([](auto x) { return plx::psum<"j", "i">(x, axis_index_groups{{0, 1, 2, 3}}); }));
  CHECK(error_of(reversed, shaped<float, 2, 2>) == "psum: name each axis once, the outermost first");
}

TEST_CASE("gradients", "[errors]") {
  std::string result = "grad requires a function with one real scalar result (float32[] or float64[]), but it returns ";
  std::string advice = "; reduce it with sum or mean, or return the loss alone";
  CHECK(error_of(plx::grad(identity), matrix) == result + "float32[3,4]" + advice);
  CHECK(error_of(plx::grad([](auto x) { return plx::argmax(x); }), four) == result + "int32[]" + advice);
  CHECK(error_of(plx::grad([](auto x) { return std::pair{plx::sum(x), x}; }), four) == result + "2 arrays" + advice);
  CHECK(error_of(plx::grad([](auto x) { return plx::sum(x); }), shaped<int, 4>) ==
        "grad requires real-valued inputs (float32 or float64), but argument 0 has type int32[4]; convert it with "
        "astype<float>, or leave it out of argnums");
  auto largest = [](auto x) { return plx::sum(plx::pmax<"i">(x)); };
  auto gradient = [](auto x) { return plx::grad([](auto y) { return plx::sum(plx::pmax<"i">(y)); })(x); };
  std::string missing = "; put its operand into stop_gradient, or use another operation";
  CHECK(error_of(plx::pmap<"i">(gradient), matrix) ==
        "Differentiation rule for 'pmax' not implemented, applied here to float32[4]" + missing);
  auto over_pmap = [](auto x) {
    return plx::sum(plx::pmap<"i">([](auto y) { return plx::sum(plx::pmin<"i">(y)); })(x));
  };
  CHECK(error_of(plx::grad(over_pmap), matrix) ==
        "Differentiation rule for 'pmin' not implemented, applied here to float32[4]" + missing);
  CHECK(error_of(plx::pmap<"i">(largest), matrix).empty());
}

TEST_CASE("in_axes and out_axes that do not fit", "[errors]") {
  std::string advice = "; give one entry for all or one for each";
  std::string prefix = " must be a tree prefix of the corresponding value, but got ";
  CHECK(error_of(plx::vmap(first_of_two, in_axes<0, 0, 0>), matrix, matrix) ==
        "vmap in_axes" + prefix + "len(in_axes)=3, len(args)=2" + advice);
  CHECK(error_of(plx::pmap(identity, in_axes<tree<0, 0, 0>>), std::pair{matrix, matrix}) ==
        "pmap in_axes" + prefix + "len(in_axes)=3, len(args)=2" + advice);
  CHECK(error_of(plx::vmap(identity, in_axes<tree<0, 0>>), matrix) ==
        "vmap in_axes" + prefix + "len(in_axes)=2, len(args)=1" + advice);
  CHECK(error_of(plx::vmap([](auto x) { return std::pair{x, x}; }, out_axes<0, 0, 0>), matrix) ==
        "vmap out_axes" + prefix + "len(out_axes)=3, len(results)=2" + advice);
  CHECK(error_of(plx::vmap(identity, in_axes<true>), matrix) ==
        "vmap in_axes must be an int, none, or a tree of entries corresponding to the arguments; give one such entry "
        "per argument");
  CHECK(error_of(plx::vmap(identity, out_axes<2>), matrix) ==
        "vmap out_axes: axis 2 is out of bounds for array of dimension 2; give an axis from -2 to 1");
  CHECK(error_of(plx::pmap(identity, out_axes<-4>), matrix) ==
        "pmap out_axes: axis -4 is out of bounds for array of dimension 2; give an axis from -2 to 1");
}

TEST_CASE("a varying result under out_axes none", "[errors]") {
  std::string rest = "but out_axes is None: result 0 differs between instances; give it an axis, or reduce it first "
                     "with psum, pmean or another collective";
  CHECK(error_of(plx::vmap(identity, out_axes<none>), matrix) == "vmap has mapped output " + rest);
  CHECK(error_of(plx::vmap<"foo">(identity, out_axes<none>), matrix) ==
        "vmap has mapped output (axis_name='foo') " + rest);
  CHECK(error_of(plx::pmap<"foo">(identity, out_axes<none>), matrix) ==
        "pmap has mapped output (axis_name='foo') " + rest);
  CHECK(
      error_of(plx::pmap<"i">([](auto x) { return x * plx::axis_index<"i">(); }, in_axes<none>, out_axes<none>), matrix)
          .starts_with("pmap must have at least one"));
  // what is equal on all instances may go without an axis
  CHECK(error_of(plx::pmap<"i">([](auto x) { return plx::pmax<"i">(x); }, out_axes<none>), matrix).empty());
  CHECK(error_of(plx::vmap<"i">([](auto x) { return plx::psum<"i">(x); }, out_axes<none>), matrix).empty());
}

TEST_CASE("arguments that cannot be mapped", "[errors]") {
  CHECK(error_of(plx::vmap(identity), scalar) ==
        "vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is "
        "only 0 (its shape is float32[]); choose another axis, or none");
  CHECK(error_of(plx::pmap(identity, in_axes<2>), matrix) ==
        "pmap was requested to map its argument along axis 2, which implies that its rank should be at least 3, but is "
        "only 2 (its shape is float32[3,4]); choose another axis, or none");
  CHECK(error_of(plx::vmap(identity, in_axes<-3>), matrix) ==
        "vmap was requested to map its argument along axis -3, which implies that its rank should be at least 3, but "
        "is only 2 (its shape is float32[3,4]); choose another axis, or none");
  CHECK(error_of(plx::vmap(identity, in_axes<none>), matrix) ==
        "vmap must have at least one non-None value in in_axes; map at least one array argument");
  std::string advice = " give arrays of one size along the mapped axes, or map none of those that differ";
  CHECK(error_of(plx::vmap(first_of_two), matrix, five) ==
        "vmap got inconsistent sizes for array axes to be mapped:\n"
        "  * one axis had size 3: axis 0 of argument 0 of type float32[3,4];\n"
        "  * one axis had size 5: axis 0 of argument 1 of type float32[5];" +
            advice);
  CHECK(error_of(plx::pmap([](auto x, auto, auto) { return x; }, in_axes<0, 1, 0>), shaped<float, 10, 4>,
                 shaped<float, 2, 5>, shaped<float, 10>) ==
        "pmap got inconsistent sizes for array axes to be mapped:\n"
        "  * most axes (2 of them) had size 10, e.g. axis 0 of argument 0 of type float32[10,4];\n"
        "  * one axis had size 5: axis 1 of argument 1 of type float32[2,5];" +
            advice);
}

TEST_CASE("devices", "[errors]") {
  CHECK(error_of(plx::pmap(identity, devices<0>), matrix) ==
        "pmap: Leading axis size of input to pmapped function must equal the number of local devices passed to pmap. "
        "Got axis_size=3, num_local_devices=1; name as many devices as there are elements");
  CHECK(error_of(plx::pmap(plx::pmap(identity, devices<0, 1, 2, 3>)), matrix) ==
        "pmap: Nested pmap with explicit devices argument; give devices to the outermost pmap only");
  CHECK(error_of(plx::pmap(identity, devices<1, 0, 1>), matrix) ==
        "pmap: device 1 is named twice in the devices argument; name different devices, from 0 on");
  CHECK(error_of(plx::pmap(identity, devices<0, -1, 1>), matrix) ==
        "pmap: device -1 is no device in the devices argument; name different devices, from 0 on");
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
