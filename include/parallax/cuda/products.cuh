// Matrix products through cuBLASLt, whose choice of algorithm is remembered for each shape.
#pragma once

#include <parallax/core/element_type.hpp>
#include <parallax/cuda/api.hpp>
#include <parallax/cuda/device_block.cuh>
#include <parallax/cuda/relu_signs.cuh>
#include <parallax/cuda/runtime_status.cuh>
#include <parallax/cuda/strided_product.hpp>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

namespace parallax::cuda {

namespace detail {

inline status product_status(const char* call, cublasStatus_t code) {
  if (code == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  static_cast<void>(cudaGetLastError()); // what the library leaves, as in `runtime_status`
  const status::kind is = code == CUBLAS_STATUS_ALLOC_FAILED ? status::kind::out_of_memory : status::kind::failure;
  return {is, static_cast<int>(code), "cuBLASLt", call, cublasLtGetStatusString(code)};
}

/// Of a floating type.
constexpr cudaDataType_t library_type(element_type type) {
  switch (type) {
  case element_type::float16: return CUDA_R_16F;
  case element_type::bfloat16: return CUDA_R_16BF;
  case element_type::float32: return CUDA_R_32F;
  default: return CUDA_R_64F;
  }
}

/// How the library sees an operand: stored in columns, which are `leading` elements apart.
struct stored_matrix {
  cublasOperation_t operation;
  std::int64_t rows, columns, leading;

  /// Of a matrix of `inner` x `outer` elements with these strides; none where the library has no name for it.
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
    if (!is_floating(p.type) || largest > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    auto first = stored_matrix::of(p.columns, p.depth, p.right_column, p.right_depth);
    auto second = stored_matrix::of(p.depth, p.rows, p.left_depth, p.left_row);
    if (!first || !second) return std::nullopt;
    return library_product{*first, *second};
  }
};

/// What a call is to be given, for all products of one key. It stays where it was made.
struct product_plan {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t first, second, result;
  cublasLtMatmulAlgo_t algorithm;
  bool exists = false; ///< the library may have no algorithm for an epilogue
};

/// All that the choice of an algorithm depends on.
using product_key = std::array<std::int64_t, 20>;

/// The library's name of what becomes of a result.
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
/// The distance of two rows of what a gradient wants to know: in bits for relu, else in elements.
inline std::int64_t auxiliary_leading(const matrix_product& p) {
  const bool bits =
      p.epilogue.activation == product_activation::relu || p.epilogue.activation == product_activation::relu_gradient;
  return bits ? (p.columns + 127) / 128 * 128 : p.columns;
}
inline const void* bias_of(const product_epilogue& e) { return e.bias != nullptr ? e.bias : e.bias_gradient; }

/// The largest power of two, up to 16, that divides the addresses of all matrices of a batch. No load is wider, and
/// small arguments lie at multiples of 16 in one call and of 256 in a graph, for which nothing new is to be chosen.
inline std::int64_t alignment_of(const void* data, std::int64_t batch, std::int64_t stride, element_type type) {
  auto bits = reinterpret_cast<std::uintptr_t>(data) | 16;
  if (batch > 1) bits |= static_cast<std::uintptr_t>(stride) * size_of(type);
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

inline product_key key_of(const matrix_product& p, const library_product& as) {
  auto alignment = [&](const void* data, std::int64_t stride) { return alignment_of(data, p.batch, stride, p.type); };
  auto of_batch = [&](std::int64_t stride) { return p.batch > 1 ? stride : 0; };
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
          alignment_of(p.epilogue.auxiliary, 1, 0, p.type)};
}

} // namespace detail

/// The part of `device_api` that cuBLASLt does, and what it cannot.
struct product_calls {
  /// What the library's authors recommend for the largest GPUs. Aligned to 256 bytes.
  static constexpr std::size_t product_workspace_bytes = 32 << 20;

