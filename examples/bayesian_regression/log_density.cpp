// The functions of log_density.h: an array program and its gradient behind a handle. No exception leaves them.
#include "log_density.h"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace plx = parallax;

struct log_density {
  plx::array<double, 2> features;
  plx::array<double, 1> signs; // 1 for label 1, -1 for 0
  double variance;
};

namespace {

constexpr auto log_posterior = [](auto x, auto features, auto signs, auto variance) {
  auto margin = signs * plx::dot(features, x);
  // log(1 + exp(-margin)) without overflow
  auto surprise = plx::maximum(-margin, 0.) + plx::log1p(plx::exp(-plx::abs(margin)));
  return -plx::sum(surprise) - 0.5 * plx::dot(x, x) / variance;
};
constexpr auto value_and_gradient = plx::value_and_grad(log_posterior);

thread_local std::string message;

log_density* created(std::int64_t rows, std::int64_t columns, const double* features, const double* labels,
                     double scale) {
  if (rows < 1 || columns < 1) throw std::invalid_argument("there is no row or no column; give at least one of each");
  if (features == nullptr || labels == nullptr) throw std::invalid_argument("the features or the labels are NULL");
  if (!(scale > 0)) throw std::invalid_argument("the scale is not above 0");
  std::vector<double> signs;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (labels[i] != 0 && labels[i] != 1)
      throw std::invalid_argument("label " + std::to_string(i) + " is neither 0 nor 1");
    signs.push_back(2 * labels[i] - 1);
  }
  return std::make_unique<log_density>(
             log_density{plx::array<double, 2>({rows, columns}, std::vector(features, features + rows * columns)),
                         plx::array<double, 1>({rows}, std::move(signs)), scale * scale})
      .release();
}

} // namespace

log_density* log_density_new(std::int64_t rows, std::int64_t columns, const double* features, const double* labels,
                             double scale) {
  try {
    return created(rows, columns, features, labels, scale);
  } catch (const std::exception& error) {
    message = error.what();
    return nullptr;
  }
}

int log_density_gradient(const log_density* handle, const double* x, double* value, double* gradient) {
  try {
    plx::jit(value_and_gradient)(plx::borrow(x, {handle->features.shape(1)}), handle->features, handle->signs,
                                 handle->variance, plx::into(value, gradient));
    return 0;
  } catch (const std::exception& error) {
    message = error.what();
    return 1;
  }
}

void log_density_delete(log_density* handle) { delete handle; }

const char* log_density_message() { return message.c_str(); }
