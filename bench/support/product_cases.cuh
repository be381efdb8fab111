// Matrix products of Parallax against cuBLAS and cuBLASLt called by hand.
#pragma once

#include "program_case.cuh"

#include <parallax/core/support/text.hpp>

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

/// Numbers that are multiplied: the element type, the libraries' names for it, the units that do it, how many bits of a
/// result can be trusted, and what else a program says to `matmul`.
template <plx::detail::fixed_string Name, class T, cudaDataType_t Data, cublasComputeType_t Compute, arithmetic Units,
          int Bits, auto... Precision>
struct number_format {
  using type = T;
  using scale = std::conditional_t<Compute == CUBLAS_COMPUTE_64F, double, float>; ///< of alpha and beta
  static constexpr cudaDataType_t data = Data, scale_data = Compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F : CUDA_R_32F;
  static constexpr cublasComputeType_t compute = Compute;
  static constexpr arithmetic units = Units;
  static constexpr auto product = [](auto a, auto b) { return plx::matmul(a, b, Precision...); };
  static std::string name() { return std::string(Name.view()); }
  /// How far results may be apart. Sums of few bits are rounded once, others at every step.
  static double tolerance() { return std::ldexp(Bits < 24 ? 8. : 256., -Bits); }
};

using f32 = number_format<"f32", float, CUDA_R_32F, CUBLAS_COMPUTE_32F, arithmetic::f32, 24>;
using tf32 = number_format<"TF32", float, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, arithmetic::tensor_f32, 11,
                           plx::precision::tf32>;
using f16 = number_format<"f16", plx::float16, CUDA_R_16F, CUBLAS_COMPUTE_32F, arithmetic::tensor_16_bit, 11>;
using bf16 = number_format<"bf16", plx::bfloat16, CUDA_R_16BF, CUBLAS_COMPUTE_32F, arithmetic::tensor_16_bit, 8>;
using f64 = number_format<"f64", double, CUDA_R_64F, CUBLAS_COMPUTE_64F, arithmetic::f64, 53>;

/// All that are measured.
template <class... Formats> struct format_list {};
using measured_formats = format_list<f32, tf32, f16, bf16, f64>;

/// A batch of products, row-major and side by side.
struct product_shape {
  std::int64_t batch = 1, rows = 1, columns = 1, depth = 1;

  double flops() const { return 2. * static_cast<double>(batch * rows * columns) * static_cast<double>(depth); }
  double elements() const {
    return static_cast<double>(batch) * static_cast<double>(rows * depth + depth * columns + rows * columns);
  }
};

inline void blas(cublasStatus_t code, const char* what) {
  require(code == CUBLAS_STATUS_SUCCESS, std::string(what) + ": " + cublasLtGetStatusString(code));
}

/// cuBLAS called by hand. Its matrices are stored in columns, ours in rows: it gets the right one first.
template <class Format> class cublas_product {
 public:
  explicit cublas_product(const product_shape& s) : shape(s) {
    blas(cublasCreate(&handle), "cublasCreate");
    blas(cublasSetStream(handle, stream()), "cublasSetStream");
  }
  cublas_product(const cublas_product&) = delete;
  cublas_product& operator=(const cublas_product&) = delete;
  ~cublas_product() { static_cast<void>(cublasDestroy(handle)); }

  void enqueue(const void* left, const void* right, void* result) const {
    const typename Format::scale one = 1, zero = 0;
    const auto m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns), k = static_cast<int>(shape.depth);
    if (shape.batch == 1)
      return blas(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, right, Format::data, n, left,
                               Format::data, k, &zero, result, Format::data, n, Format::compute, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
    blas(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, right, Format::data, n,
                                    shape.depth * shape.columns, left, Format::data, k, shape.rows * shape.depth, &zero,
                                    result, Format::data, n, shape.rows * shape.columns, static_cast<int>(shape.batch),
                                    Format::compute, CUBLAS_GEMM_DEFAULT),
         "cublasGemmStridedBatchedEx");
  }

 private:
  product_shape shape;
  cublasHandle_t handle = nullptr;
};

