// As much of CBLAS as the host backend calls, in plain loops: for machines without a BLAS, where scripts/gpu-check
// holds small products against the host's. Never installed.
#pragma once

enum CBLAS_ORDER { CblasRowMajor = 101 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };

namespace plain_blas {

/// An element of a stored matrix, or of its transpose.
template <class T> T at(CBLAS_TRANSPOSE transpose, const T* a, int leading, int row, int column) {
  return transpose == CblasNoTrans ? a[static_cast<long>(row) * leading + column]
                                   : a[static_cast<long>(column) * leading + row];
}

template <class T> T dot(int count, const T* x, int x_step, const T* y, int y_step) {
  double sum = 0;
  for (long i = 0; i < count; ++i) sum += static_cast<double>(x[i * x_step]) * static_cast<double>(y[i * y_step]);
  return static_cast<T>(sum);
}

/// Of a matrix as it is stored.
template <class T>
void gemv(CBLAS_TRANSPOSE transpose, int rows, int columns, const T* a, int leading, const T* x, int x_step, T* y,
          int y_step) {
  const int results = transpose == CblasNoTrans ? rows : columns, depth = transpose == CblasNoTrans ? columns : rows;
  for (int i = 0; i < results; ++i) {
    double sum = 0;
    for (int k = 0; k < depth; ++k)
      sum +=
          static_cast<double>(at(transpose, a, leading, i, k)) * static_cast<double>(x[static_cast<long>(k) * x_step]);
    y[static_cast<long>(i) * y_step] = static_cast<T>(sum);
  }
}

template <class T>
void gemm(CBLAS_TRANSPOSE a_transpose, CBLAS_TRANSPOSE b_transpose, int rows, int columns, int depth, const T* a,
          int a_leading, const T* b, int b_leading, T* c, int c_leading) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(at(a_transpose, a, a_leading, i, k)) *
               static_cast<double>(at(b_transpose, b, b_leading, k, j));
      c[static_cast<long>(i) * c_leading + j] = static_cast<T>(sum);
    }
}

} // namespace plain_blas

// The factors of the operands are 1 and those of the results 0, as the host backend has them.
inline float cblas_sdot(int count, const float* x, int x_step, const float* y, int y_step) {
  return plain_blas::dot(count, x, x_step, y, y_step);
}
inline double cblas_ddot(int count, const double* x, int x_step, const double* y, int y_step) {
  return plain_blas::dot(count, x, x_step, y, y_step);
}
inline void cblas_sgemv(CBLAS_ORDER, CBLAS_TRANSPOSE transpose, int rows, int columns, float, const float* a,
                        int leading, const float* x, int x_step, float, float* y, int y_step) {
  plain_blas::gemv(transpose, rows, columns, a, leading, x, x_step, y, y_step);
}
inline void cblas_dgemv(CBLAS_ORDER, CBLAS_TRANSPOSE transpose, int rows, int columns, double, const double* a,
                        int leading, const double* x, int x_step, double, double* y, int y_step) {
  plain_blas::gemv(transpose, rows, columns, a, leading, x, x_step, y, y_step);
}
inline void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE a_transpose, CBLAS_TRANSPOSE b_transpose, int rows, int columns,
                        int depth, float, const float* a, int a_leading, const float* b, int b_leading, float, float* c,
                        int c_leading) {
  plain_blas::gemm(a_transpose, b_transpose, rows, columns, depth, a, a_leading, b, b_leading, c, c_leading);
}
inline void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE a_transpose, CBLAS_TRANSPOSE b_transpose, int rows, int columns,
                        int depth, double, const double* a, int a_leading, const double* b, int b_leading, double,
                        double* c, int c_leading) {
  plain_blas::gemm(a_transpose, b_transpose, rows, columns, depth, a, a_leading, b, b_leading, c, c_leading);
}
