// The programs that transformations make, as text.
#include "support/test.hpp"
#include "transforms/count_operations.hpp"

#include <parallax/parallax.hpp>

namespace expression_test {

namespace plx = parallax;
using plx::expression, plx::shaped, plx::in_axes, plx::out_axes, plx::none;

namespace {

constexpr auto layer = [](auto weights, auto bias, auto x) { return plx::tanh(plx::dot(x, weights) + bias); };
constexpr auto matrix_vector = [](auto w, auto x) { return plx::dot(w, x); };
constexpr auto inner = [](auto x, auto y) { return plx::vdot(x, y); };
constexpr auto sum_of_sines = [](auto x) { return plx::sum(plx::sin(x)); };

static_assert(expression(layer, shaped<float, 3, 2>, shaped<float, 2>, shaped<float, 5, 3>) ==
              R"({ lambda a:float32[3,2] b:float32[2] c:float32[5,3] . let
    d:float32[5,2] = dot_general[left_contract=(1) right_contract=(0)] c a
    e:float32[5,2] = broadcast_in_dim[shape=(5,2) axes=(1)] b
    f:float32[5,2] = add d e
    g:float32[5,2] = tanh f
  in (g,) })");

// jit adds nothing, inside or outside
static_assert(expression(plx::jit([](auto x) { return plx::jit(sum_of_sines)(x); }), shaped<float, 4>) ==
              expression(sum_of_sines, shaped<float, 4>));

// extents that only the call knows are named by argument and axis
static_assert(expression(matrix_vector, shaped<float, plx::dyn, 4>, shaped<float, 4>) ==
              R"({ lambda a:float32[n0_0,4] b:float32[4] . let
    c:float32[n0_0] = dot_general[left_contract=(1) right_contract=(0)] a b
  in (c,) })");

// a matrix-vector product over a batch is one matrix product, with whatever is mapped; each instance's result is a row
constexpr auto shared =
    expression(plx::vmap(matrix_vector, in_axes<none, 0>), shaped<float, 3, 4>, shaped<float, 8, 4>);
static_assert(count_operations(shared, "dot_general") == 1 && count_operations(shared) == 1);
static_assert(shared.find("float32[8,3] = dot_general[left_contract=(1) right_contract=(1)]") != shared.npos);
constexpr auto batched = expression(plx::vmap(matrix_vector), shaped<float, 8, 3, 4>, shaped<float, 8, 4>);
static_assert(count_operations(batched, "dot_general") == 1 && count_operations(batched) == 1);

// A @ B spelled as two vmaps of an inner product is exactly one matrix product, nothing around it
static_assert(expression(plx::vmap(plx::vmap(inner, in_axes<none, 1>), in_axes<0, none>), shaped<float, 4, 3>,
                         shaped<float, 3, 2>) ==
              R"({ lambda a:float32[4,3] b:float32[3,2] . let
    c:float32[4,2] = dot_general[left_contract=(1) right_contract=(0)] a b
  in (c,) })");

// common subexpressions appear once, whether the user wrote them twice or a transformation made them
constexpr auto twice = [](auto x) { return plx::exp(x) * 2.f + plx::exp(x) * 2.f; };
static_assert(count_operations(expression(twice, shaped<float, 4>), "exp") == 1);
static_assert(count_operations(expression(twice, shaped<float, 4>), "mul") == 1);
constexpr auto tanh_gradient =
    expression(plx::value_and_grad([](auto x) { return plx::sum(plx::tanh(x)); }), shaped<float, 4>);
static_assert(count_operations(tanh_gradient, "tanh") == 1);

// what no result needs is not there
constexpr auto unused = [](auto x) {
  auto ignored = plx::exp(x);
  static_cast<void>(ignored);
  return -x;
};
static_assert(count_operations(expression(unused, shaped<float, 4>)) == 1);
// the gradient alone needs no value
static_assert(count_operations(expression(plx::grad(sum_of_sines), shaped<float, 4>), "sin") == 0);
static_assert(count_operations(expression(plx::value_and_grad(sum_of_sines), shaped<float, 4>), "sin") == 1);

