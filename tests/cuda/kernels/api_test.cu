// The device policy. What needs a GPU stands in `gpu/`, which scripts/gpu-check runs.
#include <parallax/cuda/nvidia/runtime_api.cuh>

#include "support/test.hpp"

namespace api_test {

static_assert(parallax::cuda::device_api<parallax::cuda::runtime_api>);

TEST_CASE("booleans travel as bytes") {
  using parallax::element_type, parallax::cuda::reduction_kind;
  namespace detail = parallax::cuda::detail;
  CHECK(detail::nccl_type(element_type::boolean) == ncclUint8);
  CHECK(detail::nccl_operation(reduction_kind::max, element_type::boolean) == ncclMax);
  CHECK(detail::nccl_operation(reduction_kind::min, element_type::boolean) == ncclMin);
  CHECK(detail::nccl_operation(reduction_kind::sum, element_type::boolean) == ncclMax);
  CHECK(detail::nccl_operation(reduction_kind::sum, element_type::float32) == ncclSum);
  CHECK(detail::nccl_type(element_type::uint64) == ncclUint64);
}

} // namespace api_test
