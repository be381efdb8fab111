// Measures what the hardware and its driver allow: the cases of bench/support/launch_cases.cuh, and NCCL's groups.
#include "support/launch_cases.cuh"

#include "measured_cases.cuh"

#include <nccl.h>

#include <array>
#include <memory>
#include <vector>

namespace gpu {
namespace {

namespace plx = parallax;

/// A clique of one GPU, whose groups cost the host what those of several do.
class lone_communicator {
 public:
  explicit lone_communicator(bool blocks) : blocks_(blocks) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = blocks ? 1 : 0;
    ncclUniqueId id;
    plx::cuda::check(bench::api::create_clique_id(id));
    plx::cuda::check(plx::cuda::detail::nccl_begun("ncclCommInitRankConfig",
                                                   ncclCommInitRankConfig(&communicator_, 1, id, 0, &config)));
    settle();
  }
  lone_communicator(const lone_communicator&) = delete;
  lone_communicator& operator=(const lone_communicator&) = delete;
  ~lone_communicator() { plx::cuda::kept_failure::keep(bench::api::destroy_communicator(communicator_)); }

  /// A sum in a group, until it is on the stream.
  void sum() const {
    plx::cuda::check(bench::api::group_start());
    plx::cuda::check(bench::api::all_reduce(bench::data_of(x_), bench::data_of(y_), 32, plx::element_type::float32,
                                            plx::cuda::reduction_kind::sum, communicator_, bench::stream()));
    static_cast<void>(plx::cuda::is_ready(bench::api::group_end()));
    if (!blocks_) settle();
  }

 private:
  bool blocks_;
  ncclComm_t communicator_{};
  plx::array<float, 1> x_ = bench::random_array<float, 1>({32}, 1), y_ = bench::random_array<float, 1>({32}, 2);

  void settle() const {
    while (!plx::cuda::is_ready(bench::api::communicator_state(communicator_))) {
    }
  }
};

std::vector<bench::gpu_case> group_cases() {
  std::vector<bench::gpu_case> cases;
  for (const bool blocks : {false, true}) {
    bench::gpu_case& added = cases.emplace_back();
    added.name = blocks ? "NCCL group, blocking, host" : "NCCL group, host";
    added.what = bench::gpu_case::measure::host_time;
    added.prepare = [=] {
      const auto one = std::make_shared<lone_communicator>(blocks);
      return bench::prepared_case{{{"NCCL", [=] { one->sum(); }}}, [] {}, {}};
    };
  }
  return cases;
}

} // namespace

int measure_ceilings(assignment& given) {
  return measured(bench::bandwidth_cases(), given) + measured(bench::launch_cases(), given) +
         measured(group_cases(), given);
}

} // namespace gpu
