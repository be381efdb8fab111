// Derivatives of GradBench's problems, written from their published definitions: ours beside loops by hand and, where
// they are installed, the tapes of ADOL-C and CppAD. Results are compared before anything is timed. What is called a
// gradient is Newton's direction for kmeans, and a Jacobian for ba and ht.
// `bench/derivatives_beside_others.py` runs it beside JAX. With BENCH_ONLY, one problem of them is compiled, or none.
#include "derivatives/bundle_adjustment.hpp"
#include "derivatives/bundle_adjustment_program.hpp"
#include "derivatives/determinant.hpp"
#include "derivatives/determinant_program.hpp"
#include "derivatives/gaussian_mixture.hpp"
#include "derivatives/hand_tracking.hpp"
#include "derivatives/hand_tracking_program.hpp"
#include "derivatives/k_means.hpp"
#include "derivatives/least_squares.hpp"
#include "derivatives/log_sum_exp.hpp"
#include "derivatives/lstm.hpp"
#include "derivatives/lstm_program.hpp"
#include "derivatives/ode.hpp"
#include "derivatives/problem.hpp"
#include "derivatives/programs.hpp"
#include "derivatives/tapes.hpp"
#include "support/results.hpp"

#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

using numbers = std::vector<double>;

/// Times `call`, whose result is to be `right`.
template <class Call, class Elements>
void time(const std::string& name, Call call, Elements elements_of, const numbers& right) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [call, elements_of, right](benchmark::State& state) mutable {
                                 const numbers found = elements_of(call());
                                 if (found.size() != right.size() || !bench::agree(found, right, 1e-9))
                                   return state.SkipWithError("wrong result");
                                 for (auto _ : state) {
                                   decltype(auto) result = call();
                                   benchmark::DoNotOptimize(&result);
                                   benchmark::ClobberMemory();
                                 }
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}
constexpr auto same = [](const numbers& x) { return x; };
constexpr auto of_trees = []<class Tree>(const Tree& x) {
  if constexpr (std::is_same_v<Tree, numbers>) return x;
  else return bench::elements(x);
};

/// Registers what others take for a problem, and ours: `value()` and `derivative()`, which return arrays. What
/// derivatives are by hand, `elements_of` makes of ours.
template <class Problem, class Value, class Derivative, class Elements = decltype(of_trees)>
void add(const std::string& name, const Problem& problem, Value value, Derivative derivative,
         Elements elements_of = of_trees) {
  numbers right_value(bench::results_of(problem)), right(bench::derivatives_of(problem));
  auto value_by_hand = [problem, result = right_value]() mutable -> const numbers& {
    bench::evaluate(problem, problem.point.data(), result.data());
    return result;
  };
  auto by_hand = [problem, result = right]() mutable -> const numbers& {
    bench::differentiate(problem, problem.point.data(), result.data());
    return result;
  };
  right_value = value_by_hand(), right = by_hand();
  time(name + "/ours/function", value, of_trees, right_value);
  time(name + "/ours/gradient", derivative, elements_of, right);
  time(name + "/by hand/function", value_by_hand, same, right_value);
  time(name + "/by hand/gradient", by_hand, same, right);
  [[maybe_unused]] auto taped = [&] {
    if constexpr (bench::has_parts<Problem>) return problem.part();
    else return problem;
  }();
  // recorded when first asked for: ADOL-C replays each tape on as many numbers as any before it had
  [[maybe_unused]] auto of_tape = [&]<class Tape>(const std::string& who, std::shared_ptr<Tape> tape) {
    auto call = [tape, taped, problem, result = right]() mutable -> const numbers& {
      if (!tape) tape = std::make_shared<Tape>(taped);
      return bench::differentiate_by(*tape, problem, problem.point, result);
    };
    time(name + "/" + who + "/gradient", call, same, right);
  };
#ifdef BENCH_ADOLC
  of_tape("ADOL-C", std::shared_ptr<bench::adolc_tape<decltype(taped)>>{});
#endif
#ifdef BENCH_CPPAD
  of_tape("CppAD", std::shared_ptr<bench::cppad_tape<decltype(taped)>>{});
#endif
}

[[maybe_unused]] std::int64_t extent_of(std::size_t count) { return static_cast<std::int64_t>(count); }

