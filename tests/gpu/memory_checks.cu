// Devices, memory, copies, streams and events.
#include "device_array.cuh"

#include <string>
#include <utility>

namespace gpu {
namespace {

void check_properties() {
  parallax::cuda::device_properties properties;
  ok(api::properties_of(properties, 0));
  require(!properties.name.empty() && properties.multiprocessors > 0, "a device has a name and multiprocessors");
  require(properties.shared_bytes_per_block >= 48 * 1024, "a block has 48 KiB of shared memory");
  ok(api::set_device(0));
  std::size_t free = 0, total = 0;
  ok(api::memory_info(free, total));
  require(free > 0 && free <= total && total == properties.memory_bytes, "free memory is a part of all memory");
}

void check_round_trip() {
  const queue on;
  for (std::size_t count : {1UL, 3UL, 1000UL, 1UL << 20}) {
    const std::vector<float> values = numbers<float>(count);
    const device_array<float> first(on, values), second(on, count);
    ok(api::copy_between(second.data(), 0, first.data(), 0, count * sizeof(float), on.get()));
    require(second.values() == values, std::to_string(count) + " elements come back as they were sent");
  }
}

void check_rows() {
  const queue on;
  const device_array<int> wide(on, numbers<int>(6 * 10)), narrow(on, 6 * 4);
  ok(api::copy_rows(narrow.data(), 4 * sizeof(int), wide.data() + 3, 10 * sizeof(int), 4 * sizeof(int), 6, on.get()));
  const std::vector<int> from = wide.values(), to = narrow.values();
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < 4; ++i) require(to[row * 4 + i] == from[row * 10 + 3 + i], "rows are cut out");
  ok(api::copy_rows(narrow.data(), 0, wide.data(), 0, 0, 0, on.get()));
}

void check_zeros() {
  const queue on;
  const device_array<int> values(on, std::vector<int>(100, 7));
  ok(api::fill_zero(values.data() + 10, 80 * sizeof(int), on.get()));
  std::vector<int> expected(100, 0);
  for (std::size_t i : {0UL, 90UL})
    for (std::size_t k = 0; k < 10; ++k) expected[i + k] = 7;
  require(values.values() == expected, "what was asked for is zero, and nothing else");
}

void check_exhaustion() {
  const queue on;
  void* memory = nullptr;
  const parallax::cuda::status result = api::allocate(memory, std::size_t{1} << 50, on.get());
  require(result.is == parallax::cuda::status::kind::out_of_memory, "2^50 bytes are more than there are");
  const device_array<float> after(on, std::vector<float>{1, 2, 3});
  require(after.values() == std::vector<float>{1, 2, 3}, "the device works afterwards");
}

/// Two streams hand a buffer to and fro; only events order them.
void check_events() {
  const queue first, second;
  const unique_event<api> written, read;
  const std::size_t count = 1 << 22;
  const device_array<int> buffer(first, std::vector<int>(count, 0)), copied(second, count);
  for (int value = 1; value <= 10; ++value) {
    const device_array<int> source(first, std::vector<int>(count, value));
    ok(api::copy_between(buffer.data(), 0, source.data(), 0, count * sizeof(int), first.get()));
    ok(api::record_event(written.get(), first.get()));
    ok(api::wait_event(second.get(), written.get()));
    ok(api::copy_between(copied.data(), 0, buffer.data(), 0, count * sizeof(int), second.get()));
    ok(api::record_event(read.get(), second.get()));
    ok(api::wait_event(first.get(), read.get()));
    ok(api::fill_zero(buffer.data(), count * sizeof(int), first.get()));
    require(copied.values() == std::vector<int>(count, value), "the second stream reads what the first wrote");
  }
  wait_until([&] { return is_ready(api::query_event(read.get())); });
}

void check_peers() {
  if (device_count() < 2) throw skipped{"one GPU only"};
  const queue first(0), second(1);
  ok(api::set_device(0));
  const std::vector<float> values = numbers<float>(100'000);
  const device_array<float> source(first, values);
  ok(api::set_device(1));
  const device_array<float> target(second, values.size());
  auto copy = [&](const std::string& how) {
    ok(api::fill_zero(target.data(), values.size() * sizeof(float), second.get()));
    ok(api::copy_between(target.data(), 1, source.data(), 0, values.size() * sizeof(float), second.get()));
    require(target.values() == values, "a copy between GPUs" + how);
  };
  copy("");
  for (const auto& [device, owner] : {std::pair{0, 1}, std::pair{1, 0}})
    if (const parallax::cuda::status reached = api::enable_peer_access(device, owner);
        reached.is != parallax::cuda::status::kind::unsupported)
      ok(reached);
  copy(" that reach one another's memory");
  ok(api::set_device(0));
}

constexpr check all[] = {{"memory: properties", check_properties},
                         {"memory: round trip", check_round_trip},
                         {"memory: rows", check_rows},
                         {"memory: zeros", check_zeros},
                         {"memory: exhaustion", check_exhaustion},
                         {"memory: events order two streams", check_events},
                         {"memory: between two GPUs", check_peers}};

} // namespace

std::span<const check> memory_checks() { return all; }

} // namespace gpu
