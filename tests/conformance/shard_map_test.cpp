// Functions over the blocks of arrays on a mesh, beside plain loops over the whole arrays.
#include "expected.hpp"

#include <cstddef>
#include <tuple>
#include <vector>

namespace shard_map_test {

namespace {

using namespace conformance;
using plx::along;
using plx::in_specs;
using plx::none;
using plx::out_specs;
using plx::spec;

constexpr auto mesh = plx::mesh<plx::device_axis("data", 2), plx::device_axis("model", 4)>;
constexpr auto open = plx::mesh<"data", plx::device_axis("model", 4)>;

using table = plx::array<float, plx::extents<8, 16>>;

/// Counted up, cut as a spec says, and changed on each device by its position.
template <auto Spec> void check_blocks(auto block_of) {
  const table x = counted(8, 16);
  const auto y = plx::shard_map(
      [](auto v) { return v * 2.f + 1000.f * (plx::axis_index<"data">() * 4.f + plx::axis_index<"model">()); }, mesh,
      in_specs<Spec>, out_specs<Spec>)(x);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t k = 0; k < 16; ++k) {
      const float expected = 2.f * static_cast<float>(16 * i + k) + 1000.f * static_cast<float>(block_of(i, k));
      INFO("element " << i << ", " << k);
      CHECK(y(i, k) == expected);
    }
  CHECK(y.gather()(7, 15) == y(-1, -1));
  for (const auto& shard : y.local_shards()) CHECK(shard.values(0, 0) == y(shard.start[0], shard.start[1]));
}

} // namespace

TEST_CASE("what was put on devices is not moved there again") {
  constexpr auto f = plx::shard_map([](auto v) { return v + 1.f; }, mesh, in_specs<spec<"data", "model">>,
                                    out_specs<spec<"data", "model">>);
  const table x = counted(8, 16);
  const auto moved_by = [](const auto& call) {
    const auto before = plx::transfers().host_to_device;
    call();
    return plx::transfers().host_to_device - before;
  };
  auto blocks = plx::device_put(x, mesh, spec<"data", "model">);
  CHECK(moved_by([&] { blocks = plx::device_put(x, mesh, spec<"data", "model">); }) == 512);
  CHECK(moved_by([&] { CHECK(f(blocks)(7, 15) == 128.f); }) == 0);
  CHECK(moved_by([&] { CHECK(f(blocks)(0, 3) == 4.f); }) == 0);
  const std::vector<int> devices{3, 1, 0, 2, 5, 4, 7, 6};
  auto rows = plx::shard(x, 0, devices);
  CHECK(moved_by([&] { rows = plx::shard(x, 0, devices); }) == 512);
  constexpr auto on_these = plx::pmap<"i">([](auto v) { return v + 1.f; }, plx::devices<3, 1, 0, 2, 5, 4, 7, 6>);
  CHECK(moved_by([&] { CHECK(on_these(rows)(7, 15) == 128.f); }) == 0);
  CHECK(moved_by([&] { static_cast<void>(plx::replicate(x, devices)); }) == 8 * 512);
}

TEST_CASE("blocks lie where their specs say") {
  check_blocks<spec<"data", "model">>([](auto i, auto k) { return i / 4 * 4 + k / 4; });
  check_blocks<spec<"model", "data">>([](auto i, auto k) { return k / 8 * 4 + i / 2; });
  check_blocks<spec<along("data", "model")>>([](auto i, auto) { return i; });
  check_blocks<spec<none, along("model", "data")>>([](auto, auto k) { return k / 2 % 2 * 4 + k / 4; });
}

TEST_CASE("a product whose factors are cut along the depth") {
  const auto x = counted(4, 8);
  const auto w = counted(8, 3);
  const auto product = plx::shard_map([](auto a, auto b) { return plx::psum<"model">(plx::matmul(a, b)); }, open,
                                      in_specs<spec<"data", "model">, spec<"model">>, out_specs<spec<"data">>);
  const auto rows = plx::device_count() / 4; // 4 or fewer divide the array
  if (4 % rows != 0) return;
  const plx::array y = product(x, w);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += x(i, k) * w(k, j);
      CHECK(y(i, j) == sum);
    }
}

