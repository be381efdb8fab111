// Programs whose kernels are the device's, run thread by thread in the simulator on the host's memory, beside the host
// backend's.
#pragma once

#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/host/run/program_run.hpp>
#include <parallax/parallax.hpp>

#include "support/simulator/block.hpp"
#include "support/test.hpp"

#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace simulated {

/// What a kernel may touch: elements of operands are read, those of results written, each once. A sort works in the
/// result and in memory that it is given besides. Where a gather reads and a scatter works is data: somewhere behind
/// the first element, which is all that is checked here.
class operand_guard : public simulator::access_observer {
 public:
  operand_guard(void* scratch, std::size_t scratch_bytes)
      : scratch_(static_cast<const std::byte*>(scratch)), partial_written_(scratch_bytes) {}

  template <parallax::compiled::kernel_result Result, class Reduction, class... S>
  void set_operands(parallax::compiled::kernel<Result, Reduction, S...>,
                    const parallax::compiled::kernel_arguments& a) {
    readable_.clear();
    writable_.clear();
    written_.clear();
    expected_ = 0;
    constexpr bool of_rows = Result == parallax::compiled::kernel_result::rows;
    constexpr bool sorts = Result == parallax::compiled::kernel_result::sorted;
    constexpr bool of_all = of_rows || sorts || parallax::compiled::is_cumulative(Result);
    work_.clear();
    bool is_indexed[parallax::compiled::max_accesses] = {};
    (note_indexed(S::record, is_indexed), ...);
    bool is_result[parallax::compiled::max_accesses] = {!of_rows};
    bool is_whole[parallax::compiled::max_accesses] = {!of_rows && of_all}; // and not one element for each row
    (note_result(S::record, is_result, is_whole), ...);
    const int operands = static_cast<int>(sizeof...(S)); // of a sort, behind which is its memory
    for (int i = 0; i < a.operand_count; ++i) {
      const parallax::compiled::operand& o = a.operands[i];
      if (!o.data) continue;
      if (is_indexed[i]) {
        constexpr std::ptrdiff_t far = 1 << 24;
        (i == 0 ? work_ : readable_).push_back({o.data, o.data + far});
        continue;
      }
      std::int64_t low = 0, high = 0, count = 1;
      for (int d = 0; d < a.rank; ++d) {
        if (is_result[i] && !(of_all && is_whole[i]) && (a.reduced >> d & 1U)) continue;
        std::int64_t reach = (a.extents[d] - 1) * o.strides[d];
        (reach < 0 ? low : high) += reach;
        count *= a.extents[d];
      }
      const region all{o.data + low * o.element_bytes, o.data + (high + 1) * o.element_bytes};
      if (sorts && (i == 0 || i >= operands)) {
        if (count > 0) work_.push_back(all);
        continue;
      }
      if (count > 0) (is_result[i] ? writable_ : readable_).push_back(all);
      if (is_result[i]) expected_ += static_cast<std::size_t>(count * o.element_bytes);
    }
  }
  void read(const void* data, std::size_t bytes) override {
    const std::byte* at = static_cast<const std::byte*>(data);
    ++reads;
    bytes_read += bytes;
    if (is_scratch(at, bytes)) {
      for (std::size_t i = 0; i < bytes; ++i)
        if (!partial_written_[static_cast<std::size_t>(at - scratch_) + i])
          simulator::fail("a read of unwritten scratch memory");
      return;
    }
    if (!inside(readable_, at, bytes) && !inside(work_, at, bytes))
      simulator::fail("a read of ", bytes, " bytes that no operand has");
  }
  void write(void* data, std::size_t bytes) override {
    std::byte* at = static_cast<std::byte*>(data);
    if (is_scratch(at, bytes)) {
      for (std::size_t i = 0; i < bytes; ++i) partial_written_[static_cast<std::size_t>(at - scratch_) + i] = true;
      return;
    }
    if (inside(work_, at, bytes)) return;
    if (!inside(writable_, at, bytes)) simulator::fail("a write of ", bytes, " bytes that no result has");
    for (std::size_t i = 0; i < bytes; ++i)
      if (!written_.insert(at + i).second) simulator::fail("an element is written twice");
  }
  std::size_t reads = 0, bytes_read = 0; ///< that were made

  /// Faults unless all of the results were written.
  void finish() const {
    if (written_.size() != expected_)
      simulator::fail(written_.size(), " bytes of results were written instead of ", expected_);
  }

 private:
  struct region {
    const std::byte *begin, *end;
  };
  const std::byte* scratch_;
  std::vector<bool> partial_written_;
  std::vector<region> readable_, writable_, work_;
  std::set<const std::byte*> written_;
  std::size_t expected_ = 0;

  bool is_scratch(const std::byte* at, std::size_t bytes) const {
    return at >= scratch_ && at + bytes <= scratch_ + partial_written_.size();
  }
  static bool inside(const std::vector<region>& regions, const std::byte* at, std::size_t bytes) {
    for (const region& r : regions)
      if (at >= r.begin && at + bytes <= r.end) return true;
    return false;
  }
  static void note_indexed(const parallax::compiled::kernel_statement& s, bool* is_indexed) {
    if (parallax::compiled::is_gather(s.kind) || parallax::compiled::is_scatter(s.kind)) is_indexed[s.argument] = true;
  }
  static void note_result(const parallax::compiled::kernel_statement& s, bool* is_result, bool* is_whole) {
    using parallax::compiled::statement_kind;
    if (s.kind == statement_kind::store_vector) is_result[s.argument] = is_whole[s.argument] = true;
    if (s.kind == statement_kind::store_row) is_result[s.argument] = true;
  }
};

