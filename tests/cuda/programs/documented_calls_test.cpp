// The table "What becomes which call" of docs/cuda.md: for each of its rows there is a program here, which has to make
// the calls that the row names and no others.
#include "cuda/programs/library_calls.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace documented_calls_test {

namespace plx = parallax;
using namespace library_calls;

namespace {

// too large to come to a device as a kernel's argument
const auto x = plx::array<float, 2>::filled({4, 150}, 0.5f), y = plx::array<float, 2>::filled({4, 150}, 2.f);

constexpr auto one_loop = [](auto a, auto b) {
  auto first_row = plx::broadcast_to(plx::index_in_dim(b, 0, 0), {4, 150});
  return plx::where(a > 0.f, plx::tanh(a) * b + first_row, plx::exp(b) - a);
};
void run_elementwise() { static_cast<void>(plx::jit(one_loop)(x, y)); }

void run_leaves() {
  const auto z = plx::array<float, 1>::filled({77}, 3.f);
  static_cast<void>(plx::jit(
      [](auto a, auto b, auto c) { return std::tuple{a * 2.f - b, c * 2.f - c, plx::tanh(b), plx::exp(c)}; })(x, y, z));
}

void run_sums() {
  static_cast<void>(
      plx::jit([](auto a, auto b) { return std::tuple{plx::sum(a, 0), plx::sum(a * b, 0), plx::max(b, 0)}; })(x, y));
}

void run_reductions() {
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::sum(plx::tanh(a) * b, 1); })(x, y));
  static_cast<void>(plx::jit([](auto a) { return plx::max(a); })(x));
}

void run_rows() {
  static_cast<void>(plx::jit([](auto a) {
    auto e = plx::exp(a - plx::max(a, 1, plx::keepdims));
    return e / plx::sum(e, 1, plx::keepdims);
  })(plx::array<float, 2>::filled({4, 60}, 1.f)));
}

void run_products() {
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::dot(a, plx::transpose(b)); })(x, y));
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::matmul(plx::transpose(a), b); })(x, y));
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::dot_general(a, b, {{0}, {0}, {}, {}}); })(x, y));
  const auto wide = plx::array<double, 3>::filled({3, 20, 20}, 2.);
  static_cast<void>(plx::jit(plx::vmap([](auto a, auto b) { return plx::matmul(a, b); }))(wide, wide));
}

void run_vectors() {
  static_cast<void>(plx::jit(plx::vmap([](auto a, auto b) { return plx::dot(a, b); }))(x, y));
}

void run_heads() {
  const auto q = plx::array<float, 4>::filled({3, 10, 4, 8}, 1.f), k = plx::array<float, 4>::filled({3, 12, 4, 8}, 2.f);
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::dot_general(a, b, {{3}, {3}, {0, 2}, {0, 2}}); })(q, k));
}

void run_epilogues() {
  const auto w = plx::array<float, 2>::filled({150, 80}, 0.1f);
  const auto b = plx::array<float, 1>::filled({80}, 1.f);
  static_cast<void>(plx::jit([](auto a, auto c, auto d) { return plx::dot(a, c) + d; })(x, w, b));
  static_cast<void>(plx::jit([](auto a, auto c, auto d) { return plx::relu(plx::dot(a, c) + d); })(x, w, b));
  static_cast<void>(plx::jit([](auto a, auto c) { return plx::gelu(plx::dot(a, c)); })(x, w));
}

void run_joined() {
  const auto w = plx::array<float, 4>::filled({1, 3, 9, 8}, 1.f), v = plx::array<float, 4>::filled({1, 3, 8, 10}, 2.f);
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::transpose(plx::matmul(a, b), {0, 2, 1, 3}); })(w, v));
}