TEST_CASE("arrays stay on their devices between calls") {
  const table x = counted(8, 16);
  const auto f = plx::shard_map([](auto v) { return v + 1.f; }, mesh, in_specs<spec<"data", "model">>,
                                out_specs<spec<"data", "model">>);
  const auto placed = plx::device_put(x, mesh, spec<"data", "model">);
  const auto first = f(placed);
  const auto before = plx::transfers();
  const auto last = f(f(first));
  CHECK(plx::transfers().host_to_device == before.host_to_device);
  CHECK(plx::transfers().device_to_host == before.device_to_host);
  CHECK(last(5, 3) == x(5, 3) + 3);
  const auto moved = plx::device_put(last, mesh, spec<none, "data">);
  CHECK(moved(5, 3) == x(5, 3) + 3);
  CHECK(moved.local_shards()[7].start == std::array<std::int64_t, 2>{0, 8});
  CHECK(plx::global_from_local(x, mesh, spec<"model">)(5, 3) == x(5, 3));
}

TEST_CASE("parts of fields with halos are cut from where they lie") {
  const table x = counted(8, 16);
  constexpr std::int64_t pitch = 20, halo = 2;
  std::vector<float> field(static_cast<std::size_t>((8 + 2 * halo) * pitch), -1.f);
  float* const inner = field.data() + halo * pitch + halo;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 16; ++j) inner[i * pitch + j] = x(i, j);
  const auto part = plx::borrow(inner, {8, 16}, {pitch, 1});
  const auto by_part = plx::global_from_local(part, mesh, spec<"data", "model">);
  const auto by_static_stride =
      plx::global_from_local(plx::borrow<plx::strides<plx::dyn, 1>>(inner, {8, 16}, {pitch, 1}), mesh, spec<"model">);
  const auto put = plx::device_put(part, mesh, spec<none, "data">);
  const auto computed = plx::device_put(x * 2.f, mesh, spec<"data">);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 16; ++j) {
      CHECK(by_part(i, j) == x(i, j));
      CHECK(by_static_stride(i, j) == x(i, j));
      CHECK(put(i, j) == x(i, j));
      CHECK(computed(i, j) == x(i, j) * 2);
    }
}

TEST_CASE("who says what the parts are to make is told if they make something else") {
  const table x = counted(8, 16);
  CHECK(plx::global_from_local(x, mesh, spec<"model">, {8, 16})(5, 3) == x(5, 3));
  CHECK_THROWS_WITH(plx::global_from_local(x, mesh, spec<"model">, {16, 8}),
                    "global_from_local: the parts that processes gave make an array of the shape (8, 16), which is to "
                    "have (16, 8): devices are taken row-major along the mesh, those of process 0 first, and this "
                    "process has 8 of them");
  CHECK_THROWS_AS(plx::global_from_local(x * 2.f, mesh, spec<"model">, {8, 8}), plx::shape_error);
}

TEST_CASE("a global array of one element is a number") {
  const auto total = plx::shard_map([](auto v) { return plx::psum<"data", "model">(plx::sum(v)); }, mesh,
                                    in_specs<spec<"data", "model">>, out_specs<spec<>>)(counted(8, 16));
  CHECK(total.item() == total());
  const auto single = plx::device_put(plx::array<float, 2>{{3.f}}, mesh, spec<>);
  CHECK(single.item() == 3);
  CHECK_THROWS_WITH(plx::device_put(counted(8, 16), mesh, spec<"data">).item(),
                    "global_array: item() of an array of the shape (8, 16), which has not one element");
}

