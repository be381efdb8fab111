/* Hamiltonian Monte Carlo in C: draws coefficients of a Bayesian logistic regression, whose log density and gradient
   are an array program behind `log_density_gradient`. */
#include "log_density.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { rows = 400, columns = 4, leapfrogs = 12, warm_up = 500, samples = 6000 };

static const double step_size = 0.06;

static uint64_t state = 20261125;
static double uniform(void) { /* between 0 and 1, neither of them */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "bayesian_regression: this should hold, and does not: %s\n", what);
  exit(1);
}
static double gradient_at(const log_density* density, const double* x, double* gradient) {
  double value;
  if (log_density_gradient(density, x, &value, gradient) != 0) {
    fprintf(stderr, "bayesian_regression: %s\n", log_density_message());
    exit(1);
  }
  return value;
}

/* The gradient beside differences of the density. */
static void check_gradient(const log_density* density) {
  double x[columns] = {0.3, -0.7, 0.1, 0.5}, gradient[columns], unused[columns];
  gradient_at(density, x, gradient);
  for (int k = 0; k < columns; ++k) {
    const double h = 1e-5, at = x[k];
    x[k] = at + h;
    const double above = gradient_at(density, x, unused);
    x[k] = at - h;
    const double below = gradient_at(density, x, unused);
    x[k] = at;
    const double difference = (above - below) / (2 * h);
    check(fabs(gradient[k] - difference) < 1e-6 * (1 + fabs(difference)), "the gradient is the density's");
  }
}

/* Where a point is, with the density there and its gradient. */
struct place {
  double x[columns], gradient[columns], value;
};
/* Moves along a trajectory; says whether the end was accepted. */
static int draw(const log_density* density, struct place* at) {
  struct place next = *at;
  double momentum[columns], before = 0, behind = 0;
  for (int k = 0; k < columns; ++k) {
    momentum[k] = normal();
    before += momentum[k] * momentum[k] / 2;
  }
  for (int step = 0; step < leapfrogs; ++step) {
    for (int k = 0; k < columns; ++k) {
      momentum[k] += step_size / 2 * next.gradient[k];
      next.x[k] += step_size * momentum[k];
    }
    next.value = gradient_at(density, next.x, next.gradient);
    for (int k = 0; k < columns; ++k) momentum[k] += step_size / 2 * next.gradient[k];
  }
  for (int k = 0; k < columns; ++k) behind += momentum[k] * momentum[k] / 2;
  if (log(uniform()) >= next.value - behind - at->value + before) return 0;
  *at = next;
  return 1;
}

int main(void) {
  static const double truth[columns] = {1, -0.5, 0, 1.5};
  static double features[rows * columns], labels[rows];
  for (int i = 0; i < rows; ++i) {
    double margin = 0;
    for (int k = 0; k < columns; ++k) margin += truth[k] * (features[i * columns + k] = normal());
    labels[i] = uniform() < 1 / (1 + exp(-margin)) ? 1 : 0;
  }

  const double right_label = labels[7];
  labels[7] = 0.5;
  check(log_density_new(rows, columns, features, labels, 2) == NULL, "a label of 0.5 is refused");
  printf("refused: %s\n", log_density_message());
  labels[7] = right_label;

  log_density* density = log_density_new(rows, columns, features, labels, 2);
  check(density != NULL, "the regression is made");
  check_gradient(density);

  struct place at = {{0}, {0}, 0};
  at.value = gradient_at(density, at.x, at.gradient);
  for (int i = 0; i < warm_up; ++i) draw(density, &at);
  double sum[columns] = {0}, squares[columns] = {0}, product = 0;
  int accepted = 0;
  const clock_t begin = clock();
  for (int i = 0; i < samples; ++i) {
    accepted += draw(density, &at);
    for (int k = 0; k < columns; ++k) {
      sum[k] += at.x[k];
      squares[k] += at.x[k] * at.x[k];
      product += at.x[k] * at.gradient[k];
    }
  }
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  printf("coefficient  truth   mean     sd\n");
  for (int k = 0; k < columns; ++k) {
    const double mean = sum[k] / samples, deviation = sqrt(squares[k] / samples - mean * mean);
    printf("%11d  %5.2f  %5.2f  %5.2f\n", k, truth[k], mean, deviation);
    check(fabs(mean - truth[k]) < 4 * deviation, "the truth is not far from what is drawn");
  }
  printf("accepted %.0f %%, %.2f us for a gradient\n", 100.0 * accepted / samples,
         seconds * 1e6 / ((double)samples * leapfrogs));
  check(accepted > samples * 0.6, "most ends are accepted");
  /* of any density that falls off at infinity, the mean of dot(x, gradient) is minus the number of dimensions */
  printf("mean of dot(x, gradient) %.2f, which is to be %d\n", product / samples, -columns);
  check(fabs(product / samples + columns) < 0.3, "what is drawn is the density's");
  log_density_delete(density);
  return 0;
}
