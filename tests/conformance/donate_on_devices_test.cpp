// Donated arguments of mapped functions, whose results lie in the memory of each device.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <numeric>
#include <utility>

namespace donate_on_devices_test {

namespace plx = parallax;

TEST_CASE("what needs more devices than there are is refused, and leaves its arguments") {
  constexpr auto f = plx::pmap<"i">([](auto x) { return x * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::filled({plx::device_count() + 1, 30}, 1.f);
  CHECK_THROWS_AS(f(x), plx::shape_error);
  CHECK(x(0, 29) == 1.f);
}

TEST_CASE("a mapped function's results stay on their devices in the memory of what was donated") {
  constexpr auto f = plx::pmap<"i">([](auto x) { return x + plx::psum<"i">(x * x) * 0.f + 1.f; });
  constexpr auto in_place = plx::pmap<"i">([](auto x) { return x * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({4, 100});
  std::iota(x.mutable_data(), x.mutable_data() + 400, 0.f);
  auto y = f(x);
  const auto memory = [](const auto& of) -> const void* {
    if (const auto* const there = of.shard_buffer(3).on_device()) return there;
    return of.shard_buffer(3).data();
  };
  const void* const before = memory(y);
  const auto z = in_place(y);
  CHECK(memory(z) == before);
  CHECK(z(3, 99) == 800.f);
  CHECK_THROWS_AS(y(0, 0), plx::error);
}

TEST_CASE("a sum over devices lies in the memory of what was donated, and of nothing else") {
  constexpr auto placed_alike = plx::pmap<"i">([](auto x) { return x * 1.f; });
  const auto memory = [](const auto& of, int position) -> const void* {
    if (const auto* const there = of.shard_buffer(position).on_device()) return there;
    return of.shard_buffer(position).data();
  };
  auto x = plx::array<float, 2>::uninitialised({4, 500});
  std::iota(x.mutable_data(), x.mutable_data() + 2000, 0.f);
  const auto sum_of = [&](std::int64_t i) { return x(0, i) + x(1, i) + x(2, i) + x(3, i); };

  auto given = placed_alike(x);
  const void* const before = memory(given, 2);
  const auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); }, plx::donate<0>)(given);
  CHECK(memory(sum, 2) == before);
  CHECK_THROWS_AS(given(0, 0), plx::error);

  const auto kept = placed_alike(x);
  const auto of_kept = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); })(kept);
  CHECK(memory(of_kept, 2) != memory(kept, 2));

  auto read_again = placed_alike(x);
  const auto [most, rest] = plx::pmap<"i">([](auto v) { return std::pair{plx::pmax<"i">(v), v - plx::psum<"i">(v)}; },
                                           plx::donate<0>)(read_again);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 500; ++i) {
      REQUIRE((sum(r, i) == sum_of(i) && of_kept(r, i) == sum_of(i) && kept(r, i) == x(r, i)));
      REQUIRE((most(r, i) == x(3, i) && rest(r, i) == x(r, i) - sum_of(i)));
    }
}

TEST_CASE("a sum over devices of what they have in one memory") {
  using plx::in_specs;
  using plx::out_specs;
  using plx::spec;
  constexpr auto mesh = plx::mesh<plx::device_axis("i", 2), plx::device_axis("j", 2)>;
  constexpr auto f = plx::shard_map([](auto x) { return plx::psum<"j">(x); }, mesh, in_specs<spec<"i">>,
                                    out_specs<spec<"i">>, plx::donate<0>);
  constexpr auto twice =
      plx::shard_map([](auto x) { return x * 2.f; }, mesh, in_specs<spec<"i">>, out_specs<spec<"i">>, plx::donate<0>);
  auto x = plx::array<float, 1>::uninitialised({1000});
  std::iota(x.mutable_data(), x.mutable_data() + 1000, 0.f);
  auto global = plx::device_put(x, mesh, spec<"i">);
  auto sum = f(global);
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(sum(i) == 2 * x(i));
  sum = twice(sum); // in the devices' own memory
  const auto again = f(sum);
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(again(i) == 8 * x(i));
}

TEST_CASE("what a mapped function was given stays as it is where it is not read alike") {
  constexpr auto swapped =
      plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, plx::rotate{1}) + x; }, plx::donate<0>);
  constexpr auto f = plx::pmap<"i">([](auto x) { return x * 1.f; });
  auto x = plx::array<float, 2>::uninitialised({4, 100});
  std::iota(x.mutable_data(), x.mutable_data() + 400, 0.f);
  auto y = f(x);
  const auto z = swapped(y);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 100; ++i) REQUIRE(z(r, i) == x(r, i) + x((r + 3) % 4, i));
}

TEST_CASE("blocks of global arrays") {
  using plx::in_specs;
  using plx::out_specs;
  using plx::spec;
  constexpr auto mesh = plx::mesh<plx::device_axis("i", 2), plx::device_axis("j", 2)>;
  constexpr auto f = plx::shard_map([](auto x, auto y) { return x * 2.f + plx::psum<"j">(plx::sum(y)); }, mesh,
                                    in_specs<spec<"i", "j">, spec<"j">>, out_specs<spec<"i", "j">>, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({4, 200});
  std::iota(x.mutable_data(), x.mutable_data() + 800, 0.f);
  auto global = plx::device_put(x, mesh, spec<"i", "j">);
  const plx::array<float, 1> y{1, 2, 3, 4};
  global = f(global, y); // on its devices from now on
  const auto memory = [](const auto& of) -> const void* {
    const plx::detail::buffer& block = of.blocks().shard_buffer(2);
    if (const auto* const there = block.on_device()) return there;
    return block.data();
  };
  const void* const before = memory(global);
  CHECK_THROWS_AS(f(global, plx::array<float, 1>{1, 2, 3}), plx::shape_error);
  CHECK(memory(global) == before);
  const auto z = f(global, y);
  CHECK(memory(z) == before);
  CHECK(z(3, 199) == 799.f * 4 + 30);
  CHECK_THROWS_AS(global(0, 0), plx::error);
  // a tree of them
  constexpr auto pair = plx::shard_map([](auto s) { return std::pair(s.first + s.second, s.second * 2.f); }, mesh,
                                       in_specs<spec<"i", "j">>, out_specs<spec<"i", "j">>, plx::donate<0>);
  auto state = std::pair(plx::device_put(x, mesh, spec<"i", "j">), plx::device_put(x, mesh, spec<"i", "j">));
  state = pair(state);
  CHECK(state.first(3, 199) == 2 * 799.f);
  CHECK(state.second(3, 199) == 2 * 799.f);
}

} // namespace donate_on_devices_test
