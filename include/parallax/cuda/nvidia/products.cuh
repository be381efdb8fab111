// Matrix products through cuBLASLt, whose choice of algorithm is remembered for each shape.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/products/strided_product.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/cuda/nvidia/product_plan.cuh>
#include <parallax/cuda/nvidia/relu_signs.cuh>
#include <parallax/cuda/nvidia/runtime_status.cuh>
#include <parallax/cuda/nvidia/time_launches.cuh>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The part of `device_api` that cuBLASLt does, and the products that it lacks.
struct product_calls {
  /// The size that the library's authors recommend for the largest GPUs. Aligned to 256 bytes.
  static constexpr std::size_t product_workspace_bytes = 32 << 20;

  /// Whether the library has the product's epilogue, adds it to a base, and takes its matrices at addresses; it may
  /// compute gelu by the device's approximate tanh. The first question on a device, and the first about signs, take
  /// memory and wait: while streams are captured, the thread is to be in `relaxed_capture_mode`.
  static status can_multiply(const matrix_product& p, int device) {
    if (is_usual(p)) return {};
    const status no = {status::kind::unsupported, CUBLAS_STATUS_NOT_SUPPORTED, "cuBLASLt", "an epilogue",
                       "not supported"};
    const bool is_wide = detail::is_double_product(p.type) && !p.epilogue.is_plain();
    const auto as = p.depth == 0 || is_wide ? std::nullopt : detail::library_product::of(p);
    if (!as && p.addresses != nullptr) return {}; // a kernel reads them
    // some of the library's kernels load an epilogue's vector and matrix by 16 bytes without a check
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

  /// Products of f32 and smaller types are summed in f32. f32 products have all their bits unless `precision` says
  /// otherwise. `strided_product` computes products that the library has no call for. `device` is the current one. An
  /// epilogue that the library said it supports may still be `unsupported`, and is so from then on.
  static status multiply(const matrix_product& p, int device, cudaStream_t stream) {
    if (p.batch == 0 || p.rows == 0 || p.columns == 0) return {};
    const auto as = p.depth == 0 ? std::nullopt : detail::library_product::of(p);
    if (!as) return multiply_strided<kernel_launches>(p, stream);

    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* chosen = nullptr;
    if (status s = find_plan(chosen, used, p, *as); !s.ok()) return s;
    detail::product_plan& plan = *chosen;
    if (!plan.exists) {
      status none = detail::product_status("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
      none.is = status::kind::unsupported;
      return none;
    }
    if (status s = detail::product_status("cublasLtMatmulDescSetAttribute", detail::point(plan, p.epilogue)); !s.ok())
      return s;
    const double wide_alpha = p.base == nullptr ? 1 : p.scale, wide_beta = p.base == nullptr ? 0 : 1;
    const auto alpha = static_cast<float>(wide_alpha), beta = static_cast<float>(wide_beta);
    const bool wide = detail::is_double_product(p.type);
    const detail::product_operands at(p);
    status done = detail::product_status(
        "cublasLtMatmul",
        cublasLtMatmul(used.handle, &plan.operation, wide ? static_cast<const void*>(&wide_alpha) : &alpha, at.right,
                       &plan.first, at.left, &plan.second, wide ? static_cast<const void*>(&wide_beta) : &beta,
                       at.added, &plan.result, at.result, &plan.result, &plan.algorithm.value, p.workspace,
                       p.workspace == nullptr ? 0 : product_workspace_bytes, stream));
    const bool refused = done.code == CUBLAS_STATUS_NOT_SUPPORTED || done.code == CUBLAS_STATUS_INVALID_VALUE;
    if (refused && !is_usual(p)) {
      plan.exists = false;
      done.is = status::kind::unsupported;
    }
    return done;
  }

  /// The best algorithms by the library's heuristics for products like this one.
  static status proposed_algorithms(int& count, const matrix_product& p, int device) {
    count = 0;
    const auto as = p.batch * p.rows * p.columns * p.depth == 0 ? std::nullopt : detail::library_product::of(p);
    if (!as) return {};
    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* plan = nullptr;
    if (status s = find_plan(plan, used, p, *as); !s.ok()) return s;
    if (!plan->exists || plan->is_chosen) return {};
    if (status s = detail::product_status("cublasLtMatmulDescSetAttribute", detail::point(*plan, p.epilogue)); !s.ok())
      return s;
    plan->proposed.clear();
    const status asked = detail::propose_algorithms(plan->proposed, detail::most_proposed, *plan, used.handle, p,
                                                    detail::key_of(p, *as), product_workspace_bytes);
    count = count_of(plan->proposed);
    return asked;
  }

  /// The mean of several runs, after one that is not counted.
  static status time_algorithm(double& seconds, int number, const matrix_product& p, int device, cudaStream_t stream) {
    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* plan = nullptr;
    if (status s = find_plan(plan, used, p, *detail::library_product::of(p)); !s.ok()) return s;
    if (number >= count_of(plan->proposed)) // another device of this GPU has chosen by now
      return {status::kind::unsupported, CUBLAS_STATUS_NOT_SUPPORTED, "cuBLASLt", "an algorithm", "not proposed"};
    const detail::library_algorithm before = std::exchange(plan->algorithm, plan->proposed[index_of(number)]);
    const status timed = detail::time_launches(seconds, stream, [&] {
      status done = multiply(p, device, stream);
      if (!done.ok()) done.is = status::kind::unsupported;
      return done;
    });
    plan->algorithm = before;
    plan->exists = true; // though not with this algorithm, perhaps
    return timed;
  }

  static status choose_algorithm(int number, const matrix_product& p, int device) {
    library& used = library_of(device);
    const std::scoped_lock lock(used.mutex);
    detail::product_plan* plan = nullptr;
    if (status s = find_plan(plan, used, p, *detail::library_product::of(p)); !s.ok()) return s;
    if (number >= count_of(plan->proposed)) return {};
    plan->algorithm = plan->proposed[index_of(number)];
    plan->proposed.clear();
    plan->is_chosen = true;
    return {};
  }

 private:
  /// Whether the library certainly supports a product.
  static bool is_usual(const matrix_product& p) {
    return p.epilogue.is_plain() && p.base == nullptr && p.addresses == nullptr;
  }

  /// A limit, so that programs whose shapes keep changing do not fill the memory.
  static constexpr std::size_t most_plans = 4096;

  /// A device's handle, and its plans.
  struct library {
    std::recursive_mutex mutex; ///< recursive, since the test of signs is a product
    cublasLtHandle_t handle = nullptr;
    std::map<detail::product_key, detail::product_plan> plans;
    std::map<element_type, bool> positive_signs; ///< whether relu leaves the signs of x > 0
  };

  /// Never destroyed: when static objects are, the driver may be gone, which then has freed all handles itself.
  static library& library_of(int device) {
    static std::mutex mutex;
    static auto& all = *new std::map<int, library>;
    const std::scoped_lock lock(mutex);
    return all[device];
  }

  /// Finds the plan for a product, and makes it if there is none yet.
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
    const status made = detail::make_plan(*plan, used.handle, p, as, place->first, product_workspace_bytes);
    plan->exists = made.ok();
    const bool refused = made.code == CUBLAS_STATUS_NOT_SUPPORTED || made.code == CUBLAS_STATUS_INVALID_VALUE;
    if (made.ok() || (refused && !is_usual(p))) return {};
    used.plans.erase(place);
    return made;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