TEST_CASE("trees of results, and what all devices share") {
  const table x = counted(8, 16);
  const auto [sum, most, rows] = plx::shard_map(
      [](auto pair, auto scale) {
        const auto [a, b] = pair;
        return std::tuple{plx::psum<"data", "model">(plx::sum(a * b)) * scale, plx::pmax<"data", "model">(plx::max(a)),
                          plx::psum<"model">(plx::sum(a, {1}))};
      },
      mesh, in_specs<plx::tree<spec<"data", "model">, spec<"data", "model">>, spec<>>,
      out_specs<spec<>, spec<>, spec<"data">>)(std::pair{x, x}, 2.f);
  double expected = 0;
  for (int i = 0; i < 128; ++i) expected += 2. * i * i;
  CHECK(sum() == Approx(expected));
  CHECK(most() == 127);
  for (int i = 0; i < 8; ++i) CHECK(rows(i) == static_cast<float>(16 * 16 * i + 120));
}

TEST_CASE("one axis that takes single indices is a pmap") {
  constexpr auto line = plx::mesh<plx::device_axis("i", 8)>;
  const auto x = counted(8, 5);
  const auto f = [](auto v) { return v / plx::psum<"i">(v); };
  const plx::array by_mesh = plx::shard_map(f, line, in_specs<spec<"i">>, out_specs<spec<"i">>)(x);
  const plx::array by_pmap = plx::pmap<"i">(f)(x);
  CHECK(by_mesh.to_vector() == by_pmap.to_vector());
}

TEST_CASE("parameters that all devices have learn from all rows") {
  // rows of (x, y) along both axes; the gradient of a mean over all of them is the same everywhere
  const plx::array<float, plx::extents<16, 2>> rows = plx::sin(plx::astype<float>(counted<std::int32_t>(16, 2)));
  const plx::array<float, plx::extents<2>> w{.5f, -.25f};
  const auto [loss, gradient] =
      plx::shard_map(plx::value_and_grad([](auto v, auto own) {
                       const auto error = plx::matmul(own, v) - plx::sum(own, {1});
                       return plx::pmean<"data", "model">(plx::mean(error * error));
                     }),
                     mesh, in_specs<spec<>, spec<along("data", "model")>>, out_specs<spec<>>)(w, rows);
  double expected = 0, by_first = 0, by_second = 0;
  for (int i = 0; i < 16; ++i) {
    const double a = rows(i, 0), b = rows(i, 1), error = a * (.5 - 1) + b * (-.25 - 1);
    expected += error * error / 16;
    by_first += 2 * error * a / 16;
    by_second += 2 * error * b / 16;
  }
  CHECK(loss() == Approx(expected));
  CHECK(gradient(0) == Approx(by_first));
  CHECK(gradient(1) == Approx(by_second));
}

TEST_CASE("inside a compiled function") {
  constexpr auto f = plx::jit([](auto x, auto w) {
    const auto y = plx::shard_map([](auto a, auto b) { return plx::psum<"model">(plx::matmul(a, b)); }, mesh,
                                  in_specs<spec<"data", "model">, spec<"model">>, out_specs<spec<"data">>)(x * 2.f, w);
    return y + 1.f;
  });
  const auto x = plx::array<float, plx::extents<4, 8>>(counted(4, 8));
  const auto w = plx::array<float, plx::extents<8, 3>>(counted(8, 3));
  const plx::array y = f(x, w);
  const plx::array dynamic = f(counted(4, 8), counted(8, 3));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 1;
      for (int k = 0; k < 8; ++k) sum += 2 * x(i, k) * w(k, j);
      CHECK(y(i, j) == sum);
      CHECK(dynamic(i, j) == sum);
    }
}

TEST_CASE("arrays that devices do not divide evenly are refused at the call") {
  const auto f = plx::shard_map([](auto v) { return v; }, mesh, in_specs<spec<"data">>, out_specs<spec<"data">>);
  CHECK_THROWS_WITH(f(counted(5, 2)), Catch::Contains("5 elements along axis 0, which 2 devices do not divide"));
}

} // namespace shard_map_test
