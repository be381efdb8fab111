// Derivatives of every primitive and call, several in a program: forward mode, reverse mode, both together, in batches.
#include "derivatives/check_derivatives.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace derivatives_test {

namespace {

using namespace derivatives;

constexpr plx::element_type types[] = {plx::element_type::float32, plx::element_type::float64};

arguments numbers(plx::element_type type, std::vector<std::vector<double>> values) {
  arguments all;
  for (const std::vector<double>& each : values) all.push_back({type, {static_cast<int>(each.size())}, each, false});
  return all;
}
arguments matrices(plx::element_type type, int count, int rows, int columns) {
  arguments all;
  for (int k = 0; k < count; ++k)
    all.push_back({type,
                   {rows, columns},
                   drawn_numbers(static_cast<std::size_t>(rows * columns), 7 * static_cast<unsigned>(k) + 2),
                   false});
  return all;
}
/// Checks a function of so many arrays; false leaves batches out.
template <std::size_t Count, class F> void check(const F& f, const arguments& at, bool in_batches = true) {
  checked_function<Count, F> checked(f, at);
  checked.check_both_modes();
  if (!in_batches) return;
  checked.check_batches();
  checked.check_reverse_batches();
}

constexpr auto functions_of_one = [](auto x) {
  auto inside = x * 0.7f;
  return std::tuple{-x,
                    plx::exp(x),
                    plx::log(x),
                    plx::log1p(x),
                    plx::expm1(x),
                    plx::tanh(x),
                    plx::sin(x),
                    plx::cos(x),
                    plx::tan(x),
                    plx::sqrt(x),
                    plx::rsqrt(x),
                    plx::logistic(x),
                    plx::abs(x),
                    plx::sign(x) * x,
                    plx::floor(x) * x,
                    plx::relu(x),
                    plx::gelu(x),
                    plx::erf(x),
                    plx::erf_inv(inside),
                    plx::pow(x, 3),
                    plx::astype<double>(x) * 0.5,
                    plx::where(plx::isfinite(x), x * x, 0.f),
                    x * plx::stop_gradient(plx::floor(x))};
};
constexpr auto functions_of_two = [](auto x, auto y) {
  return std::tuple{x + y,
                    x - y * y,
                    x * y,
                    x / y,
                    plx::rem(y, x),
                    plx::pow(x, y),
                    plx::maximum(x, y),
                    plx::minimum(x, y),
                    plx::where(x < y, x * y, x + y) + plx::where(x <= y, x, -y) * plx::where(x != y, y, x),
                    plx::where(x > y, x * y, x + y) + plx::where(x >= y, x, -y) * plx::where(x == y, y, x),
                    x * plx::sum(y),
                    plx::sum(x) / y};
};
constexpr auto rearrangements = [](auto a, auto b) {
  return std::tuple{plx::broadcast_to(plx::sum(a * a), {2, 3}),
                    plx::reshape(a * b, {2, 6}),
                    plx::transpose(a) * 2.f,
                    plx::slice(a, {0, 0}, {2, 3}) * plx::slice(b, {1, 0}, {4, 3}, {2, 1}),
                    plx::concatenate({a * a, b}),
                    plx::pad(a * b, 0.5f, {{1, 0, 0}, {0, -1, 1}})};
};
constexpr auto reductions = [](auto a) {
  return std::tuple{plx::sum(a * a, plx::axis<0>),
                    plx::max(a, plx::axis<1>),
                    plx::min(a),
                    plx::mean(a * a),
                    plx::logsumexp(a, plx::axis<1>),
                    plx::softmax(a),
                    plx::softmax(a, plx::axis<0>),
                    plx::var(a, plx::axis<0>),
                    plx::cumsum(a * a, plx::axis<1>),
                    plx::cumprod(a, plx::axis<1>),
                    plx::cummax(a, plx::axis<0>),
                    plx::cummin(a, plx::axis<1>),
                    plx::cumlogsumexp(a, plx::axis<1>),
                    plx::sort(a * a)};
};
constexpr auto places = [](auto a, auto b) {
  auto numbers = plx::astype<std::int32_t>(plx::arange(3)) * 2 - 1;
  return std::tuple{a[numbers] * b[1],
                    plx::take_along_axis(a * a, plx::argsort(b), plx::axis<1>),
                    a.at(numbers).set(plx::slice_in_dim(b * b, 0, 3)),
                    a.at(1).add(b[2] * b[0]),
                    a.at(2).min(b[1] * b[1] - 0.5f),
                    a.at(0).max(b[1] * b[1] - 0.5f)};
};
constexpr auto products = [](auto a, auto b) {
  return std::tuple{plx::matmul(a, plx::transpose(b)), plx::dot(a[0], b[1]), plx::matmul(plx::transpose(a), b),
                    plx::dot(a, plx::sin(b[0]))};
};
constexpr auto exchanges = plx::pmap<"i">([](auto x, auto y) {
  auto turned = plx::ppermute<"i">(x * y, {{0, 1}, {1, 0}});
  return std::tuple{plx::psum<"i">(x * x) * y,
                    plx::pmean<"i">(plx::sin(x)),
                    turned * x,
                    plx::pbroadcast<"i">(x * x, 1) * y,
                    plx::all_gather<"i">(x * y),
                    plx::psum_scatter<"i">(plx::all_gather<"i">(x) * plx::all_gather<"i">(y)),
                    plx::all_to_all<"i">(x * y, 0, 0)};
});
constexpr auto loops = [](auto x, auto y) {
  auto round = [y](auto carry, auto slice) {
    auto next = plx::sin(carry + slice) * y;
    return std::pair{next, plx::sum(next * slice)};
  };
  auto [last, sums] = plx::scan(round, x, plx::expand_dims(x, plx::axis<1>) * plx::expand_dims(y, plx::axis<0>));
  auto chosen =
      plx::cond(plx::sum(x) > 0.f, [](auto v, auto w) { return v * w * w; }, [](auto v, auto) { return v; }, x, y);
  auto counted = plx::fori_loop(0, 3, [y](auto i, auto v) { return v * y + plx::astype<float>(i) * plx::cos(v); }, x);
  auto squares = plx::map([](auto v) { return v * v * v; }, x);
  return std::tuple{last, sums, chosen, counted, squares};
};

constexpr auto functions_with_rules = [](auto x, auto y) {
  auto cube = plx::custom_jvp([](auto v) { return v * v * v; },
                              [](auto at, auto along) {
                                auto [v] = at;
                                auto [d] = along;
                                return std::pair{v * v * v, 3.f * v * v * d};
                              });
  auto divide = [y](auto, auto right) { return right / plx::stop_gradient(y); };
  auto again = plx::checkpoint([](auto v, auto w) { return plx::sin(plx::checkpoint_name(plx::cos(v)) * w); });
  return std::tuple{cube(x * y), plx::custom_linear_solve([y](auto v) { return y * v; }, x, divide, divide),
                    again(x, y)};
};
constexpr auto halving = [](auto x, auto y) {
  return plx::while_loop([](auto v) { return plx::sum(plx::abs(v)) > 1.f; },
                         [y](auto v) { return v * plx::sin(y) * 0.5f; }, x);
};

void check_functions_of_one(plx::element_type type) {
  check<1>(functions_of_one, numbers(type, {{0.3, 0.45, 0.8, 0.15, 0.62}}));
}
void check_functions_of_two(plx::element_type type) {
  check<2>(functions_of_two, numbers(type, {{0.3, 0.45, 0.8, 0.4}, {0.7, 0.35, 1.3, 0.9}}));
}
void check_rearrangements(plx::element_type type) { check<2>(rearrangements, matrices(type, 2, 4, 3)); }
void check_reductions(plx::element_type type) { check<1>(reductions, matrices(type, 1, 3, 4)); }
void check_places(plx::element_type type) { check<2>(places, matrices(type, 2, 5, 3)); }
void check_products(plx::element_type type) { check<2>(products, matrices(type, 2, 2, 3)); }
void check_exchanges(plx::element_type type) { check<2>(exchanges, matrices(type, 2, 2, 2)); }
void check_loops(plx::element_type type) { check<2>(loops, numbers(type, {{0.3, 0.45, 0.8}, {0.7, -0.35, 1.3}})); }
void check_rules(plx::element_type type) {
  check<2>(functions_with_rules, numbers(type, {{0.3, 0.45, 0.8}, {0.7, -0.35, 1.3}}));
}
void check_halving(plx::element_type type) {
  checked_function<2, decltype(halving)> checked(halving, numbers(type, {{3., 5., 7.}, {0.7, -0.35, 1.3}}));
  checked.check_forward();
  checked.check_batches();
}
constexpr auto for_both_types = [](void (*check_all)(plx::element_type)) {
  for (auto type : types) check_all(type);
};

} // namespace