void run_other_products() {
  const auto whole = plx::array<std::int32_t, 2>::filled({20, 20}, 3);
  const auto truth = plx::array<bool, 2>::filled({20, 20}, true);
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::matmul(a, b); })(whole, whole));
  static_cast<void>(plx::jit([](auto a, auto b) { return plx::matmul(a, b); })(truth, truth));
}

void run_reducing_collectives() {
  static_cast<void>(plx::pmap<"i">([](auto a) {
    return std::tuple{plx::psum<"i">(a), plx::pmax<"i">(a), plx::pmin<"i">(a), plx::pmean<"i">(a)};
  })(x));
}
void run_gather() {
  static_cast<void>(plx::pmap<"i">([](auto a) { return plx::all_gather<"i">(a); })(x));
}
void run_scatter() {
  const auto parts = plx::array<float, 3>::filled({4, 4, 40}, 1.f);
  static_cast<void>(plx::pmap<"i">([](auto a) { return plx::psum_scatter<"i">(a); })(parts));
}
void run_permutation() {
  static_cast<void>(plx::pmap<"i">([](auto a) { return plx::ppermute<"i">(a, plx::rotate{1}); })(x));
}
void run_broadcast() {
  static_cast<void>(plx::pmap<"i">([](auto a) { return plx::pbroadcast<"i">(a, 2); })(x));
}
void run_nested() {
  static_cast<void>(plx::pmap<"i">(plx::pmap<"j">([](auto a) { return plx::psum<"i">(a); }))(
      plx::array<float, 3>::filled({2, 2, 70}, 1.f)));
}
void run_shared() {
  run_reducing_collectives();
  run_gather();
  run_scatter();
  run_permutation();
}

const plx::array<std::uint32_t, 1> key{0, 1};
void run_threefry() {
  static_cast<void>(plx::jit([](auto k, auto a) { return a + plx::random::uniform(k, {4, 150}); })(key, x));
}
void run_philox() {
  static_cast<void>(plx::jit([](auto k, auto a) { return a + plx::philox::uniform(k, {4, 150}); })(key, x));
}

void run_small() {
  const plx::array<float, 1> few{1, 2, 3};
  static_cast<void>(plx::jit([](auto a, auto b, auto c) { return a * b + c; })(few, few, 2.f));
}
void run_again() {
  for (int call = 0; call < 3; ++call) static_cast<void>(plx::jit([](auto a) { return a / plx::sum(a); })(x));
}

constexpr auto twice = plx::pmap([](auto a) { return a + a; });
void run_round_trip() { static_cast<void>(plx::array<float, 2>(plx::jit(one_loop)(x, y)).values()[0]); }
void run_move() {
  const auto here = twice(x);
  static_cast<void>(plx::pmap([](auto a) { return a + a; }, plx::devices<3, 2, 1, 0>)(here));
}

/// A program for a row of the table.
struct documented {
  std::string_view row; ///< its first column
  void (*run)();
  int least_kernels = 0, most_kernels = 0; ///< that the row is about
  int other_kernels = 0;                   ///< what else the program launches at most
  int devices_per_gpu = 1;
};