#if !defined(BENCH_ONLY) || BENCH_ONLY == 1
void add_log_sum_exp() {
  const bench::log_sum_exp_problem p;
  const plx::array<double, 1> x({extent_of(p.point.size())}, p.point);
  add(
      "lse", p, [x] { return plx::jit(bench::log_sum_exp_program)(x); },
      [x] { return plx::jit(plx::grad(bench::log_sum_exp_program))(x); });
}
const bool log_sum_exp_added = (add_log_sum_exp(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 2
void add_least_squares() {
  const bench::least_squares_problem p;
  numbers where;
  for (std::size_t i = 0; i < p.places; ++i) where.push_back(p.place(i));
  const plx::array<double, 1> x({extent_of(p.coefficients)}, p.point), t({extent_of(p.places)}, where);
  add(
      "llsq", p, [x, t] { return plx::jit(bench::least_squares_program)(x, t); },
      [x, t] { return plx::jit(plx::grad(bench::least_squares_program))(x, t); });
}
const bool least_squares_added = (add_least_squares(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 3
void add_k_means() {
  const bench::k_means_problem p;
  const plx::array<double, 2> centres({extent_of(p.centres), extent_of(p.axes)}, p.point),
      points({extent_of(p.points), extent_of(p.axes)}, p.data);
  add(
      "kmeans", p, [=] { return plx::jit(bench::k_means_program)(centres, points); },
      [=] { return plx::jit(bench::k_means_direction)(centres, points); });
}
const bool k_means_added = (add_k_means(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 4
void add_ode() {
  const bench::ode_problem p;
  constexpr auto size = static_cast<std::int64_t>(bench::ode_problem::size);
  const plx::array<double, plx::extents<size>> x({size}, p.point);
  const auto steps = plx::count(extent_of(p.steps));
  const double h = p.step;
  add(
      "ode", p, [=] { return plx::jit(bench::ode_program)(x, steps, h); },
      [=] { return plx::jit(plx::grad(bench::ode_program))(x, steps, h); });
}
const bool ode_added = (add_ode(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 5
void add_gaussian_mixture() {
  const bench::gaussian_mixture_problem p;
  const std::int64_t parts = extent_of(p.parts), axes = extent_of(p.axes), below = extent_of(p.below);
  constexpr auto axis_count = static_cast<std::int64_t>(bench::gaussian_mixture_problem::axes);
  const double* at = p.point.data();
  const plx::array<double, 1> alpha({parts}, numbers(at, at + parts));
  at += parts;
  const plx::array<double, plx::extents<plx::dyn, axis_count>> means({parts, axes}, numbers(at, at + parts * axes));
  at += parts * axes;
  const plx::array<double, plx::extents<plx::dyn, axis_count>> q({parts, axes}, numbers(at, at + parts * axes));
  at += parts * axes;
  const plx::array<double, 2> l({parts, below}, numbers(at, at + parts * below));
  const plx::array<double, plx::extents<plx::dyn, axis_count>> points({extent_of(p.points), axes}, p.data);
  const double gamma = p.gamma, freedom = p.freedom, constant = p.constant();
  add(
      "gmm", p,
      [=] { return plx::jit(bench::gaussian_mixture_program)(alpha, means, q, l, points, gamma, freedom, constant); },
      [=] {
        return plx::jit(plx::grad(bench::gaussian_mixture_program, plx::argnums<0, 1, 2, 3>))(
            alpha, means, q, l, points, gamma, freedom, constant);
      });
}
const bool gaussian_mixture_added = (add_gaussian_mixture(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 6
void add_lstm() {
  using problem = bench::lstm_problem;
  const problem p;
  constexpr std::int64_t layers = problem::layers, width = problem::width, length = problem::length;
  const auto behind_layers = p.point.begin() + layers * problem::of_layer;
  const plx::array<double, plx::extents<layers, 2, 4, plx::dyn>> weights({layers, 2, 4, width},
                                                                         numbers(p.point.begin(), behind_layers));
  const plx::array<double, plx::extents<3, plx::dyn>> ends({3, width}, numbers(behind_layers, p.point.end()));
  const plx::array<double, plx::extents<layers, 2, plx::dyn>> state({layers, 2, width}, p.state);
  const plx::array<double, plx::extents<plx::dyn, plx::dyn>> sequence({length, width}, p.sequence);
  add(
      "lstm", p, [=] { return plx::jit(bench::lstm_program)(weights, ends, state, sequence); },
      [=] { return plx::jit(plx::grad(bench::lstm_program, plx::argnums<0, 1>))(weights, ends, state, sequence); });
}
const bool lstm_added = (add_lstm(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 7
void add_bundle_adjustment() {
  using problem = bench::bundle_adjustment_problem;
  const problem p;
  constexpr std::int64_t camera_count = problem::cameras, points_count = problem::points, count = problem::observations,
                         of_camera = problem::of_camera, of_point = problem::of_point;
  const auto behind_cameras = p.point.begin() + camera_count * of_camera,
             behind_points = behind_cameras + points_count * of_point;
  const plx::array<double, plx::extents<plx::dyn, of_camera>> cameras({camera_count, of_camera},
                                                                      numbers(p.point.begin(), behind_cameras));
  const plx::array<double, plx::extents<plx::dyn, of_point>> points({points_count, of_point},
                                                                    numbers(behind_cameras, behind_points));
  constexpr std::int64_t at_once = 640, rounds = count / at_once;
  const plx::array<double, plx::extents<plx::dyn, at_once>> weights({rounds, at_once},
                                                                    numbers(behind_points, p.point.end()));
  const plx::array<std::int32_t, plx::extents<plx::dyn, at_once>> camera({rounds, at_once}, p.camera),
      seen({rounds, at_once}, p.seen);
  const plx::array<double, plx::extents<plx::dyn, at_once, 2>> features({rounds, at_once, 2}, p.features);
  add(
      "ba", p,
      [=] { return plx::jit(bench::bundle_adjustment_program)(cameras, points, weights, camera, seen, features); },
      [=] { return plx::jit(bench::bundle_adjustment_jacobian)(cameras, points, weights, camera, seen, features); },
      [](const auto& columns) { // those of the blocks have all observations
        numbers all = bench::elements(columns), rows = all;
        constexpr std::size_t observations = problem::observations, of_blocks = 2 * problem::of_block;
        for (std::size_t i = 0; i < observations * of_blocks; ++i)
          rows[i] = all[i % of_blocks * observations + i / of_blocks];
        return rows;
      });
}
const bool bundle_adjustment_added = (add_bundle_adjustment(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 8
void add_hand_tracking() {
  using problem = bench::hand_tracking_problem;
  const problem p;
  constexpr std::int64_t bones = problem::bones, variables = problem::variables, vertices = problem::vertices,
                         count = problem::correspondences;
  auto all = [](const auto& motions) {
    numbers result;
    for (const auto& each : motions) {
      result.insert(result.end(), each.begin(), each.end());
      result.insert(result.end(), {0, 0, 0, 1});
    }
    return result;
  };
  const plx::array<double, plx::extents<variables>> x({variables}, p.point);
  const plx::array<double, plx::extents<bones, 4, 4>> relative({bones, 4, 4}, all(p.relative)),
      from_rest({bones, 4, 4}, all(p.from_rest));
  numbers columns(4 * vertices, 1);
  for (std::size_t i = 0; i < p.resting.size(); ++i) columns[i % 3 * vertices + i / 3] = p.resting[i];
  const plx::array<double, plx::extents<4, plx::dyn>> resting({4, vertices}, columns);
  const plx::array<double, plx::extents<plx::dyn, 3>> measured({count, 3}, p.measured);
  const plx::array<double, plx::extents<bones, plx::dyn>> weights({bones, vertices}, p.weights);
  const plx::array<std::int32_t, 1> vertex_of({count}, p.vertex_of);
  auto call = [=](auto program) { return program(x, relative, from_rest, resting, weights, vertex_of, measured); };
  add(
      "ht", p, [=] { return call(plx::jit(bench::hand_tracking_program)); },
      [=] { return call(plx::jit(bench::hand_tracking_jacobian)); });
}
const bool hand_tracking_added = (add_hand_tracking(), true);
#endif

#if !defined(BENCH_ONLY) || BENCH_ONLY == 9
void add_determinant() {
  const bench::determinant_problem p;
  constexpr auto size = static_cast<std::int64_t>(bench::determinant_problem::size);
  constexpr auto program = bench::determinant_program<size>;
  constexpr auto matrix = plx::shaped<double, size, size>;
  auto call = []<class Function>(Function, const numbers& x, std::size_t count) {
    return [x, y = numbers(count)]() mutable -> const numbers& {
      constexpr Function function;
      function(x.data(), y.data());
      return y;
    };
  };
  add("det", p, call(plx::compiled_function<program, matrix>{}, p.point, 1),
      call(plx::compiled_function<plx::grad(program), matrix>{}, p.point, p.point.size()));
}
const bool determinant_added = (add_determinant(), true);
#endif

} // namespace
