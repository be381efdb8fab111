// Graphs of which some call fails: the section runs step by step, or the failure is reported.
#include "cuda/programs/graph_programs.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <type_traits>

namespace graph_failures_test {

namespace plx = parallax;
using namespace graph_programs;

namespace {

/// Graphs of which some part cannot be made.
struct failing_captures : simulator::api {
  enum class place { nowhere, launch, body, inside_body, end, instantiation };
  static inline place where = place::nowhere;
  static inline int going_on = 0, bodies = 0, captures = 0, launched = 0;
  static plx::cuda::status refused() {
    return {plx::cuda::status::kind::failure, 901, "a test", "a capture", "is invalidated"};
  }

  static plx::cuda::status begin_capture(stream on) {
    ++going_on;
    ++captures;
    return simulator::api::begin_capture(on);
  }
  static plx::cuda::status end_capture(stream on, graph& made) {
    --going_on;
    const plx::cuda::status ended = simulator::api::end_capture(on, made);
    if (where != place::end || !ended.ok()) return ended;
    plx::cuda::check(simulator::api::destroy_graph(made));
    return refused();
  }
  static plx::cuda::status begin_body(plx::cuda::conditional_kind kind, plx::cuda::graph_condition condition, stream on,
                                      stream inner) {
    if (where == place::body) return refused();
    ++bodies;
    return simulator::api::begin_body(kind, condition, on, inner);
  }
  static plx::cuda::status end_body(stream inner) {
    --bodies;
    const plx::cuda::status ended = simulator::api::end_body(inner);
    return where == place::inside_body ? refused() : ended; // as of all that is part of a capture that has failed
  }
  static plx::cuda::status instantiate(graph& made) {
    return where == place::instantiation ? refused() : simulator::api::instantiate(made);
  }
  static plx::cuda::status launch_graph(graph of, stream on) {
    ++launched;
    return simulator::api::launch_graph(of, on);
  }
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    const bool refuses = where == place::launch ? going_on > 0 : where == place::inside_body && bodies > 0;
    if (refuses && !std::is_same_v<K, plx::cuda::copy_pieces>) return refused();
    return simulator::api::launch(kernel, shape, on, arguments);
  }
};

} // namespace

TEST_CASE("a section whose graph cannot be made is run step by step, in that call and later") {
  constexpr auto mapped =
      plx::pmap<"i">([](auto x, auto y) { return x / plx::sum(x) + y; }, plx::in_axes<0, plx::none>);
  constexpr auto looped = [](auto x) {
    return plx::while_loop([](auto v) { return plx::max(v) > 1.f; }, [](auto v) { return plx::exp(v * 0.5f) * 0.3f; },
                           x);
  };
  using failing = failing_captures;
  const auto x = matrix(2, 80, 3);
  const auto y = row(5000, 1); // too many for a kernel of one block
  for (const failing::place where : {failing::place::nowhere, failing::place::launch, failing::place::body,
                                     failing::place::inside_body, failing::place::end, failing::place::instantiation}) {
    simulator::machine machine({.devices = 2});
    {
      const simulated::running_backend<failing> running(short_graphs());
      failing::where = where;
      failing::captures = failing::launched = 0;
      for (int call = 0; call < 4; ++call) {
        require_close(numbers_of(simulated::results_of<failing>(mapped, x, 1.f)),
                      numbers_of(simulated::results_on_host(mapped, x, 1.f)));
        require_close(numbers_of(simulated::results_of<failing>(looped, y)),
                      numbers_of(simulated::results_on_host(looped, y)));
      }
      const bool of_body = where == failing::place::body || where == failing::place::inside_body; // of the loop
      const bool fails = where != failing::place::nowhere && !of_body;
      CHECK(failing::launched == (fails ? 0 : of_body ? 3 * 2 : 3 * 3));
      if (fails) CHECK(failing::captures <= 3); // once for each
      plx::cuda::backend<failing>::shut_down();
    }
    machine.finish();
  }
}

TEST_CASE("a failure of any call of a capture or a replay is reported or done without, and the next call succeeds") {
  simulator::machine_options options;
  options.devices = 2;
  constexpr auto mapped =
      plx::pmap<"i">([](auto x, auto y) { return x / plx::sum(x) + y; }, plx::in_axes<0, plx::none>);
  int without = 0;
  const auto calls = simulator::try_every_failure(
      options,
      [&] {
        const running_backend running;
        for (int call = 0; call < 3; ++call) {
          const auto x = plx::array<float, 2>::filled({2, 80}, 1.f + static_cast<float>(call));
          float found = 0;
          try {
            found = result_of(mapped, x, 1.f)[100];
          } catch (const plx::error&) {
            found = result_of(mapped, x, 1.f)[100];
            REQUIRE(found == Approx(1.f + 1.f / 80.f));
            throw;
          }
          REQUIRE(found == Approx(1.f + 1.f / 80.f));
        }
        backend::shut_down();
      },
      [&] {
        const bool ran_step_by_step = counting_api::graph_launches == 0;
        without += ran_step_by_step ? 1 : 0;
        return ran_step_by_step;
      });
  REQUIRE(without > 8);
  REQUIRE(calls > 100);
}

} // namespace graph_failures_test
