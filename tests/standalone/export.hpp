// What other languages see of functions that are compiled without a runtime.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// y = tanh(w x + b): w 3 x 4, x 4, b and y 3.
void layer(const float* w, const float* x, const float* b, float* y);

/// The gradient by w, row-major 3 x 4, of the sum of squares of y.
void layer_gradient(const float* w, const float* x, const float* b, float* gradient);

/// The sums of the rows of x, 40 x 50, divided by the largest of them.
void row_shares(const double* x, double* shares, void* workspace);

/// The bytes of `workspace` for `row_shares`.
unsigned long row_shares_workspace(void);

/// The sum of x, 100,000 numbers.
void total(const float* x, float* sum);

#ifdef __cplusplus
}
#endif