/// cuBLASLt called by hand, with the first algorithm that it proposes, or with the fastest.
template <class Format> class cublaslt_product {
 public:
  explicit cublaslt_product(const product_shape& s) : workspace(uninitialised<std::uint8_t, 1>({workspace_bytes})) {
    blas(cublasLtCreate(&handle), "cublasLtCreate");
    blas(cublasLtMatmulDescInit(&operation, Format::compute, Format::scale_data), "cublasLtMatmulDescInit");
    lay_out(right, s.columns, s.depth, s.batch);
    lay_out(left, s.depth, s.rows, s.batch);
    lay_out(result, s.columns, s.rows, s.batch);
    cublasLtMatmulPreferenceOpaque_t preference;
    blas(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    const std::uint64_t most = workspace_bytes;
    blas(
        cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most),
        "cublasLtMatmulPreferenceSetAttribute");
    blas(cublasLtMatmulAlgoGetHeuristic(handle, &operation, &right, &left, &result, &result, &preference,
                                        static_cast<int>(proposed.size()), proposed.data(), &found),
         "cublasLtMatmulAlgoGetHeuristic");
    require(found > 0, "cublasLtMatmulAlgoGetHeuristic: nothing was found");
    chosen = proposed[0].algo;
  }
  cublaslt_product(const cublaslt_product&) = delete;
  cublaslt_product& operator=(const cublaslt_product&) = delete;
  ~cublaslt_product() { static_cast<void>(cublasLtDestroy(handle)); }

  /// Tries all algorithms that are proposed, and keeps the fastest.
  void choose_fastest(const void* a, const void* b, void* c) {
    double least = 0;
    for (const auto& each : std::span(proposed).first(static_cast<std::size_t>(found))) {
      if (multiply(a, b, c, each.algo) != CUBLAS_STATUS_SUCCESS) continue; // what heuristics propose may be refused
      const double seconds =
          times_of(device_seconds([&] { static_cast<void>(multiply(a, b, c, each.algo)); }, 1, 5)).minimum;
      if (least == 0 || seconds < least) least = seconds, chosen = each.algo;
    }
  }
  void enqueue(const void* a, const void* b, void* c) { blas(multiply(a, b, c, chosen), "cublasLtMatmul"); }

 private:
  static constexpr std::int64_t workspace_bytes = 32 << 20;

  cublasStatus_t multiply(const void* a, const void* b, void* c, const cublasLtMatmulAlgo_t& algorithm) {
    const typename Format::scale one = 1, zero = 0;
    return cublasLtMatmul(handle, &operation, &one, b, &right, a, &left, &zero, c, &result, c, &result, &algorithm,
                          data_of(workspace), workspace_bytes, stream());
  }
  static void lay_out(cublasLtMatrixLayoutOpaque_t& layout, std::int64_t rows, std::int64_t columns,
                      std::int64_t batch) {
    blas(cublasLtMatrixLayoutInit(&layout, Format::data, static_cast<std::uint64_t>(rows),
                                  static_cast<std::uint64_t>(columns), rows),
         "cublasLtMatrixLayoutInit");
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * columns;
    auto say = [&](cublasLtMatrixLayoutAttribute_t what, const auto& value) {
      blas(cublasLtMatrixLayoutSetAttribute(&layout, what, &value, sizeof value), "cublasLtMatrixLayoutSetAttribute");
    };
    say(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    say(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }

  plx::array<std::uint8_t, 1> workspace;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t left, right, result;
  std::array<cublasLtMatmulHeuristicResult_t, 8> proposed = {}; // nvcc fails at vectors of a struct without a name
  int found = 0;                                                // of them
  cublasLtMatmulAlgo_t chosen = {};
};

/// The contenders of a case: `call`, which gives a program's result, and both libraries. They get the same operands.
template <class Format, class Left, class Right, class Call>
prepared_case against_libraries(const product_shape& shape, const Left& left, const Right& right, Call call) {
  using T = typename Format::type;
  const auto theirs = uninitialised<T, 3>({shape.batch, shape.rows, shape.columns});
  auto by_hand = [=]<class Library>(const std::shared_ptr<Library>& library) {
    return [=] { library->enqueue(data_of(left), data_of(right), data_of(theirs)); };
  };
  const auto fastest = std::make_shared<cublaslt_product<Format>>(shape);
  fastest->choose_fastest(data_of(left), data_of(right), data_of(theirs));
  prepared_case prepared;
  prepared.contenders = {{"parallax", kept_result(call)},
                         {"cuBLAS", by_hand(std::make_shared<cublas_product<Format>>(shape))},
                         {"cuBLASLt", by_hand(std::make_shared<cublaslt_product<Format>>(shape))},
                         {"best of cuBLASLt", by_hand(fastest)}};
  prepared.check = [=, contenders = prepared.contenders] {
    const auto ours = on_device(call());
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      contenders[i].enqueue();
      require_close(data_of(ours), data_of(theirs), theirs.size(), Format::tolerance(), contenders[i].name);
    }
  };
  return prepared;
}

/// The programs, whose extents are dynamic: each is compiled once for each format.
template <class Format> struct product_programs {
  static constexpr auto matmul = plx::jit([](auto a, auto b) { return Format::product(a, b); });
  static constexpr auto vmap_matvec = plx::jit(
      plx::vmap([](auto vector, auto matrix) { return Format::product(vector, matrix); }, plx::in_axes<0, plx::none>));
  static constexpr auto vmap_matmul = plx::jit(plx::vmap([](auto a, auto b) { return Format::product(a, b); }));
  static constexpr auto pmap_vmap = plx::pmap(plx::vmap([](auto a, auto b) { return Format::product(a, b); }));
  static constexpr auto place = plx::pmap([](auto x) { return x; });
  static constexpr auto activated = plx::jit([](auto product, auto bias) { return plx::relu(product + bias); });
  static constexpr auto layer =
      plx::jit([](auto x, auto weights, auto bias) { return plx::relu(Format::product(x, weights) + bias); });
};

/// A layer with a bias and `relu`, against its product alone.
template <class Format, class Matrix> prepared_case layer_against_product(const Matrix& left, const Matrix& right) {
  using T = typename Format::type;
  using programs = product_programs<Format>;
  const product_shape shape{1, left.shape(0), right.shape(1), left.shape(1)};
  const auto bias = random_array<T, 1>({shape.columns}, 3);
  const auto product = uninitialised<T, 2>({shape.rows, shape.columns});
  const auto library = std::make_shared<cublaslt_product<Format>>(shape);
  library->choose_fastest(data_of(left), data_of(right), data_of(product));
  prepared_case prepared;
  prepared.contenders = {
      {"parallax", kept_result([=] { return programs::layer(left, right, bias); })},
      {"the product alone", [=] { library->enqueue(data_of(left), data_of(right), data_of(product)); }}};
  prepared.check = [=] {
    library->enqueue(data_of(left), data_of(right), data_of(product));
    wait(); // the program may use another stream
    const auto ours = programs::layer(left, right, bias), theirs = programs::activated(product, bias);
    require_close(data_of(ours), data_of(theirs), theirs.size(), 2 * Format::tolerance(), "a layer by hand");
  };
  return prepared;
}

/// Adds the cases of one format, for matrices of n x n elements.
template <class Format> void add_products(std::vector<gpu_case>& cases, std::int64_t n) {
  using T = typename Format::type;
  using programs = product_programs<Format>;
  auto add = [&](const char* name, const product_shape& shape, auto prepare) {
    gpu_case added;
    added.name = std::string(name) + ", " + Format::name() + ", n = " + std::to_string(n);
    added.what = gpu_case::measure::arithmetic;
    added.work = shape.flops();
    added.least_seconds = [=] {
      const double peak = peak_flops(Format::units);
      return peak > 0 ? std::max(shape.elements() * sizeof(T) / copy_bandwidth(), shape.flops() / peak) : 0;
    };
    added.limited_by = "peak at the highest clock, copy bandwidth";
    if (n >= 1024 && Format::units != arithmetic::f64) added.aims = {{"best of cuBLASLt", 0.98}};
    added.prepare = [=] {
      return prepare(shape, random_array<T, 3>({shape.batch, shape.rows, shape.depth}, 1),
                     random_array<T, 3>({shape.batch, shape.depth, shape.columns}, 2));
    };
    cases.push_back(added);
  };
  static constexpr auto matrix = [](const auto& x) {
    return plx::array<T, 2>::adopt(x.storage(), {x.shape(1), x.shape(2)});
  };
  add("matmul", {1, n, n, n}, [](const product_shape& shape, const auto& left, const auto& right) {
    return against_libraries<Format>(shape, left, right,
                                     [a = matrix(left), b = matrix(right)] { return programs::matmul(a, b); });
  });
  if (Format::units != arithmetic::f64 && n >= 1024) {
    add("layer with relu", {1, n, n, n}, [](const product_shape&, const auto& left, const auto& right) {
      return layer_against_product<Format>(matrix(left), matrix(right));
    });
    cases.back().aims.clear();
  }
  add("vmap(matvec) of 256", {1, 256, n, n}, [](const product_shape& shape, const auto& left, const auto& right) {
    return against_libraries<Format>(shape, left, right,
                                     [a = matrix(left), b = matrix(right)] { return programs::vmap_matvec(a, b); });
  });
  if (n < 128) { // what the host needs for one product, by itself and by the library's call
    gpu_case dispatch = cases[cases.size() - 2];
    dispatch.name = "dispatch of " + dispatch.name;
    dispatch.what = gpu_case::measure::host_time;
    dispatch.least_seconds = nullptr;
    cases.push_back(dispatch);
  }
  if (n > 2048) return; // 16 of them take much memory
  add("vmap(matmul) of 16", {16, n, n, n}, [](const product_shape& shape, const auto& left, const auto& right) {
    return against_libraries<Format>(shape, left, right, [=] { return programs::vmap_matmul(left, right); });
  });
  add("pmap(vmap(matmul)) of 16", {16, n, n, n}, [](const product_shape& shape, const auto& left, const auto& right) {
    const std::int64_t devices = plx::device_count() >= 4 ? 4 : plx::device_count() >= 2 ? 2 : 1;
    auto spread = [&](const auto& x) {
      return programs::place(plx::array<T, 4>::adopt(x.storage(), {devices, 16 / devices, x.shape(1), x.shape(2)}));
    };
    return against_libraries<Format>(shape, left, right,
                                     [a = spread(left), b = spread(right)] { return programs::pmap_vmap(a, b); });
  });
  cases.back().on_all_devices = true;
  cases.back().aims.clear();
}

/// All cases for all formats. What a library gives is checked before anything is timed.
template <class... Formats>
std::vector<gpu_case> product_cases(const std::vector<std::int64_t>& sizes, format_list<Formats...>) {
  std::vector<gpu_case> cases;
  for (std::int64_t n : sizes) (add_products<Formats>(cases, n), ...);
  return cases;
}

} // namespace bench