  /// Whether the library has the product's epilogue; it may compute gelu by the device's approximate tanh.
  static status can_multiply(const matrix_product& p, int device) {
    if (p.epilogue.is_plain()) return {};
    const status no = {status::kind::unsupported, CUBLAS_STATUS_NOT_SUPPORTED, "cuBLASLt", "an epilogue",
                       "not supported"};
    const auto as = p.depth == 0 || p.type == element_type::float64 ? std::nullopt : detail::library_product::of(p);
    // some of the library's kernels load the vector and the matrix of an epilogue by 16 bytes without asking
    auto is_aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
    if (!as || !is_aligned(detail::bias_of(p.epilogue)) || !is_aligned(p.epilogue.auxiliary)) return no;
    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* chosen = nullptr;
    if (status s = find_plan(chosen, used, p, *as); !s.ok()) return s;
    if (!chosen->exists) return no;
    if (p.epilogue.activation != product_activation::relu || p.epilogue.auxiliary == nullptr) return {};
    const auto [asked, is_new] = used.positive_signs.try_emplace(p.type);
    if (is_new)
      if (status s = detail::ask_for_sign_of_zero<product_calls>(asked->second, p.type, device); !s.ok()) {
        used.positive_signs.erase(asked);
        return s;
      }
    return asked->second ? status{} : no;
  }

