/* A Bayesian logistic regression for samplers that are written in C: its log density and the gradient of that. */
#ifndef LOG_DENSITY_H
#define LOG_DENSITY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct log_density log_density;

/* The posterior of so many coefficients: labels[i] is 1 with probability 1 / (1 + exp(-dot(features[i], x))) and else
   0, and coefficients are normal around 0 with the standard deviation `scale` before anything is known. `features` is
   row-major, of rows * columns numbers; it is copied. NULL where an argument is wrong: see log_density_message. */
log_density* log_density_new(int64_t rows, int64_t columns, const double* features, const double* labels, double scale);

/* The log density at x, but for a constant, and its gradient, of as many numbers as x has. Any number of threads may
   call it at a time; once it has been called, it allocates nothing. 0, or 1 where it fails: see log_density_message. */
int log_density_gradient(const log_density* handle, const double* x, double* value, double* gradient);

/* Does nothing to NULL. */
void log_density_delete(log_density* handle);

/* What was wrong in this thread's last call that failed. */
const char* log_density_message(void);

#ifdef __cplusplus
}
#endif

#endif