// what depends on no mapped argument is computed once
constexpr auto scaled = [](auto w, auto x) { return x * plx::exp(w); };
constexpr auto unmapped = expression(plx::vmap(scaled, in_axes<none, 0>), shaped<float>, shaped<float, 8>);
static_assert(unmapped.find("float32[] = exp a") != unmapped.npos);

// pmap keeps the unmapped body
static_assert(expression(plx::pmap<"i">([](auto x) { return x / plx::psum<"i">(x); }), shaped<float, 4>) ==
              R"({ lambda a:float32[4] . let
    b:float32[4] = pmap[axis=i size=4 in_axes=(0) out_axes=(0) body={ lambda a:float32[] . let
        b:float32[] = psum[axes=(i)] a
        c:float32[] = div a b
      in (c,) }] a
  in (b,) })");

// every order of mapping composes: inside pmap the body is batched, outside the mapped axis moves
static_assert(expression(plx::pmap(plx::vmap(sum_of_sines)), shaped<float, 2, 3, 4>) ==
              R"({ lambda a:float32[2,3,4] . let
    b:float32[2,3] = pmap[axis=<axis 0> size=2 in_axes=(0) out_axes=(0) body={ lambda a:float32[3,4] . let
        b:float32[3,4] = sin a
        c:float32[3] = reduce_sum[axes=(1)] b
      in (c,) }] a
  in (b,) })");
static_assert(expression(plx::vmap(plx::pmap(sum_of_sines)), shaped<float, 2, 3, 4>) ==
              R"({ lambda a:float32[2,3,4] . let
    b:float32[3,2] = pmap[axis=<axis 1> size=3 in_axes=(1) out_axes=(0) body={ lambda a:float32[2,4] . let
        b:float32[2,4] = sin a
        c:float32[2] = reduce_sum[axes=(1)] b
      in (c,) }] a
    c:float32[2,3] = transpose[permutation=(1,0)] b
  in (c,) })");

// gradients inside and outside of vmap are one chain of whole-batch operations
constexpr auto of_batch =
    expression(plx::grad([](auto x) { return plx::sum(plx::vmap(sum_of_sines)(x)); }), shaped<float, 3, 4>);
constexpr auto per_example = expression(plx::vmap(plx::grad(sum_of_sines)), shaped<float, 3, 4>);
static_assert(count_operations(of_batch, "cos") == 1 && of_batch.find("float32[3,4] = cos a") != of_batch.npos);
static_assert(count_operations(per_example, "cos") == 1 &&
              per_example.find("float32[3,4] = cos a") != per_example.npos);

// an unmapped argument's derivative is summed over the devices, inside the backward pmap
constexpr auto shared_weight = [](auto w, auto x) {
  return plx::sum(plx::pmap<"i">([](auto v, auto y) { return v * y; }, in_axes<none, 0>)(w, x));
};
constexpr auto weight_gradient = expression(plx::grad(shared_weight), shaped<float>, shaped<float, 3>);
static_assert(count_operations(weight_gradient, "psum") == 1 && count_operations(weight_gradient, "pmap") == 1);
static_assert(weight_gradient.find("out_axes=(None)") != weight_gradient.npos);

// closures of an inner pmap become unmapped arguments
constexpr auto closing_over = plx::pmap([](auto x) {
  auto y = plx::sin(x);
  return plx::pmap([=](auto z) { return z * plx::sum(y); })(x);
});
constexpr auto nested = expression(closing_over, shaped<float, 4, 2>);
static_assert(nested.find("size=2 in_axes=(0,None)") != nested.npos);

// the size of an axis is a constant
static_assert(expression(plx::vmap<"i">([](auto x) { return x * plx::axis_size<"i">(); }), shaped<float, 4>) ==
              R"({ lambda a:float32[4] . let
    b:float32[4] = mul a 4.0
  in (b,) })");

} // namespace

TEST_CASE("operations are counted by their whole name", "[expression]") {
  std::string_view program = "a = add b c\n d = add_any e f\n g = reduce_sum[axes=(0)] a";
  CHECK(count_operations(program, "add") == 1);
  CHECK(count_operations(program, "reduce_sum") == 1);
  CHECK(count_operations(program) == 3);
}

} // namespace expression_test