  /// Sums of f32 and smaller types are f32's. f32 products have all their bits unless `precision` says otherwise. What
  /// the library has no call for is done by `strided_product`. `device` is the current one.
  static status multiply(const matrix_product& p, int device, cudaStream_t stream) {
    if (p.batch == 0 || p.rows == 0 || p.columns == 0) return {};
    const auto as = p.depth == 0 ? std::nullopt : detail::library_product::of(p);
    if (!as) return multiply_strided<launches>(p, stream);

    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* chosen = nullptr;
    if (status s = find_plan(chosen, used, p, *as); !s.ok()) return s;
    detail::product_plan& plan = *chosen;
    if (!plan.exists) return detail::product_status("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
    if (status s = detail::product_status("cublasLtMatmulDescSetAttribute", point(plan, p.epilogue)); !s.ok()) return s;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    const bool wide = p.type == element_type::float64;
    return detail::product_status(
        "cublasLtMatmul",
        cublasLtMatmul(used.handle, &plan.operation, wide ? static_cast<const void*>(&wide_one) : &one, p.right,
                       &plan.first, p.left, &plan.second, wide ? static_cast<const void*>(&wide_zero) : &zero, p.result,
                       &plan.result, p.result, &plan.result, &plan.algorithm, p.workspace,
                       p.workspace == nullptr ? 0 : product_workspace_bytes, stream));
  }

 private:
  struct launches : device_launches {
    using stream = cudaStream_t;
  };

  /// Programs whose shapes keep changing do not fill the memory.
  static constexpr std::size_t most_plans = 4096;

  /// A device's handle and what was chosen on it.
  struct library {
    std::recursive_mutex mutex; ///< the question of signs is a product
    cublasLtHandle_t handle = nullptr;
    std::map<detail::product_key, detail::product_plan> plans;
    std::map<element_type, bool> positive_signs; ///< whether relu leaves the signs of x > 0
  };

  /// Never destroyed: when static objects are, the driver may be gone, which frees what it holds by itself.
  static library& library_of(int device) {
    static std::mutex mutex;
    static auto& all = *new std::map<int, library>;
    const std::scoped_lock lock(mutex);
    return all[device];
  }

  /// Where the plan for a product is; it is made where there is none yet.
  static status find_plan(detail::product_plan*& plan, library& used, const matrix_product& p,
                          const detail::library_product& as) {
    if (used.handle == nullptr)
      if (status s = detail::product_status("cublasLtCreate", cublasLtCreate(&used.handle)); !s.ok()) return s;
    const detail::product_key key = detail::key_of(p, as);
    if (const auto known = used.plans.find(key); known != used.plans.end()) {
      plan = &known->second;
      return {};
    }
    if (used.plans.size() >= most_plans) used.plans.clear();
    const auto place = used.plans.try_emplace(key).first;
    plan = &place->second;
    const status made = make_plan(*plan, used.handle, p, as, place->first);
    plan->exists = made.ok();
    const bool refused = made.code == CUBLAS_STATUS_NOT_SUPPORTED || made.code == CUBLAS_STATUS_INVALID_VALUE;
    if (made.ok() || (refused && !p.epilogue.is_plain())) return {};
    used.plans.erase(place);
    return made;
  }
  /// Says where the vector and the matrix of an epilogue are.
  static cublasStatus_t point(detail::product_plan& plan, const product_epilogue& e) {
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
    auto say = [&](cublasLtMatmulDescAttributes_t what, const void* where) {
      if (where != nullptr && code == CUBLAS_STATUS_SUCCESS)
        code = cublasLtMatmulDescSetAttribute(&plan.operation, what, &where, sizeof where);
    };
    say(CUBLASLT_MATMUL_DESC_BIAS_POINTER, detail::bias_of(e));
    say(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, e.auxiliary);
    return code;
  }

  static status make_plan(detail::product_plan& plan, cublasLtHandle_t handle, const matrix_product& p,
                          const detail::library_product& as, const detail::product_key& key) {
    const bool wide = p.type == element_type::float64;
    const cudaDataType_t type = detail::library_type(p.type);
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
      say(CUBLASLT_MATMUL_DESC_EPILOGUE, detail::library_epilogue(p.epilogue));
      if (p.epilogue.auxiliary != nullptr) say(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, detail::auxiliary_leading(p));
      if (code == CUBLAS_STATUS_SUCCESS) code = point(plan, p.epilogue);
    }
    if (code != CUBLAS_STATUS_SUCCESS) return detail::product_status("cublasLtMatmulDescSetAttribute", code);

    auto lay_out = [&](cublasLtMatrixLayoutOpaque_t& layout, const detail::stored_matrix& matrix, std::int64_t stride) {
      if (code == CUBLAS_STATUS_SUCCESS)
        code = cublasLtMatrixLayoutInit(&layout, type, static_cast<std::uint64_t>(matrix.rows),
                                        static_cast<std::uint64_t>(matrix.columns), matrix.leading);
      auto batch = static_cast<std::int32_t>(p.batch);
      if (code == CUBLAS_STATUS_SUCCESS)
        code = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
      if (code == CUBLAS_STATUS_SUCCESS)
        code = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                sizeof stride);
    };
    lay_out(plan.first, as.first, p.right_batch);
    lay_out(plan.second, as.second, p.left_batch);
    lay_out(plan.result, {CUBLAS_OP_N, p.columns, p.rows, p.columns}, p.result_batch);
    if (code != CUBLAS_STATUS_SUCCESS) return detail::product_status("cublasLtMatrixLayoutSetAttribute", code);

    cublasLtMatmulPreferenceOpaque_t preference;
    code = cublasLtMatmulPreferenceInit(&preference);
    auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
      if (code == CUBLAS_STATUS_SUCCESS)
        code = cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
           std::uint64_t{p.workspace == nullptr ? 0 : product_workspace_bytes});
    // sums of 16-bit products that several blocks share are f32's until the end
    if (size_of(p.type) == 2)
      prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    auto alignment = [&](std::size_t i) { return static_cast<std::uint32_t>(key[14 + i]); };
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(0));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(1));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(2));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(2));
    if (code != CUBLAS_STATUS_SUCCESS) return detail::product_status("cublasLtMatmulPreferenceSetAttribute", code);

    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    code = cublasLtMatmulAlgoGetHeuristic(handle, &plan.operation, &plan.first, &plan.second, &plan.result,
                                          &plan.result, &preference, 1, &best, &found);
    if (code == CUBLAS_STATUS_SUCCESS) code = found == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : best.state;
    plan.algorithm = best.algo;
    return detail::product_status("cublasLtMatmulAlgoGetHeuristic", code);
  }
};

} // namespace parallax::cuda
