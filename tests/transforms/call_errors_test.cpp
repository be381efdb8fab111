// What only a call can decide is checked at the call, before anything runs.
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <string>

namespace plx = parallax;

namespace {

template <int Rank> plx::array<float, Rank> ones(std::array<std::int64_t, Rank> shape) {
  return plx::array<float, Rank>::filled(shape, 1.f);
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
}

TEST_CASE("slices of dynamic extents", "[errors]") {
  auto head = [](auto x) { return plx::slice(x, {0}, {4}); };
  CHECK(message_of([&] { plx::jit(head)(ones<1>({3})); }) ==
        "slice: 4 is beyond 3 (axis 0 of argument 0) in float32[3]");
  CHECK(message_of([&] { plx::jit(head)(ones<1>({4})); }) == "no error");
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
