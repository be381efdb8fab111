// The stand-alone program of scripts/gpu-check: runs the checks, measures, and writes a report.
#include "device_array.cuh"
#include "timing.hpp"
#include "two_processes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* usage = R"(usage: gpu_check [option...]
  --match TEXT       only checks whose names begin with it; may be given several times
  --no-timings       measure nothing
  --report FILE      write a JSON report
  --stage NAME OUTCOME
                     put a stage that ran before into the report: passed, failed, or why it was skipped
  --two-processes    check NCCL between two processes, and nothing else
Exits with 0 if all is well, 1 if a check failed, 2 if there is no GPU.
)";

struct options {
  std::vector<std::string> match;
  std::string report;
  std::vector<std::pair<std::string, std::string>> stages;
  bool timings = true;
  bool two_processes = false;
};

/// How a check went: "passed", "failed", or why it was skipped.
struct result {
  std::string name, outcome, message;
  double seconds = 0;
  bool failed() const { return outcome == "failed"; }
};

options read(int count, char** arguments) {
  options read;
  int i = 1;
  auto next = [&] {
    gpu::require(i + 1 < count, std::string(arguments[i]) + " needs more arguments");
    return std::string(arguments[++i]);
  };
  for (; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--match") read.match.push_back(next());
    else if (option == "--no-timings") read.timings = false;
    else if (option == "--report") read.report = next();
    else if (option == "--two-processes") read.two_processes = true;
    else if (option == "--stage") {
      std::string name = next();
      read.stages.emplace_back(std::move(name), next());
    } else throw std::runtime_error("unknown option " + std::string(option));
  }
  return read;
}

