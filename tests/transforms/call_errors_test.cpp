// What only a call can decide is checked at the call, before anything runs.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <string>

namespace call_errors_test {

namespace plx = parallax;

namespace {

template <std::size_t Rank> plx::array<float, int{Rank}> ones(std::array<std::int64_t, Rank> shape) {
  return plx::array<float, int{Rank}>::filled(shape, 1.f);
}

/// The message of the `shape_error` that `call` throws.
template <class Call> std::string message_of(Call&& call) {
  try {
    call();
  } catch (const plx::shape_error& error) {
    return error.what();
  }
  return "no error";
}

constexpr auto add = [](auto x, auto y) { return x + y; };
constexpr auto dot = [](auto x, auto y) { return plx::dot(x, y); };
constexpr auto add_three = [](auto x, auto y, auto z) { return plx::sum(x) + plx::sum(y) + plx::sum(z); };
constexpr auto identity = [](auto x) { return x; };

} // namespace

TEST_CASE("extents that disagree name the operation, both shapes and both arguments", "[errors]") {
  CHECK(message_of([] { plx::jit(add)(ones<2>({3, 4}), ones<2>({3, 5})); }) ==
        "add: shapes float32[3,4] and float32[3,5] do not agree: 4 (axis 1 of argument 0) is not 5 (axis 1 of argument "
        "1)");
  CHECK(message_of([] { plx::jit(dot)(ones<2>({3, 4}), ones<1>({5})); }) ==
        "dot: shapes float32[3,4] and float32[5] do not agree: 4 (axis 1 of argument 0) is not 5 (axis 0 of argument "
        "1)");
  CHECK(message_of([] { plx::jit(dot)(ones<2>({3, 4}), ones<1>({4})); }) == "no error");
}

TEST_CASE("a dynamic extent beside a static one", "[errors]") {
  plx::array<float, plx::extents<plx::dyn, 5>> fixed(ones<2>({3, 5}));
  CHECK(message_of([&] { plx::jit(add)(ones<2>({3, 4}), fixed); }) ==
        "add: shapes float32[3,4] and float32[3,5] do not agree: 4 (axis 1 of argument 0) is not 5");
}

TEST_CASE("expressions of arrays are checked too", "[errors]") {
  auto a = ones<2>({3, 4}), b = ones<2>({3, 5});
  CHECK(message_of([&] { plx::array<float, 2> c = a + b; }) ==
        "add: shapes float32[3,4] and float32[3,5] do not agree: 4 (axis 1 of argument 0) is not 5 (axis 1 of argument "
        "1)");
}

TEST_CASE("reshapes of dynamic extents", "[errors]") {
  auto to_pairs = [](auto x) { return plx::reshape(x, {6, 2}); };
  CHECK(message_of([&] { plx::jit(to_pairs)(ones<1>({10})); }) ==
        "reshape: shapes float32[10] and float32[6,2] do not agree: 10 (axis 0 of argument 0) is not 12");
  CHECK(message_of([&] { plx::jit(to_pairs)(ones<1>({12})); }) == "no error");
  auto flat = [](auto x) { return plx::reshape(plx::ravel(x), {7}); };
  CHECK(
      message_of([&] { plx::jit(flat)(ones<2>({3, 2})); }) ==
      "reshape: shapes float32[6] and float32[7] do not agree: 6 (axis 0 of argument 0 times axis 1 of argument 0) is "
      "not 7");
}

TEST_CASE("slices of dynamic extents", "[errors]") {
  auto head = [](auto x) { return plx::slice(x, {0}, {4}); };
  CHECK(message_of([&] { plx::jit(head)(ones<1>({3})); }) ==
        "slice: 4 is beyond 3 (axis 0 of argument 0) in float32[3]");
  CHECK(message_of([&] { plx::jit(head)(ones<1>({4})); }) == "no error");
  auto last_two = [](auto x) { return plx::slice_in_dim(x, -2, plx::none); };
  CHECK(message_of([&] { plx::jit(last_two)(ones<1>({1})); }) ==
        "slice_in_dim: bound -2 is outside the axis of size 1 (axis 0 of argument 0); give bounds from -1 to 1");
  CHECK(message_of([&] { plx::jit(last_two)(ones<1>({2})); }) == "no error");
  auto sixth = [](auto x) { return plx::index_in_dim(x, 5); };
  CHECK(message_of([&] { plx::jit(sixth)(ones<1>({3})); }) ==
        "index_in_dim: index 5 is outside the axis of size 3 (axis 0 of argument 0); give indices from 0 to 2");
  CHECK(message_of([&] { plx::jit(sixth)(ones<1>({6})); }) == "no error");
  // no bound is cut off
  auto first_four = [](auto x) { return plx::slice_in_dim(x, plx::none, 4); };
  CHECK(message_of([&] { plx::jit(first_four)(ones<1>({3})); }) ==
        "slice: 4 is beyond 3 (axis 0 of argument 0) in float32[3]");
}

TEST_CASE("an extent of 1 that only the call knows is not repeated", "[errors]") {
  std::string rest = "; an extent of 1 is repeated only where it is known while compiling: give the array a static "
                     "extent of 1, expand_dims it, or reshape it inside of a function";
  CHECK(message_of([] { plx::jit(add)(ones<2>({3, 4}), ones<2>({3, 1})); }) ==
        "add: shapes float32[3,4] and float32[3,1] do not agree: 4 (axis 1 of argument 0) is not 1 (axis 1 of argument "
        "1)" +
            rest);
  auto rows = [](auto x) { return plx::broadcast_to(x, {3, 4}); };
  CHECK(message_of([&] { plx::jit(rows)(ones<1>({1})); }) ==
        "broadcast_in_dim: shapes float32[1] and float32[3,4] do not agree: 1 (axis 0 of argument 0) is not 4" + rest);
  auto reshaped = [](auto x, auto y) { return x + plx::reshape(y, {y.shape(0), 1}); };
  CHECK(message_of([&] { plx::jit(reshaped)(ones<2>({3, 4}), ones<2>({3, 1})); }) == "no error");
  CHECK(message_of([&] { plx::array<float, 2> sum = ones<2>({1, 4}) + ones<2>({3, 4}); }) ==
        "add: shapes float32[1,4] and float32[3,4] do not agree: 1 (axis 0 of argument 0) is not 3 (axis 0 of argument "
        "1)" +
            rest);
}

TEST_CASE("an extent that cannot be inferred", "[errors]") {
  auto like = [](auto x, auto y) { return plx::reshape(x, {y.shape(0), -1}); };
  CHECK(message_of([&] { plx::jit(like)(ones<1>({0}), ones<1>({0})); }) ==
        "reshape: -1 cannot be inferred beside an extent of 0 (axis 0 of argument 1), for float32[0]");
  CHECK(message_of([&] { plx::jit(like)(ones<1>({6}), ones<1>({2})); }) == "no error");
  CHECK(message_of([] { plx::array<float, 2> y = plx::reshape(ones<1>({0}), {0, -1}); }) ==
        "reshape: cannot reshape array of size 0: -1 cannot be inferred beside an extent of 0");
}

TEST_CASE("extremes of nothing", "[errors]") {
  auto largest = [](auto x) { return plx::max(x, 1); };
  CHECK(message_of([&] { plx::jit(largest)(ones<2>({3, 0})); }) ==
        "max: zero-size array to reduction operation max which has no identity (axis 1 of argument 0), for "
        "float32[3,0]");
  CHECK(message_of([&] { plx::jit(largest)(ones<2>({0, 3})); }) == "no error");
  CHECK(message_of([] { plx::array<float, 0> y = plx::min(ones<1>({0})); }) ==
        "min: zero-size array to reduction operation min which has no identity (axis 0 of argument 0), for float32[0]");
  CHECK(message_of([] { plx::array<int, 0> y = plx::argmax(ones<1>({0})); }) ==
        "argmax: attempt to get argmax of an empty sequence (axis 0 of argument 0), for float32[0]");
  CHECK(message_of([] { plx::array<int, 1> y = plx::argmin(ones<2>({0, 2}), plx::axis<0>); }) ==
        "argmin: attempt to get argmin of an empty sequence (axis 0 of argument 0), for float32[0,2]");
}

TEST_CASE("what collectives ask of an axis size that only the call knows", "[errors]") {
  auto tiled = plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled); });
  CHECK(message_of([&] { tiled(ones<2>({2, 7})); }) ==
        "psum_scatter: tiled scatter dimension 7 (axis 1 of argument 0) of float32[7] must be divisible by 2 (axis 0 "
        "of argument 0)");
  CHECK(message_of([&] { tiled(ones<2>({2, 6})); }) == "no error");
  auto stacked = plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x); });
  CHECK(message_of([&] { stacked(ones<2>({2, 3})); }) ==
        "psum_scatter: scatter dimension 3 (axis 1 of argument 0) of float32[3] must be 2 (axis 0 of argument 0)");
  CHECK(message_of([&] { stacked(ones<2>({2, 2})); }) == "no error");
  auto permuted = plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, {{0, 2}, {1, 0}}); });
  CHECK(message_of([&] { permuted(ones<1>({2})); }) ==
        "ppermute: index 2 is outside the axis of size 2 (axis 0 of argument 0); give indices from 0 to 1");
  CHECK(message_of([&] { permuted(ones<1>({3})); }) == "no error");
  auto grouped = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, plx::axis_index_groups{{0, 2}, {1}}); });
  CHECK(message_of([&] { grouped(ones<1>({2})); }) ==
        "psum: axis_index_groups must cover all indices exactly once, but they have 3 for an axis of size 2 (axis 0 of "
        "argument 0)");
  CHECK(message_of([&] { grouped(ones<1>({3})); }) == "no error");
  auto sent = plx::pmap<"i">([](auto x) { return plx::pbroadcast<"i">(x, 2); });
  CHECK(message_of([&] { sent(ones<1>({2})); }) ==
        "pbroadcast: index 2 is outside the axis of size 2 (axis 0 of argument 0); give indices from 0 to 1");
  CHECK(message_of([&] { sent(ones<1>({3})); }) == "no error");
  auto exchanged = plx::pmap<"i">([](auto x) { return plx::all_to_all<"i">(x, 0, 0); });
  CHECK(message_of([&] { exchanged(ones<2>({2, 3})); }) ==
        "all_to_all: split axis 3 (axis 1 of argument 0) of float32[3] must be 2 (axis 0 of argument 0)");
  CHECK(message_of([&] { exchanged(ones<2>({2, 2})); }) == "no error");
  auto tiles = plx::pmap<"i">([](auto x) { return plx::all_to_all<"i">(x, 0, 0, plx::gather_mode::tiled); });
  CHECK(message_of([&] { tiles(ones<2>({2, 7})); }) ==
        "all_to_all: tiled split axis 7 (axis 1 of argument 0) of float32[7] must be divisible by 2 (axis 0 of "
        "argument 0)");
  CHECK(message_of([&] { tiles(ones<2>({2, 6})); }) == "no error");
}

