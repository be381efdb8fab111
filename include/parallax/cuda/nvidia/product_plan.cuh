// A matrix product as cuBLASLt takes it: its matrices, its epilogue, and the algorithm that is chosen for it.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

inline status product_status(const char* call, cublasStatus_t code) {
  if (code == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  std::ignore = cudaGetLastError(); // clears the library's error, as `runtime_status` does
  const status::kind is = code == CUBLAS_STATUS_ALLOC_FAILED ? status::kind::out_of_memory : status::kind::failure;
  return {is, static_cast<int>(code), "cuBLASLt", call, cublasLtGetStatusString(code)};
}

/// The library's type for a floating type.
constexpr cudaDataType_t library_type(element_type type) {
  switch (type) {
  case element_type::float16: return CUDA_R_16F;
  case element_type::bfloat16: return CUDA_R_16BF;
  case element_type::float32: return CUDA_R_32F;
  case element_type::float64: return CUDA_R_64F;
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return CUDA_R_4I; // cuBLASLt refuses it
}

/// Whether the library sums products of a type, and scales them, in double precision.
constexpr bool is_double_product(element_type type) { return library_type(type) == CUDA_R_64F; }

/// How the library sees an operand: stored in columns, which are `leading` elements apart.
struct stored_matrix {
  cublasOperation_t operation;
  std::int64_t rows, columns, leading;

  /// A matrix of `inner` x `outer` elements with these strides; none if the library cannot describe it.
  static std::optional<stored_matrix> of(std::int64_t inner, std::int64_t outer, std::int64_t inner_stride,
                                         std::int64_t outer_stride) {
    if ((inner == 1 || inner_stride == 1) && (outer == 1 || outer_stride >= inner))
      return stored_matrix{CUBLAS_OP_N, inner, outer, outer == 1 ? inner : outer_stride};
    if ((outer == 1 || outer_stride == 1) && (inner == 1 || inner_stride >= outer))
      return stored_matrix{CUBLAS_OP_T, outer, inner, inner == 1 ? outer : inner_stride};
    return std::nullopt;
  }
};

/// A product as the library takes it. Its matrices are stored in columns and ours in rows, so it computes the
/// transposed product: its first operand is our right one.
struct library_product {
  stored_matrix first, second;

  static std::optional<library_product> of(const matrix_product& p) {
    // the library counts in 32 bits
    const std::int64_t largest = std::max({p.batch, p.rows, p.columns, p.depth});
    if (!is_inexact(p.type) || largest > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    auto first = stored_matrix::of(p.columns, p.depth, p.right_column, p.right_depth);
    auto second = stored_matrix::of(p.depth, p.rows, p.left_depth, p.left_row);
    if (!first || !second) return std::nullopt;
    return library_product{*first, *second};
  }
};

/// The library's type has no name of its own.
struct library_algorithm {
  cublasLtMatmulAlgo_t value;
};
inline constexpr int most_proposed = 8;

/// The arguments of a call, for all products of one key. A plan is not moved.
struct product_plan {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t first, second, result;
  library_algorithm algorithm;
  std::vector<library_algorithm> proposed; ///< all algorithms to choose from, while they are measured
  bool is_chosen = false;                  ///< among them
  bool exists = false;                     ///< the library may have no algorithm for an epilogue, a base or addresses
};

/// All that the choice of an algorithm depends on.
using product_key = std::array<std::int64_t, 23>;

/// The library's name for an epilogue.
inline cublasLtEpilogue_t library_epilogue(const product_epilogue& e) {
  using enum product_activation;
  unsigned flags = 0;
  if (e.activation == relu) flags |= CUBLASLT_EPILOGUE_RELU;
  if (e.activation == gelu) flags |= CUBLASLT_EPILOGUE_GELU;
  if (e.activation == relu_gradient) flags |= CUBLASLT_EPILOGUE_DRELU;
  if (e.activation == gelu_gradient) flags |= CUBLASLT_EPILOGUE_DGELU;
  if (e.auxiliary != nullptr) flags |= CUBLASLT_EPILOGUE_RELU_AUX & ~CUBLASLT_EPILOGUE_RELU;
  if (e.bias != nullptr) flags |= CUBLASLT_EPILOGUE_BIAS;
  // our right operand is the library's first one
  if (e.bias_gradient != nullptr)
    flags |= e.sums_right ? static_cast<unsigned>(CUBLASLT_EPILOGUE_BGRADA)
                          : static_cast<unsigned>(CUBLASLT_EPILOGUE_DRELU_BGRAD & ~CUBLASLT_EPILOGUE_DRELU);
  return flags == 0 ? CUBLASLT_EPILOGUE_DEFAULT : static_cast<cublasLtEpilogue_t>(flags);
}
/// The distance of two rows of the values kept for a gradient: in bits for relu, otherwise in elements.
inline std::int64_t auxiliary_leading(const matrix_product& p) {
  const bool bits =
      p.epilogue.activation == product_activation::relu || p.epilogue.activation == product_activation::relu_gradient;
  return bits ? (p.columns + 127) / 128 * 128 : p.columns;
}
inline const void* bias_of(const product_epilogue& e) { return e.bias != nullptr ? e.bias : e.bias_gradient; }

/// The largest power of two, up to 16, that divides the addresses of all matrices of a batch. No load is wider than 16.
/// Small arguments lie at multiples of 16 in a call and of 256 in a graph, and both should have the same plan.
inline std::int64_t alignment_of(const void* data, std::int64_t batch, std::int64_t stride, element_type type) {
  auto bits = reinterpret_cast<std::uintptr_t>(data) | 16;
  if (batch > 1) bits |= static_cast<std::uintptr_t>(stride) * size_of(type);
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

/// Tells the library that matrices are at addresses, which it supports from CUDA 12.9 on.
#if CUBLAS_VERSION >= 120900
inline cublasStatus_t lay_out_at_addresses(cublasLtMatrixLayoutOpaque_t& layout) {
  const std::uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
  return cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode);
}
#else
inline cublasStatus_t lay_out_at_addresses(cublasLtMatrixLayoutOpaque_t&) { return CUBLAS_STATUS_NOT_SUPPORTED; }
#endif

/// The matrix that the library multiplies by its beta.
inline const void* added_to(const matrix_product& p) { return p.base != nullptr ? p.base : p.result; }

/// The operands of a library call: the first matrices, or the addresses of all of them.
struct product_operands {
  const void *left, *right, *added;
  void* result;

  explicit product_operands(const matrix_product& p)
      : left(p.left), right(p.right), added(added_to(p)), result(p.result) {
    if (p.addresses == nullptr) return;
    left = p.addresses;
    right = p.addresses + p.batch;
    result = const_cast<void**>(p.addresses + 2 * p.batch);
    added = result;
  }
};

inline product_key key_of(const matrix_product& p, const library_product& as) {
  auto alignment = [&](const void* data, std::int64_t stride) { return alignment_of(data, p.batch, stride, p.type); };
  auto of_batch = [&](std::int64_t stride) { return p.batch > 1 && p.addresses == nullptr ? stride : 0; };
  return {static_cast<std::int64_t>(p.type),
          static_cast<std::int64_t>(p.precision),
          p.workspace != nullptr, //
          p.rows,
          p.columns,
          p.depth,
          p.batch, //
          of_batch(p.right_batch),
          of_batch(p.left_batch),
          of_batch(p.result_batch), //
          as.first.operation,
          as.first.leading,
          as.second.operation,
          as.second.leading, //
          alignment(p.right, p.right_batch),
          alignment(p.left, p.left_batch),
          alignment(p.result, p.result_batch),
          library_epilogue(p.epilogue),
          alignment_of(bias_of(p.epilogue), 1, 0, p.type),
          alignment_of(p.epilogue.auxiliary, 1, 0, p.type),
          p.result_pitch(),
          p.addresses != nullptr,
          alignment(added_to(p), p.result_batch)};
}

/// Sets the addresses of an epilogue's vector and matrix.
inline cublasStatus_t point(product_plan& plan, const product_epilogue& e) {
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
  auto say = [&](cublasLtMatmulDescAttributes_t what, const void* where) {
    if (where != nullptr && code == CUBLAS_STATUS_SUCCESS)
      code = cublasLtMatmulDescSetAttribute(&plan.operation, what, &where, sizeof where);
  };
  say(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_of(e));
  say(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, e.auxiliary);
  return code;
}

inline status describe_operation(product_plan& plan, const matrix_product& p, const library_product& as) {
  const bool wide = is_double_product(p.type);
  const cublasComputeType_t compute =
      wide ? CUBLAS_COMPUTE_64F
      : p.type == element_type::float32 && p.precision == product_precision::tensor_float_32
          ? CUBLAS_COMPUTE_32F_FAST_TF32
          : CUBLAS_COMPUTE_32F;
  cublasStatus_t code = cublasLtMatmulDescInit(&plan.operation, compute, wide ? CUDA_R_64F : CUDA_R_32F);
  auto say = [&](cublasLtMatmulDescAttributes_t what, auto value) {
    if (code == CUBLAS_STATUS_SUCCESS)
      code = cublasLtMatmulDescSetAttribute(&plan.operation, what, &value, sizeof value);
  };
  say(CUBLASLT_MATMUL_DESC_TRANSA, as.first.operation);
  say(CUBLASLT_MATMUL_DESC_TRANSB, as.second.operation);
  if (!p.epilogue.is_plain()) {
    say(CUBLASLT_MATMUL_DESC_EPILOGUE, library_epilogue(p.epilogue));
    if (p.epilogue.auxiliary != nullptr) say(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, auxiliary_leading(p));
    if (code == CUBLAS_STATUS_SUCCESS) code = point(plan, p.epilogue);
  }
  return product_status("cublasLtMatmulDescSetAttribute", code);
}

inline status describe_matrices(product_plan& plan, const matrix_product& p, const library_product& as) {
  cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
  auto lay_out = [&](cublasLtMatrixLayoutOpaque_t& layout, const stored_matrix& matrix, std::int64_t stride) {
    if (code == CUBLAS_STATUS_SUCCESS)
      code = cublasLtMatrixLayoutInit(&layout, library_type(p.type), static_cast<std::uint64_t>(matrix.rows),
                                      static_cast<std::uint64_t>(matrix.columns), matrix.leading);
    auto batch = static_cast<std::int32_t>(p.batch);
    if (code == CUBLAS_STATUS_SUCCESS)
      code = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    if (code != CUBLAS_STATUS_SUCCESS) return;
    if (p.addresses != nullptr) code = lay_out_at_addresses(layout);
    else
      code = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                              sizeof stride);
  };
  lay_out(plan.first, as.first, p.right_batch);
  lay_out(plan.second, as.second, p.left_batch);
  lay_out(plan.result, {CUBLAS_OP_N, p.columns, p.rows, p.result_pitch()}, p.result_batch);
  return product_status("cublasLtMatrixLayoutSetAttribute", code);
}

/// Asks the library for its best algorithms, `most_proposed` at most.
inline status propose_algorithms(std::vector<library_algorithm>& proposed, int most, product_plan& plan,
                                 cublasLtHandle_t handle, const matrix_product& p, const product_key& key,
                                 std::size_t workspace_bytes) {
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasStatus_t code = cublasLtMatmulPreferenceInit(&preference);
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    if (code == CUBLAS_STATUS_SUCCESS)
      code = cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{p.workspace == nullptr ? 0 : workspace_bytes});
  // 16-bit products that several blocks share are summed in f32 until the end
  if (size_of(p.type) == 2)
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  auto alignment = [&](std::size_t i) { return static_cast<std::uint32_t>(key[14 + i]); };
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(0));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(1));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(key.back()));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(2));
  if (code != CUBLAS_STATUS_SUCCESS) return product_status("cublasLtMatmulPreferenceSetAttribute", code);

  cublasLtMatmulHeuristicResult_t best[most_proposed] = {};
  int found = 0;
  code = cublasLtMatmulAlgoGetHeuristic(handle, &plan.operation, &plan.first, &plan.second, &plan.result, &plan.result,
                                        &preference, most, best, &found);
  for (int i = 0; i < found; ++i) {
    if (best[i].state == CUBLAS_STATUS_SUCCESS) proposed.push_back({best[i].algo});
    else if (code == CUBLAS_STATUS_SUCCESS) code = best[i].state;
  }
  if (!proposed.empty()) return {};
  if (code == CUBLAS_STATUS_SUCCESS) code = CUBLAS_STATUS_NOT_SUPPORTED;
  return product_status("cublasLtMatmulAlgoGetHeuristic", code);
}

inline status make_plan(product_plan& plan, cublasLtHandle_t handle, const matrix_product& p, const library_product& as,
                        const product_key& key, std::size_t workspace_bytes) {
  if (status s = describe_operation(plan, p, as); !s.ok()) return s;
  if (status s = describe_matrices(plan, p, as); !s.ok()) return s;
  std::vector<library_algorithm> best;
  const status asked = propose_algorithms(best, 1, plan, handle, p, key, workspace_bytes);
  if (asked.ok()) plan.algorithm = best.front();
  return asked;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
