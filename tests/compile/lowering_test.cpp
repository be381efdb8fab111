// What a program is lowered to: which operations share a loop, which loops share a kernel, which buffers share memory.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <array>

namespace lowering_test {

namespace plx = parallax;
using plx::compiled::step_kind, plx::shaped;

namespace {

/// What the tests ask of a lowered program; its main section, unless there is a section, which then is meant.
struct facts {
  int kernels = 0;         ///< distinct ones
  int kernel_steps = 0;    ///< loops
  int products = 0;        ///< matrix products
  int collectives = 0;     ///< all kinds
  int calls = 0;           ///< of sections
  int groups = 0;          ///< of loops that may run at once
  int slots = 0;           ///< memory for intermediates
  int longest = 0;         ///< statements of the longest kernel
  int strided = 0;         ///< loads of kernels that go through memory in strides
  int products_behind = 0; ///< the first collective
  bool failed = false;
};

template <class Function, class... Arguments> constexpr facts lower(const Function&, const Arguments&...) {
  const auto plan = lowered::program(Function{}, Arguments{}...);
  facts result;
  result.failed = lowered::section_count(plan) == 0;
  result.kernels = plan.template size<plx::compiled::kernel_record>();
  for (int k = 0; k < result.kernels; ++k) {
    const auto statements = plan[plan.template at<plx::compiled::kernel_record>(k).statements];
    result.longest = std::max(result.longest, static_cast<int>(statements.size()));
    for (const auto& statement : statements)
      result.strided += statement.kind == plx::compiled::statement_kind::load_strided;
  }
  for (int k = 0; k < lowered::section_count(plan); ++k) {
    for (const auto& step : plan[lowered::section(plan, k).steps]) {
      if (step.kind == step_kind::product) result.products_behind += result.collectives > 0;
      else if (step.kind == step_kind::launch_batch) ++result.groups;
      else if (step.kind != step_kind::kernel && step.kind != step_kind::mapped_section) ++result.collectives;
    }
  }
  result.kernel_steps = lowered::step_count(plan, step_kind::kernel);
  result.products = lowered::step_count(plan, step_kind::product);
  result.calls = lowered::step_count(plan, step_kind::mapped_section);
  result.slots = lowered::slot_count(plan);
  return result;
}

constexpr auto vector = shaped<float, 64>;
constexpr auto matrix = shaped<float, 32, 64>;

// eight elementwise operations are one loop, without memory between them
constexpr auto chain = [](auto x) { return plx::tanh(plx::exp(-plx::sqrt(plx::abs(x) + 1.f)) * 2.f - plx::sin(x)); };
constexpr facts chained = lower(chain, vector);
static_assert(!chained.failed && chained.kernel_steps == 1 && chained.kernels == 1 && chained.slots == 0);
static_assert(chained.longest >= 8);

// a loop reads a bounded number of arrays; an array that it reads again, or by way of a view, counts once
template <int Count>
constexpr auto total = [](const auto& leaves) {
  auto result = leaves[0];
  for (std::size_t i = 1; i < Count; ++i) result = result + leaves[i];
  return result;
};
constexpr facts few_arrays = lower(total<40>, std::array<std::remove_cvref_t<decltype(vector)>, 40>{});
static_assert(few_arrays.kernel_steps == 1 && few_arrays.slots == 0);
constexpr facts many_arrays = lower(total<100>, std::array<std::remove_cvref_t<decltype(vector)>, 100>{});
static_assert(many_arrays.kernel_steps == 3 && many_arrays.longest < 100);
constexpr facts one_array = lower(
    [](auto x, auto b) {
      auto result = plx::expand_dims(b, 0) * x;
      for (int i = 0; i < 30; ++i) result = (result + x) * plx::expand_dims(b, 0);
      return result;
    },
    matrix, vector);
static_assert(one_array.kernel_steps == 1);

// broadcasts and transposes are indices of the loop that reads them
constexpr facts broadcast = lower([](auto x, auto b) { return plx::transpose(x + b) * 2.f; }, matrix, vector);
static_assert(broadcast.kernel_steps == 1 && broadcast.slots == 0);

// a number takes the type of the arrays beside it; one that has it already costs no loop
constexpr auto line = [](auto x, auto slope) { return slope * x + slope; };
static_assert(lower(line, matrix, plx::detail::abstract_t<float>{}).kernel_steps == 1);
static_assert(lower(line, matrix, plx::detail::abstract_t<double>{}).kernel_steps == 2);

// what feeds a reduction is computed inside it
constexpr facts reduced = lower([](auto x) { return plx::sum(plx::exp(x) * 2.f, 1); }, matrix);
static_assert(reduced.kernel_steps == 1 && reduced.slots == 0);

// and what feeds a cumulative sum inside that; a sort is one step with memory for as many elements, and one that moves
// positions has it for keys besides
constexpr facts accumulated = lower([](auto x) { return plx::cumsum(plx::exp(plx::transpose(x)) * 2.f, 0); }, matrix);
static_assert(accumulated.kernel_steps == 1 && accumulated.slots == 0);
constexpr facts arranged = lower([](auto x) { return plx::sort(x); }, matrix);
static_assert(arranged.kernel_steps == 1 && arranged.slots == 1);
constexpr facts ordered = lower([](auto x) { return plx::argsort(x); }, matrix);
static_assert(ordered.kernel_steps == 2 && ordered.slots == 4); // the first loop counts positions

// random numbers are computed where they are used: none is written, whichever generator makes them
template <class Random>
constexpr auto noisy = [](auto x, auto key) { return plx::sum(x * Random::uniform(key, {32, 64}), 1); };
template <class Random>
constexpr auto dropout =
    [](auto x, auto key) { return plx::where(Random::bernoulli(key, 0.9f, {32, 64}), plx::tanh(x) / 0.9f, 0.f); };
constexpr auto random_key = shaped<std::uint32_t, 2>;
template <class Random> constexpr bool writes_no_random_array() {
  facts reduction = lower(noisy<Random>, matrix, random_key), loop = lower(dropout<Random>, matrix, random_key);
  facts both_passes =
      lower(plx::grad([](auto x, auto k) { return plx::sum(plx::square(dropout<Random>(x, k))); }), matrix, random_key);
  return reduction.kernel_steps == 1 && reduction.slots == 0 && loop.kernel_steps == 1 && loop.slots == 0 &&
         both_passes.kernel_steps == 1 && both_passes.slots == 0 && !both_passes.failed;
}
static_assert(writes_no_random_array<plx::random>() && writes_no_random_array<plx::philox>());
// what a slice leaves out is not made
static_assert(lower([](auto k) { return plx::slice(plx::philox::bits(k, {1000}), {3}, {100}); }, random_key).slots ==
              0);

// softmax: the maximum, the exponentials, their sum, the quotient; stop_gradient leaves no trace
constexpr facts softmax = lower([](auto x) { return plx::softmax(x, 1); }, matrix);
static_assert(softmax.kernel_steps == 1 && softmax.slots == 0 && softmax.products == 0);
static_assert(lower([](auto x) { return plx::stop_gradient(plx::sum(x, 1)); }, matrix).kernel_steps == 1);

// what reductions along rows are made of before others' turn comes is computed with these, unless more reads it
template <bool IsReadElsewhere>
constexpr auto weighted = [](auto x, auto w, auto t) {
  auto logits = plx::dot(x, w);
  auto all = plx::sum(t * 0.5f, 1);
  auto losses = plx::sum((logits - plx::logsumexp(logits, 1, plx::keepdims)) * plx::expand_dims(all, 1), 1);
  if constexpr (IsReadElsewhere) return std::pair{losses, all};
  else return losses;
};
static_assert(lower(weighted<false>, matrix, shaped<float, 64, 16>, shaped<float, 32, 16>).kernel_steps == 1);
static_assert(lower(weighted<true>, matrix, shaped<float, 64, 16>, shaped<float, 32, 16>).kernel_steps == 2);
// minus a constant is one
constexpr auto rising = [](auto x) { return plx::grad([](auto v) { return -plx::mean(v * v); })(x); };
static_assert(lower(rising, matrix).kernel_steps == 1);

// two loops of one structure are one kernel, whatever their constants and extents
constexpr auto scaled_twice = [](auto x, auto y) { return std::pair{plx::exp(x) * 2.f, plx::exp(y) * 3.f}; };
constexpr facts equal = lower(scaled_twice, vector, shaped<float, 99>);
static_assert(equal.kernel_steps == 2 && equal.kernels == 1 && equal.groups == 1);
// the operation is part of the structure
constexpr auto two_functions = [](auto x, auto y) { return std::pair{plx::exp(x) * 2.f, plx::log(y) * 3.f}; };
static_assert(lower(two_functions, vector, shaped<float, 99>).kernels == 2);

// products read transposed operands in place
constexpr facts product = lower([](auto a, auto b) { return plx::dot(plx::transpose(a), b); }, matrix, matrix);
static_assert(product.products == 1 && product.kernel_steps == 0 && product.slots == 0);
// and what comes after one is one loop
constexpr facts dense = lower([](auto x, auto w, auto b) { return plx::tanh(plx::dot(x, w) + b); }, matrix,
                              shaped<float, 64, 16>, shaped<float, 16>);
static_assert(dense.products == 1 && dense.kernel_steps == 1 && dense.slots == 1);
// vmap of a matrix-vector product is one product
constexpr facts batched =
    lower(plx::vmap([](auto w, auto x) { return plx::dot(w, x); }), shaped<float, 8, 3, 4>, shaped<float, 8, 4>);
static_assert(batched.products == 1 && batched.kernel_steps == 0);
// and so are inner products of all rows with all columns, whichever is mapped first
constexpr facts columns_of_rows =
    lower(plx::vmap(plx::vmap(plx::vdot, plx::in_axes<0, plx::none>), plx::in_axes<plx::none, 1>, plx::out_axes<1>),
          shaped<float, 4, 3>, shaped<float, 3, 2>);
static_assert(columns_of_rows.products == 1 && columns_of_rows.kernel_steps == 0);
// a mapped vector's results are rows, which what follows reads and returns as they lie
constexpr auto mapped_vector = plx::in_axes<plx::none, plx::none, 0>;
constexpr auto layer = [](auto w, auto b, auto x) { return plx::tanh(plx::dot(w, x) + b); };
constexpr auto weights = shaped<float, 64, 32>;
constexpr auto biases = shaped<float, 64>;
constexpr auto inputs = shaped<float, 9, 32>;
constexpr facts layers = lower(plx::vmap(layer, mapped_vector), weights, biases, inputs);
static_assert(layers.products == 1 && layers.kernel_steps == 1 && layers.strided == 0 && layers.slots == 1);
static_assert(lower(plx::vmap([](auto w, auto, auto x) { return plx::dot(w, x); }, mapped_vector), weights, biases,
                    inputs)
                  .kernel_steps == 0);
constexpr facts normed =
    lower(plx::vmap([](auto w, auto, auto x) { return plx::softmax(plx::dot(w, x)); }, mapped_vector), weights, biases,
          inputs);
static_assert(normed.kernel_steps == 1 && normed.slots == 1);
// a product that is only read with rows and columns exchanged is computed so, as in the derivative by the weights
constexpr facts weights_gradient =
    lower(plx::grad([](auto w, auto b, auto x) { return plx::sum(plx::vmap(layer, mapped_vector)(w, b, x)); }), weights,
          biases, inputs);
static_assert(weights_gradient.products == 2 && weights_gradient.kernel_steps == 1 && weights_gradient.strided == 0);
constexpr facts exchanged =
    lower([](auto a, auto b) { return plx::transpose(plx::dot(a, b)) * 2.f; }, matrix, shaped<float, 64, 16>);
static_assert(exchanged.products == 1 && exchanged.kernel_steps == 1 && exchanged.strided == 0);
// not one that is read both ways, or a result itself
static_assert(
    lower([](auto a) { return plx::dot(a, a) * plx::transpose(plx::dot(a, a)); }, shaped<float, 8, 8>).strided == 1);
static_assert(lower(
                  [](auto a, auto b) {
                    auto c = plx::dot(a, b);
                    return std::pair{c, plx::transpose(c)};
                  },
                  matrix, shaped<float, 64, 16>)
                  .kernel_steps == 1);

// memory is used again: a chain of products needs two intermediates at a time, however long it is
template <int Length> struct power {
  constexpr auto operator()(auto a) const {
    auto x = a;
    for (int i = 0; i < Length; ++i) x = plx::dot(x, a);
    return plx::sum(x);
  }
};
constexpr int slots_of_short = lower(power<3>{}, shaped<float, 16, 16>).slots;
constexpr int slots_of_long = lower(power<12>{}, shaped<float, 16, 16>).slots;
static_assert(slots_of_short == 2 && slots_of_long == 2);

// a pmap is one call of one section; nested ones are one section over a mesh
constexpr facts mapped = lower(plx::pmap<"i">([](auto x) { return x / plx::psum<"i">(x); }), vector);
static_assert(mapped.calls == 1 && mapped.collectives == 1);
constexpr facts mesh =
    lower(plx::pmap<"r">(plx::pmap<"c">([](auto x) { return x / plx::psum<"r", "c">(x); })), shaped<float, 4, 2>);
static_assert(mesh.calls == 1 && mesh.collectives == 1);
// a gradient's all-reduce stands behind the part of the backward pass that computes it
constexpr auto two_layers = [](auto params, auto x) {
  return plx::sum(plx::tanh(plx::dot(plx::tanh(plx::dot(x, params.first)), params.second)));
};
constexpr facts gradients = lower(
    plx::pmap<"i">([](auto v, auto w, auto x) { return plx::pmean<"i">(plx::grad(two_layers)(std::pair{v, w}, x)); }),
    shaped<float, 2, 6, 5>, shaped<float, 2, 5, 3>, shaped<float, 2, 4, 6>);
static_assert(gradients.collectives == 2 && gradients.products == 5 && gradients.products_behind == 1);
// a sum over devices lies where its operand ended, and a gather does not; the last one is the output's memory
template <int Sums>
constexpr auto summed = plx::pmap<"i">([](auto x) {
  auto y = x * x;
  for (int k = 0; k < Sums; ++k) y = plx::psum<"i">(plx::sin(y));
  return plx::sum(y);
});
static_assert(lower(summed<1>, shaped<float, 4, 100>).slots == 1 && lower(summed<5>, shaped<float, 4, 100>).slots == 1);
constexpr facts twice_summed = lower(
    plx::pmap<"i">([](auto x) { return plx::sum(plx::psum<"i">(plx::psum<"i">(x * x))); }), shaped<float, 4, 100>);
static_assert(twice_summed.collectives == 2 && twice_summed.slots == 1);
// nor where the operand is read again, by a loop or by another collective that may run later
constexpr facts kept_operand = lower(plx::pmap<"i">([](auto x) {
                                       auto y = x * x;
                                       return plx::sum(plx::psum<"i">(y) * y);
                                     }),
                                     shaped<float, 4, 100>);
static_assert(kept_operand.slots == 2);
constexpr facts shared_operand = lower(plx::pmap<"i">([](auto x) {
                                         auto y = x * x;
                                         return plx::sum(plx::psum<"i">(y) * plx::pmax<"i">(y));
                                       }),
                                       shaped<float, 4, 100>);
static_assert(shared_operand.slots == 3);
// what an inner pmap takes and returns stays where it is
constexpr facts inner = lower(plx::pmap(plx::pmap([](auto x) { return x * 2.f; })), shaped<float, 4, 2>);
static_assert(inner.calls == 1);

// an argument returned as it is is a copy; a constant is written once
static_assert(lower([](auto x) { return x; }, vector).kernel_steps == 1);
static_assert(lower([](auto) { return 3.f; }, vector).kernel_steps == 1);

} // namespace

TEST_CASE("lowering at run time gives what the compiler computed", "[compile]") {
  facts again = lower(chain, vector);
  CHECK(again.kernel_steps == chained.kernel_steps);
  CHECK(again.longest == chained.longest);
}

} // namespace lowering_test
