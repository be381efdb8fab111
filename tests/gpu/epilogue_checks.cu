// What products do to their results, against loops on the host.
#include "device_array.cuh"

#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace gpu {
namespace {

using parallax::element_type;
using parallax::cuda::matrix_product;
using parallax::cuda::product_epilogue;
using parallax::detail::product_activation;
using enum parallax::detail::product_activation;

constexpr std::int64_t rows = 24, columns = 40, depth = 32;
constexpr std::size_t count = rows * columns, sign_bytes = rows * 16;

template <class T> std::vector<T> centred(std::size_t size, unsigned seed) {
  std::vector<T> values;
  for (int value : numbers<int>(size, seed)) values.push_back(static_cast<T>(static_cast<float>(value - 3) * 0.25f));
  return values;
}

/// Operands, and what the host makes of them, in doubles.
template <class T> struct problem {
  std::vector<T> left = centred<T>(rows * depth, 1), right = centred<T>(depth * columns, 2),
                 bias = centred<T>(columns, 3);
  std::vector<double> product = std::vector<double>(count), biased = product;

  problem() {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        double& sum = product[i * columns + j];
        for (std::size_t k = 0; k < depth; ++k)
          sum += static_cast<double>(static_cast<float>(left[i * depth + k])) *
                 static_cast<double>(static_cast<float>(right[k * columns + j]));
        biased[i * columns + j] = sum + static_cast<double>(static_cast<float>(bias[j]));
      }
  }
};

template <class T> class epilogue_check {
 public:
  explicit epilogue_check(element_type type) {
    shape_.type = type;
    shape_.rows = rows, shape_.columns = columns, shape_.depth = depth;
    shape_.left_row = depth, shape_.right_depth = columns, shape_.result_batch = count;
    shape_.left = left_.data(), shape_.right = right_.data(), shape_.result = result_.data();
    shape_.workspace = workspace_.data();
  }

  void run() {
    auto relu_of = [](double x) { return x > 0 ? x : 0.; };
    auto gelu_of = [](double x) { return parallax::math::gelu(x); };
    auto expect = [&](const std::vector<double>& from, auto f) {
      std::vector<double> expected;
      for (double x : from) expected.push_back(f(x));
      return expected;
    };
    if (apply(product_epilogue{.bias = bias_.data()}, "bias")) compare(result_, host_.biased, "bias");
    if (apply(product_epilogue{.activation = relu}, "relu")) compare(result_, expect(host_.product, relu_of), "relu");
    if (apply(product_epilogue{.activation = gelu, .bias = bias_.data()}, "bias, gelu"))
      compare(result_, expect(host_.biased, gelu_of), "bias, gelu");

    // the gradients read what the functions have left: here the cotangent is the same product
    product_epilogue e{.activation = relu, .bias = bias_.data(), .auxiliary = signs_.data()};
    if (apply(e, "bias, relu for a gradient")) {
      compare(result_, expect(host_.biased, relu_of), "bias, relu for a gradient");
      e = product_epilogue{.activation = relu_gradient, .auxiliary = signs_.data(), .bias_gradient = sums_.data()};
      if (apply(e, "relu's gradient")) check_gradient([](double x) { return x > 0 ? 1. : 0.; }, "relu's gradient");
    }
    e = product_epilogue{.activation = gelu, .bias = bias_.data(), .auxiliary = kept_.data()};
    if (apply(e, "bias, gelu for a gradient")) {
      compare(kept_, host_.biased, "what gelu is applied to");
      e = product_epilogue{.activation = gelu_gradient, .auxiliary = kept_.data(), .bias_gradient = sums_.data()};
      if (apply(e, "gelu's gradient"))
        check_gradient([](double x) { return parallax::math::gelu_derivative(x); }, "gelu's gradient", 1e-2);
    }
    e = product_epilogue{.bias_gradient = sums_.data(), .sums_right = true};
    if (apply(e, "sums of the right operand")) {
      std::vector<double> expected(columns);
      for (std::size_t k = 0; k < depth * columns; ++k)
        expected[k % columns] += static_cast<double>(static_cast<float>(host_.right[k]));
      compare(sums_, expected, "sums of the right operand");
      compare(result_, host_.product, "the product beside the sums");
    }
    if (!missing_.empty()) throw skipped{"cuBLASLt has no epilogue for" + missing_ + "; all others are right"};
  }

 private:
  problem<T> host_;
  queue on_;
  device_array<T> left_{on_, host_.left}, right_{on_, host_.right}, bias_{on_, host_.bias};
  device_array<T> result_{on_, std::vector<T>(count)}, kept_{on_, std::vector<T>(count)},
      sums_{on_, std::vector<T>(columns)};
  device_array<std::byte> signs_{on_, sign_bytes}, workspace_{on_, api::product_workspace_bytes};
  matrix_product shape_;
  std::string missing_;

  /// False where the library does not have it.
  bool apply(const product_epilogue& e, const std::string& what) {
    matrix_product p = shape_;
    p.epilogue = e;
    const parallax::cuda::status possible = api::can_multiply(p, 0);
    if (possible.is == parallax::cuda::status::kind::unsupported) {
      missing_ += " (" + what + ")";
      return false;
    }
    ok(possible);
    ok(api::multiply(p, 0, on_.get()));
    return true;
  }
  /// Relative to numbers of the size that the sums have; at least `least`, where the device's approximate tanh enters
  /// twice.
  void compare(const device_array<T>& memory, const std::vector<double>& expected, const std::string& what,
               double least = 0) {
    const double tolerance = std::max(least, sizeof(T) == 4                         ? 2e-3
                                             : shape_.type == element_type::float16 ? 4e-3
                                                                                    : 3e-2);
    const std::vector<T> actual = memory.values();
    for (std::size_t i = 0; i < expected.size(); ++i)
      require(std::abs(static_cast<double>(static_cast<float>(actual[i])) - expected[i]) <=
                  tolerance * (1 + std::abs(expected[i])),
              what + ": element " + std::to_string(i) + " is " +
                  std::to_string(static_cast<double>(static_cast<float>(actual[i]))) + " instead of " +
                  std::to_string(expected[i]));
  }
  template <class Derivative>
  void check_gradient(const Derivative& derivative, const std::string& what, double least = 0) {
    std::vector<double> expected(count), sums(columns);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] = host_.product[i] * derivative(host_.biased[i]);
      sums[i % columns] += expected[i];
    }
    compare(result_, expected, what, least);
    if (sizeof(T) == 4)
      compare(sums_, sums, what + ", summed", least); // in 16 bits a sum near zero has lost its digits
  }
};

void check_float() { epilogue_check<float>(element_type::float32).run(); }
void check_float16() { epilogue_check<parallax::float16>(element_type::float16).run(); }
void check_bfloat16() { epilogue_check<parallax::bfloat16>(element_type::bfloat16).run(); }

constexpr check all[] = {{"epilogues: float32", check_float},
                         {"epilogues: float16", check_float16},
                         {"epilogues: bfloat16", check_bfloat16}};

} // namespace

std::span<const check> epilogue_checks() { return all; }

} // namespace gpu
