// The stand-alone program of scripts/gpu-check: runs one stage, which checks or measures, and reports line by line.
#include "device_array.cuh"
#include "stage.hpp"
#include "two_processes.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr const char* usage = R"(usage: gpu_check STAGE [option...]
       gpu_check --stages        the names of the stages, and nothing else
  --match TEXT       only checks or cases whose names begin with it; may be given several times
  --report FILE      append a line of JSON for each result to a file
  --mnist FOLDER     where MNIST's four files are, unpacked
  --profile          shows a profiler a call of each case, behind a fill_kernel of as many blocks as the report says
  --list             the names of what the stage measures, and nothing else; needs no GPU
Exits with 0 if all is well, 1 if something failed, 2 if there is no GPU.
)";

using gpu::assignment;

/// What the machine is.
int describe(assignment& given) {
  if (given.list) return 0;
  parallax::cuda::device_properties properties;
  gpu::ok(gpu::api::properties_of(properties, 0));
  int driver = 0, runtime = 0, nccl = 0, gpus = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  static_cast<void>(ncclGetVersion(&nccl));
  gpu::ok(gpu::api::device_count(gpus));
  std::printf("%d x %s, %d multiprocessors\n", gpus, properties.name.c_str(), properties.multiprocessors);
  given.to.write(given.to.line()
                     .text("gpu", properties.name)
                     .number("gpus", gpus)
                     .number("multiprocessors", properties.multiprocessors)
                     .number("memory_bytes", static_cast<double>(properties.memory_bytes))
                     .number("cuda_driver", driver)
                     .number("cuda_runtime", runtime)
                     .number("cublaslt", static_cast<double>(cublasLtGetVersion()))
                     .number("nccl", nccl));
  return 0;
}

/// Runs one check, and says how it went: "passed", "failed", or why it was skipped.
std::string outcome_of(const gpu::check& each, std::string& message) {
  try {
    gpu::run(each);
  } catch (const gpu::skipped& without) {
    return "skipped: " + without.reason;
  } catch (const std::exception& failure) {
    message = failure.what();
    try { // what else failed because of that is not the next check's
      parallax::cuda::kept_failure::check_kept();
    } catch (const std::exception& also) {
      message += std::string("; ") + also.what();
    }
    return "failed";
  }
  return "passed";
}

int run_checks(assignment& given) {
  int failed = 0;
  // what could hang, if anything does, comes last
  for (const auto& family :
       {gpu::memory_checks(), gpu::kernel_checks(), gpu::random_checks(), gpu::product_checks(), gpu::epilogue_checks(),
        gpu::graph_checks(), gpu::elementwise_programs(), gpu::reduction_programs(), gpu::product_programs(),
        gpu::loop_programs(), gpu::training_programs(), gpu::collective_programs(), gpu::collective_checks()})
    for (const gpu::check& each : family) {
      if (!given.wants(each.name)) continue;
      std::printf("%-44s ", each.name);
      std::fflush(stdout);
      if (given.list) {
        std::printf("\n");
        continue;
      }
      std::string message;
      const auto start = std::chrono::steady_clock::now();
      const std::string outcome = outcome_of(each, message);
      failed += outcome == "failed";
      std::printf("%s%s%s\n", outcome.c_str(), message.empty() ? "" : ": ", message.c_str());
      std::fflush(stdout);
      auto line = given.to.line().text("check", each.name).text("outcome", outcome);
      line.number("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (!message.empty()) line.text("message", message);
      given.to.write(line);
    }
  return failed;
}

struct stage {
  std::string_view name;
  int (*run)(assignment&); ///< returns how much failed
};
constexpr stage stages[] = {{"machine", describe},
                            {"checks", run_checks},
                            {"ceilings", gpu::measure_ceilings},
                            {"elementwise", gpu::measure_elementwise},
                            {"reductions", gpu::measure_reductions},
                            {"rows", gpu::measure_rows},
                            {"gradients", gpu::measure_row_gradients},
                            {"products", gpu::measure_products},
                            {"steps", gpu::measure_steps},
                            {"repeated-steps", gpu::repeat_steps},
                            {"digits", gpu::train_digits}};

int run(int count, char** arguments) {
  const std::string_view first = count > 1 ? arguments[1] : "";
  if (first == "--help") {
    std::cout << usage;
    return 0;
  }
  if (first == "--stages") {
    for (const stage& each : stages) std::cout << each.name << '\n';
    std::cout << "two-processes\nabandoned-collectives\n";
    return 0;
  }
  std::string path;
  std::vector<std::string> match;
  std::string mnist;
  bool list = false, profile = false;
  for (int i = 2; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--list" || option == "--profile") {
      (option == "--list" ? list : profile) = true;
      continue;
    }
    gpu::require(i + 1 < count, std::string(option) + " needs an argument");
    const std::string value = arguments[++i];
    if (option == "--match") match.push_back(value);
    else if (option == "--report") path = value;
    else if (option == "--mnist") mnist = value;
    else throw std::runtime_error("unknown option " + std::string(option));
  }
  // the GPU itself is left to the two processes: CUDA does not outlive a fork
  const bool is_abandoned = first == "abandoned-collectives";
  if (is_abandoned || first == "two-processes") {
    if (list) return 0;
    const bool is_well = is_abandoned ? gpu::abandoned_collectives_end() : gpu::two_processes_agree();
    std::printf("NCCL between two processes: %s\n", is_well ? "passed" : "failed");
    return is_well ? 0 : 1;
  }
  const stage* wanted = nullptr;
  for (const stage& each : stages)
    if (each.name == first) wanted = &each;
  gpu::require(wanted != nullptr, "there is no stage " + std::string(first));

  assignment given{gpu::report(std::string(first), path), match, mnist, list, profile};
  if (!list) {
    int gpus = 0;
    const parallax::cuda::status counted = gpu::api::device_count(gpus);
    if (gpus == 0) {
      std::fprintf(stderr, "gpu_check: there is no GPU%s%s\n", counted.ok() ? "" : ": ", counted.meaning);
      return 2;
    }
    // programs of four devices, which share GPUs where there are fewer; what else is timed has one, as users have
    if (gpus < 4 && (first == "checks" || first == "products")) setenv("PARALLAX_CUDA_DEVICES_PER_GPU", "4", 0);
  }
  return wanted->run(given) == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  try {
    setenv("PARALLAX_HOST_DEVICES", "4", 0);
    return run(count, arguments);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "gpu_check: %s\n%s", failure.what(), usage);
    return 1;
  }
}