template <class Report> void run_checks(const options& wanted, std::vector<result>& results, const Report& report) {
  // what could hang, if anything does, comes last
  for (const auto& family :
       {gpu::memory_checks(), gpu::kernel_checks(), gpu::random_checks(), gpu::product_checks(), gpu::epilogue_checks(),
        gpu::graph_checks(), gpu::elementwise_programs(), gpu::reduction_programs(), gpu::product_programs(),
        gpu::loop_programs(), gpu::training_programs(), gpu::collective_programs(), gpu::collective_checks()})
    for (const gpu::check& each : family) {
      const std::string_view name = each.name;
      bool matches = wanted.match.empty();
      for (const std::string& begin : wanted.match) matches = matches || name.starts_with(begin);
      if (!matches) continue;
      result r{each.name, "passed", "", 0};
      const auto start = std::chrono::steady_clock::now();
      try {
        gpu::run(each);
      } catch (const gpu::skipped& without) {
        r.outcome = without.reason;
      } catch (const std::exception& failure) {
        r.outcome = "failed", r.message = failure.what();
        try { // what else failed because of that is not the next check's
          parallax::cuda::kept_failure::check_kept();
        } catch (const std::exception& also) {
          r.message += std::string("; ") + also.what();
        }
      }
      r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::printf("%-44s %s%s%s\n", each.name,
                  r.outcome == "passed" || r.failed() ? "" : "skipped: ", r.outcome.c_str(),
                  r.message.empty() ? "" : (": " + r.message).c_str());
      std::fflush(stdout);
      results.push_back(r);
      report();
    }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

void write_report(const std::string& path, const parallax::cuda::device_properties& properties,
                  const std::vector<result>& stages, const std::vector<result>& checks,
                  const std::vector<gpu::timing>& timings) {
  std::ofstream out(path);
  int driver = 0, runtime = 0, nccl = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  static_cast<void>(ncclGetVersion(&nccl));
  out << "{\n  \"gpu\": " << quoted(properties.name) << ",\n  \"gpus\": " << gpu::device_count()
      << ",\n  \"multiprocessors\": " << properties.multiprocessors
      << ",\n  \"memory_bytes\": " << properties.memory_bytes << ",\n  \"cuda_driver\": " << driver
      << ",\n  \"cuda_runtime\": " << runtime << ",\n  \"cublaslt\": " << cublasLtGetVersion()
      << ",\n  \"nccl\": " << nccl;
  auto list = [&](const char* name, const std::vector<result>& results) {
    out << ",\n  \"" << name << "\": [";
    const char* separator = "\n";
    for (const result& each : results) {
      out << separator << "    {\"name\": " << quoted(each.name) << ", \"outcome\": " << quoted(each.outcome);
      if (each.seconds > 0) out << ", \"seconds\": " << each.seconds;
      if (!each.message.empty()) out << ", \"message\": " << quoted(each.message);
      out << "}";
      separator = ",\n";
    }
    out << "\n  ]";
  };
  list("stages", stages);
  list("checks", checks);
  out << ",\n  \"timings\": [";
  const char* separator = "\n";
  for (const gpu::timing& each : timings) {
    out << separator << "    {\"name\": " << quoted(each.name) << ", \"value\": " << each.value
        << ", \"unit\": " << quoted(each.unit);
    out << ", \"compared\": [";
    for (const auto& compared : each.compared)
      out << (&compared == &each.compared.front() ? "" : ", ") << "{\"with\": " << quoted(compared.name)
          << ", \"value\": " << compared.value << ", \"ratio\": " << gpu::ratio(each, compared) << "}";
    out << "]";
    if (!each.failure.empty()) out << ", \"failure\": " << quoted(each.failure);
    out << "}";
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
  out.close();
  gpu::require(bool(out), "the report is written to " + path);
}

void show(const gpu::timing& each) {
  std::printf("%-52s %10.2f %s", each.name.c_str(), each.value, each.unit.c_str());
  for (const auto& compared : each.compared)
    std::printf(", %.2f of %s (%.2f)", gpu::ratio(each, compared), compared.name.c_str(), compared.value);
  std::printf("%s%s\n", each.failure.empty() ? "" : ": failed: ", each.failure.c_str());
}

int run(const options& wanted) {
  // the GPU itself is left to the two processes: CUDA does not outlive a fork
  if (wanted.two_processes) {
    const bool agree = gpu::two_processes_agree();
    std::printf("NCCL between two processes: %s\n", agree ? "passed" : "failed");
    return agree ? 0 : 1;
  }
  int gpus = 0;
  const parallax::cuda::status counted = gpu::api::device_count(gpus);
  if (gpus == 0) {
    std::fprintf(stderr, "gpu_check: there is no GPU%s%s\n", counted.ok() ? "" : ": ", counted.meaning);
    return 2;
  }
  // programs of four devices, which share GPUs where there are fewer
  setenv("PARALLAX_CUDA_DEVICES_PER_GPU", gpus >= 4 ? "1" : "4", 0);
  parallax::cuda::device_properties properties;
  gpu::ok(gpu::api::properties_of(properties, 0));
  std::printf("%d x %s, %d multiprocessors\n", gpus, properties.name.c_str(), properties.multiprocessors);

  std::vector<result> stages;
  for (const auto& [name, outcome] : wanted.stages) stages.push_back({name, outcome, "", 0});
  std::vector<result> checks;
  std::vector<gpu::timing> timings;
  auto report = [&](const std::vector<result>& known) {
    if (!wanted.report.empty()) write_report(wanted.report, properties, known, checks, timings);
  };
  auto report_so_far = [&] { // in case that something stops the program
    std::vector<result> known = stages;
    known.push_back({"all checks and timings", "failed", "stopped before the end", 0});
    report(known);
  };
  report_so_far();
  run_checks(wanted, checks, report_so_far);
  if (wanted.timings) {
    for (auto* measure : {gpu::measure_rows, gpu::measure_traffic, gpu::measure_launches, gpu::measure_products}) {
      try {
        std::ranges::move(measure(), std::back_inserter(timings));
      } catch (const std::exception& failure) {
        stages.push_back({"timings", "failed", failure.what(), 0});
        std::printf("timings: failed: %s\n", failure.what());
      }
      report_so_far();
    }
  }
  for (const gpu::timing& each : timings) show(each);
  for (const gpu::timing& each : timings)
    if (!each.failure.empty()) stages.push_back({"timing of " + each.name, "failed", each.failure, 0});
  const auto failed = std::ranges::count_if(stages, &result::failed) + std::ranges::count_if(checks, &result::failed);
  report(stages);
  std::printf("%zu checks and %zu other stages, %td failed\n", checks.size(), stages.size(), failed);
  return failed == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  try {
    if (count == 2 && std::string_view(arguments[1]) == "--help") {
      std::cout << usage;
      return 0;
    }
    setenv("PARALLAX_HOST_DEVICES", "4", 0);
    return run(read(count, arguments));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "gpu_check: %s\n%s", failure.what(), usage);
    return 1;
  }
}