TEST_CASE("inconsistent mapped sizes list the axes", "[errors]") {
  CHECK(message_of([] { plx::vmap(add)(ones<2>({10, 4}), ones<2>({2, 4})); }) ==
        "vmap got inconsistent sizes for array axes to be mapped:\n"
        "  * one axis had size 10: axis 0 of argument 0 of type float32[10,4];\n"
        "  * one axis had size 2: axis 0 of argument 1 of type float32[2,4];");
  CHECK(message_of([] {
          plx::pmap(add_three, plx::in_axes<0, 1, 0>)(ones<2>({4, 3}), ones<2>({3, 2}), ones<1>({4}));
        }) == "pmap got inconsistent sizes for array axes to be mapped:\n"
              "  * most axes (2 of them) had size 4, e.g. axis 0 of argument 0 of type float32[4,3];\n"
              "  * one axis had size 2: axis 1 of argument 1 of type float32[3,2];");
}

TEST_CASE("more mapped elements than devices", "[errors]") {
  std::int64_t available = plx::device_count();
  std::string have = std::to_string(available), need = std::to_string(available + 1);
  CHECK(message_of([&] { plx::pmap(identity)(ones<1>({available + 1})); }) ==
        "compiling computation that requires " + need + " logical devices, but only " + have +
            " devices are available (num_replicas=" + need + "); set PARALLAX_HOST_DEVICES to have more");
  std::string product = std::to_string(3 * available);
  CHECK(message_of([&] { plx::pmap(plx::pmap(identity))(ones<2>({available, 3})); }) ==
        "compiling computation that requires " + product + " logical devices, but only " + have +
            " devices are available (num_replicas=" + product + "); set PARALLAX_HOST_DEVICES to have more");
}

TEST_CASE("a mapped axis without elements", "[errors]") {
  CHECK(message_of([] { plx::pmap(identity)(ones<1>({0})); }) ==
        "pmap: the mapped axis has extent 0; map at least one element");
}

TEST_CASE("another number of devices than of elements", "[errors]") {
  CHECK(message_of([] { plx::pmap(identity, plx::devices<0, 1>)(ones<1>({1})); }) ==
        "Leading axis size of input to pmapped function must equal the number of local devices passed to pmap. Got "
        "axis_size=1, num_local_devices=2.");
  CHECK(message_of([] { plx::pmap(plx::pmap(identity), plx::devices<0>)(ones<2>({1, 4})); }) ==
        "pmapped function requires 4 local devices to run due to nested pmapped or other parallel functions, but only "
        "1 are available. (outer axis size: 1)");
}

TEST_CASE("devices that do not exist", "[errors]") {
  std::string have = std::to_string(plx::device_count());
  CHECK_THROWS_WITH(plx::pmap(identity, plx::devices<0, 99>)(ones<1>({2})),
                    "there is no device 99: the host has " + have + " (PARALLAX_HOST_DEVICES)");
}

} // namespace call_errors_test
