// Calls the functions from C, and compares them with loops. The exit status is 0 where all are right.
#include "export.hpp"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong = 0;

static void check(const char* what, int index, double got, double expected) {
  if (fabs(got - expected) <= 1e-5 * (1 + fabs(expected))) return;
  printf("%s[%d] is %.9g and not %.9g\n", what, index, got, expected);
  wrong = 1;
}

int main(void) {
  float w[12], x[4] = {0.5f, -1, 2, 0.25f}, b[3] = {0.1f, 0.2f, -0.3f}, y[3], gradient[12];
  for (int i = 0; i < 12; ++i) w[i] = (float)(i * 5 % 7 - 3) / 8;
  layer(w, x, b, y);
  layer_gradient(w, x, b, gradient);
  for (int i = 0; i < 3; ++i) {
    double sum = b[i];
    for (int k = 0; k < 4; ++k) sum += (double)w[i * 4 + k] * x[k];
    const double value = tanh(sum);
    check("layer", i, y[i], value);
    for (int k = 0; k < 4; ++k)
      check("gradient", i * 4 + k, gradient[i * 4 + k], 2 * value * (1 - value * value) * x[k]);
  }

  double matrix[2000], shares[40], sums[40] = {0}, largest = -1e300;
  for (int i = 0; i < 2000; ++i) matrix[i] = (double)(i * 13 % 29) / 4;
  void* workspace = malloc(row_shares_workspace() + 1);
  row_shares(matrix, shares, workspace);
  free(workspace);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 50; ++j) sums[i] += matrix[i * 50 + j];
    largest = fmax(largest, sums[i]);
  }
  for (int i = 0; i < 40; ++i) check("row_shares", i, shares[i], sums[i] / largest);

  float* many = malloc(100000 * sizeof *many);
  for (int i = 0; i < 100000; ++i) many[i] = (float)(i % 8) / 8;
  float sum = 0;
  total(many, &sum);
  check("total", 0, sum, 12500 * 28.0 / 8);
  free(many);
  return wrong;
}
