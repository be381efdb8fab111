// The device libraries as the CUDA backend uses them; what is checked stands in `gpu/`.
#include <parallax/cuda/runtime_api.cuh>

#include "../gpu/check.hpp"
#include "test.hpp"

static_assert(parallax::cuda::device_api<parallax::cuda::runtime_api>);

namespace {

void run_all(std::span<const gpu::check> checks) {
  for (const gpu::check& each : checks) {
    INFO(each.name);
    try {
      gpu::run(each);
      SUCCEED();
    } catch (const gpu::skipped& without) {
      WARN("skipped: " << each.name << ": " << without.reason);
    }
  }
}

} // namespace

TEST_CASE("memory, copies, streams and events of a GPU", "[gpu]") { run_all(gpu::memory_checks()); }
TEST_CASE("kernels on a GPU", "[gpu]") { run_all(gpu::kernel_checks()); }
TEST_CASE("random bits on a GPU", "[gpu]") { run_all(gpu::random_checks()); }
TEST_CASE("matrix products on a GPU", "[gpu]") { run_all(gpu::product_checks()); }
TEST_CASE("collectives of GPUs", "[gpu]") { run_all(gpu::collective_checks()); }
TEST_CASE("graphs on a GPU", "[gpu]") { run_all(gpu::graph_checks()); }

TEST_CASE("booleans travel as bytes") {
  using namespace parallax;
  using cuda::reduction_kind;
  CHECK(cuda::detail::nccl_type(element_type::boolean) == ncclUint8);
  CHECK(cuda::detail::nccl_operation(reduction_kind::max, element_type::boolean) == ncclMax);
  CHECK(cuda::detail::nccl_operation(reduction_kind::min, element_type::boolean) == ncclMin);
  CHECK(cuda::detail::nccl_operation(reduction_kind::sum, element_type::boolean) == ncclMax);
  CHECK(cuda::detail::nccl_operation(reduction_kind::sum, element_type::float32) == ncclSum);
  CHECK(cuda::detail::nccl_type(element_type::uint64) == ncclUint64);
}
