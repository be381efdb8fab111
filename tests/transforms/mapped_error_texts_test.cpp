// The texts of errors in what is mapped and differentiated: of collectives, axes, devices and gradients.
#include "support/test.hpp"
#include "transforms/error_arguments.hpp"
#include "transforms/error_of.hpp"

#include <parallax/parallax.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace mapped_error_texts_test {

namespace plx = parallax;
using plx::in_axes, plx::out_axes, plx::none, plx::shaped, plx::tree, plx::devices;
using namespace error_arguments;

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
        "vmap got inconsistent sizes for array axes to be mapped: "
        "one axis had size 3: axis 0 of argument 0 of type float32[3,4]; "
        "one axis had size 5: axis 0 of argument 1 of type float32[5];" +
            advice);
  CHECK(error_of(plx::pmap([](auto x, auto, auto) { return x; }, in_axes<0, 1, 0>), shaped<float, 10, 4>,
                 shaped<float, 2, 5>, shaped<float, 10>) ==
        "pmap got inconsistent sizes for array axes to be mapped: "
        "most axes (2 of them) had size 10, e.g. axis 0 of argument 0 of type float32[10,4]; "
        "one axis had size 5: axis 1 of argument 1 of type float32[2,5];" +
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

} // namespace mapped_error_texts_test