const documented programs[] = {
    {"elementwise operations, broadcasts, slices, `where`, ...", run_elementwise, 1, 1},
    {"... of several arrays, none of which needs another's results: the leaves of a tree of parameters", run_leaves, 1,
     1},
    {"`sum`, `max`, ... with what is fused into them", run_reductions, 2, 4},
    {"... several of them, none of which needs another's result", run_sums, 1, 2},
    {"softmax, logsumexp, layernorm, a variance: reductions along the last axis with what is computed beside them",
     run_rows, 1, 1},
    {"`dot`, `matmul`, `dot_general`, `vmap` of these", run_products},
    {"... of several batch dimensions that no stride goes along as one, as sequences and heads", run_heads, 1, 1},
    {"... of a matrix and a vector, or of two vectors", run_vectors, 1, 1},
    {"... and behind them a bias, `relu`, `gelu`; in gradients, theirs and the bias'", run_epilogues},
    {"... and behind them a transpose that keeps the rows' elements side by side, as of heads that are joined",
     run_joined},
    {"... of integers and booleans", run_other_products, 2, 2},
    {"`psum`, `pmean`, `pmax`, `pmin`", run_reducing_collectives, 0, 0, 4}, // pmean divides, on each device
    {"`all_gather`", run_gather},
    {"`psum_scatter`", run_scatter},
    {"`ppermute`, `all_to_all`, `pswapaxes`", run_permutation},
    {"`pbroadcast`", run_broadcast},
    {"... over an inner or outer axis of nested `pmap`s, or with `axis_index_groups`", run_nested},
    {"`plx::random`", run_threefry, 1, 1, 1}, // the key comes with a kernel
    {"`plx::philox`", run_philox, 1, 1, 1},
    {"... among devices that share a GPU", run_shared, 4, 100, 0, 2},
    {"small arguments of the host (up to 256 bytes): numbers, short vectors", run_small, 1, 1, 1},
    {"the second and later calls of a program without collectives", run_again, 0, 0, 7},
    {"an array's memory", run_elementwise, 0, 0, 1},
    {"an array that goes to a device or comes back", run_round_trip, 0, 0, 1},
    {"... from one device to another", run_move, 0, 0, 8},
};

/// How often each function of the api is called by a program, on four devices.
std::map<std::string_view, int> calls_of(const documented& program) {
  using backend = plx::cuda::backend<simulator::api>;
  simulator::machine machine({.devices = 4 / program.devices_per_gpu});
  plx::cuda::backend_options options;
  options.devices_per_gpu = program.devices_per_gpu;
  backend::restart(options);
  std::map<std::string_view, int> calls;
  {
    const plx::use_backend here(plx::backend::cuda);
    machine.count_calls(&calls);
    program.run();
    machine.count_calls(nullptr);
  }
  backend::shut_down();
  machine.finish();
  return calls;
}

} // namespace

TEST_CASE("the table of docs/cuda.md: each row's program makes the calls that the row names, and no others") {
  const auto table = table_below(text_of(PARALLAX_SOURCE_DIR "/docs/cuda.md"), "## What becomes which call");
  REQUIRE(table.size() > 10);
  std::set<std::string_view> found;
  for (const row& each : table) {
    const auto program = std::ranges::find(programs, each.program, &documented::row);
    INFO("| " << each.program << " | " << each.calls << " |");
    if (program == std::end(programs)) {
      FAIL_CHECK("no program here belongs to this row");
      continue;
    }
    found.insert(program->row);
    auto calls = calls_of(*program);
    auto says = [&](std::string_view words) { return each.calls.find(words) != std::string::npos; };

    const std::set<std::string> named = library_calls_in(each.calls, "");
    std::set<std::string> made;
    for (const auto& [function, count] : calls)
      if (function != "launch") made.merge(library_calls_of(function));
    for (const std::string& name : named) {
      INFO(name << " is named");
      CHECK(made.contains(name));
    }
    for (const std::string& name : made) {
      INFO(name << " is called");
      CHECK((!is_work(name) || named.contains(name) || says("the same"))); // as the row before it
    }
    CHECK(says("kernel") == (program->most_kernels > 0));
    CHECK(calls["launch"] >= program->least_kernels);
    CHECK(calls["launch"] <= program->most_kernels + program->other_kernels);
    if (says("copies")) CHECK(calls["copy_between"] + calls["copy_rows"] > 0);
    if (says("events")) CHECK((calls["record_event"] > 0 && calls["wait_event"] > 0));
    if (says("pinned")) CHECK(calls["allocate_pinned"] > 0);
    if (says("one group")) CHECK(calls["group_start"] == 1);
  }
  for (const documented& program : programs) {
    INFO(program.row);
    CHECK(found.contains(program.row)); // else no row belongs to this program
  }
}

} // namespace documented_calls_test