/// How kernels are launched.
struct setup {
  int multiprocessors = 4;
  std::int64_t largest = parallax::cuda::largest_loop;
  std::size_t scratch_bytes = 1 << 20;
  std::uint64_t seed = 1;
  std::size_t shared_bytes = 48 * 1024; ///< of a block at most
  int largest_cluster = 1;
};

/// The part of the device policy that launches need.
struct api {
  using stream = int;
  static inline setup current{};
  static inline operand_guard* guard = nullptr;
  static inline int launches = 0;
  static inline std::size_t reads = 0, bytes_read = 0; ///< of all launches
  static inline parallax::cuda::launch_shape last{};
  static inline int fitting_cluster = 16; ///< clusters of more blocks never run

  template <parallax::cuda::device_kernel K>
  static parallax::cuda::status launch(K, const parallax::cuda::launch_shape& shape, stream,
                                       const typename K::arguments& arguments) {
    ++launches;
    last = shape;
    if (shape.shared_bytes > current.shared_bytes || static_cast<int>(shape.cluster) > current.largest_cluster)
      simulator::fail("a launch of blocks with ", shape.shared_bytes, " bytes of shared memory in clusters of ",
                      shape.cluster);
    simulator::run_kernel<K>(shape, arguments, current.seed, *guard);
    return {};
  }
  template <parallax::cuda::device_kernel K>
  static parallax::cuda::status clusters_at_once(int& count, K, const parallax::cuda::launch_shape& shape) {
    count = static_cast<int>(shape.cluster) <= fitting_cluster ? 1 : 0;
    return {};
  }
};

template <class Kernel> void run(parallax::compiled::kernel_arguments& a) {
  struct alignas(16) line {
    std::byte bytes[16];
  };
  std::vector<line> scratch(api::current.scratch_bytes / sizeof(line));
  operand_guard guard(scratch.data(), scratch.size() * sizeof(line));
  guard.set_operands(Kernel{}, a);
  api::guard = &guard;
  parallax::cuda::device_properties properties;
  properties.multiprocessors = api::current.multiprocessors;
  properties.shared_bytes_per_block = api::current.shared_bytes;
  properties.largest_cluster = api::current.largest_cluster;
  parallax::cuda::launch_context<api> where{0, &properties, scratch.data(), scratch.size() * sizeof(line),
                                            api::current.largest};
  parallax::cuda::check(parallax::cuda::launch_kernel<api, Kernel>(a, where));
  guard.finish();
  api::reads += guard.reads;
  api::bytes_read += guard.bytes_read;
}

template <class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<parallax::compiled::kernel_function, sizeof...(I)>{
        &run<typename parallax::compiled::program_kernel<Program, static_cast<int>(I)>::type>...};
  }
  static constexpr auto functions = make(std::make_index_sequence<parallax::compiled::kernel_count<Program>>{});
};

/// The results of a jitted function whose kernels are the device's.
template <class Function, class... Args> auto call(const Function&, const Args&... args) {
  using compiled = parallax::detail::program<Function, parallax::detail::abstract_t<Args>...>;
  parallax::runtime::recycled_vector<parallax::runtime::runtime_value> arguments;
  (parallax::runtime::append_values(arguments, args), ...);
  parallax::host::program_run run(compiled::plan, kernel_table<compiled>::functions.data(),
                                  parallax::host::registers_name, std::move(arguments));
  return parallax::runtime::make_results<compiled>(run.run());
}

/// Requires that two results are the same, floating-point numbers up to rounding.
template <class Tree> void require_close(const Tree& expected, const Tree& found, double tolerance) {
  std::vector<std::vector<double>> numbers[2];
  for (int side = 0; side < 2; ++side)
    parallax::tree_for_each(
        [&](const auto& leaf) {
          std::vector<double>& all = numbers[side].emplace_back();
          for (auto x : leaf.values()) all.push_back(static_cast<double>(x));
        },
        side == 0 ? expected : found);
  REQUIRE(numbers[0].size() == numbers[1].size());
  for (std::size_t k = 0; k < numbers[0].size(); ++k) {
    REQUIRE(numbers[0][k].size() == numbers[1][k].size());
    for (std::size_t i = 0; i < numbers[0][k].size(); ++i) {
      double x = numbers[0][k][i], y = numbers[1][k][i];
      if (x == y || (x != x && y != y) || std::abs(x - y) <= tolerance * (1 + std::abs(x))) continue;
      FAIL("element " << i << " of result " << k << " is " << y << " instead of " << x);
    }
  }
}

/// Runs a jitted function on the host and, under each of several launch setups, with the device's kernels.
template <class Function, class... Args> void compare(const Function& f, double tolerance, const Args&... args) {
  auto expected = f(args...);
  constexpr std::int64_t whole = parallax::cuda::largest_loop;
  for (const setup& s : {setup{4, whole, 1 << 20, 1}, setup{132, whole, 1 << 20, 2, 227 << 10, 8},
                         setup{1, whole, 1 << 20, 3, 48 << 10, 16}, setup{1, 40, 1 << 14, 4}}) {
    api::current = s;
    INFO("multiprocessors " << s.multiprocessors << ", largest loop " << s.largest << ", largest cluster "
                            << s.largest_cluster);
    require_close(expected, call(f, args...), tolerance);
  }
}

/// An array of numbers between -4 and 4.
template <class T, std::size_t Rank>
parallax::array<T, static_cast<int>(Rank)> numbers(const std::array<std::int64_t, Rank>& shape, unsigned seed = 1) {
  std::size_t count = 1;
  for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(std::is_unsigned_v<T> ? 0 : -4, 4);
  auto values = std::make_unique<T[]>(count + 1); // std::vector<bool> has no array
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(uniform(engine));
  return {shape, std::span<const T>(values.get(), count)};
}
} // namespace simulated