TEST_CASE("derivatives: functions of one number") { for_both_types(check_functions_of_one); }
TEST_CASE("derivatives: functions of two numbers") { for_both_types(check_functions_of_two); }
TEST_CASE("derivatives: arrays rearranged") { for_both_types(check_rearrangements); }
TEST_CASE("derivatives: reductions, cumulative operations, sorts") { for_both_types(check_reductions); }
TEST_CASE("derivatives: elements at places that are data") { for_both_types(check_places); }
TEST_CASE("derivatives: products") { for_both_types(check_products); }
TEST_CASE("derivatives: exchanges between devices") { for_both_types(check_exchanges); }
TEST_CASE("derivatives: loops and branches") { for_both_types(check_loops); }
TEST_CASE("derivatives: functions with rules of their own, solutions, checkpoints") { for_both_types(check_rules); }
TEST_CASE("derivatives: a loop whose rounds the values decide has forward mode") { for_both_types(check_halving); }

TEST_CASE("derivatives: every primitive that has some is among those of the programs above") {
  for (auto check_group : {check_functions_of_one, check_functions_of_two, check_rearrangements, check_reductions,
                           check_places, check_products, check_exchanges, check_loops, check_rules, check_halving})
    check_group(plx::element_type::float64);
  constexpr auto& rules = plx::detail::rule_table<plx::primitives::catalogue>::entries;
  for (std::size_t k = 0; k < std::size(rules); ++k) {
    INFO(rules[k].name);
    const bool has_one = rules[k].has_vjp || rules[k].kind == plx::detail::primitive_kind::call;
    // these have no slope anywhere, and the kernels' interpreter does not know them:
    // tests/conformance/derivatives_test.cpp
    const bool is_elsewhere = rules[k].name == "argmax" || rules[k].name == "argmin" || rules[k].name == "bitcast" ||
                              rules[k].name == "custom_call"; // tests/conformance/custom_call_test.cpp
    CHECK((!has_one || is_elsewhere || used_primitives[k]));
  }
}

} // namespace derivatives_test
