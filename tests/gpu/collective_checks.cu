// NCCL: communicators of one GPU, and of all GPUs where there are several.
#include "device_array.cuh"

#include <parallax/core/types/element_type.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>

namespace gpu {
namespace {

using parallax::element_type;
using parallax::cuda::reduction_kind;
using parallax::cuda::status;

/// One communicator for each of the first devices, and its stream.
class clique {
 public:
  explicit clique(int size) : communicators(static_cast<std::size_t>(size)), devices(communicators.size()) {
    std::iota(devices.begin(), devices.end(), 0);
    for (int device : devices) queues.emplace_back(device);
    ok(api::create_clique(communicators, devices));
    settle();
  }
  clique(const clique&) = delete;
  clique& operator=(const clique&) = delete;
  ~clique() {
    for (api::communicator each : communicators) parallax::cuda::kept_failure::keep(api::destroy_communicator(each));
  }

  /// Runs `enqueue(member)` for all members as one group, and waits until it is on the streams.
  template <class Enqueue> void group(Enqueue enqueue) {
    ok(api::group_start());
    for (std::size_t member = 0; member < communicators.size(); ++member) enqueue(member);
    is_ready(api::group_end());
    settle();
  }

  std::size_t size() const { return communicators.size(); }

  std::vector<api::communicator> communicators;
  std::vector<int> devices;
  std::deque<queue> queues;

 private:
  void settle() const {
    for (api::communicator each : communicators) wait_until([&] { return is_ready(api::communicator_state(each)); });
  }
};

/// An array of each member of a clique.
template <class T> class spread {
 public:
  spread(clique& of, std::size_t count) : of_(of) {
    for (std::size_t member = 0; member < of.size(); ++member) {
      ok(api::set_device(of.devices[member]));
      std::vector<T> values = numbers<T>(count, static_cast<unsigned>(member) + 1);
      host.push_back(values);
      arrays_.push_back(std::make_unique<device_array<T>>(of.queues[member], values));
    }
  }
  T* data(std::size_t member) const { return arrays_[member]->data(); }
  std::vector<T> values(std::size_t member) const {
    ok(api::set_device(of_.devices[member]));
    return arrays_[member]->values();
  }

  std::vector<std::vector<T>> host; ///< what the arrays held at first

 private:
  clique& of_;
  std::vector<std::unique_ptr<device_array<T>>> arrays_;
};

template <class T> void check_reductions_of(clique& all, element_type type) {
  constexpr std::size_t count = 1000;
  for (reduction_kind how : {reduction_kind::sum, reduction_kind::max, reduction_kind::min}) {
    const spread<T> from(all, count * all.size()), reduced(all, count * all.size()), scattered(all, count);
    all.group([&](std::size_t member) {
      ok(api::all_reduce(from.data(member), reduced.data(member), count * all.size(), type, how,
                         all.communicators[member], all.queues[member].get()));
      ok(api::reduce_scatter(from.data(member), scattered.data(member), count, type, how, all.communicators[member],
                             all.queues[member].get()));
    });
    std::vector<T> expected = from.host[0];
    for (std::size_t member = 1; member < all.size(); ++member)
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const T next = from.host[member][i];
        expected[i] = how == reduction_kind::sum   ? static_cast<T>(expected[i] + next)
                      : how == reduction_kind::max ? std::max(expected[i], next)
                                                   : std::min(expected[i], next);
      }
    for (std::size_t member = 0; member < all.size(); ++member) {
      require(reduced.values(member) == expected, "all_reduce");
      const auto part = expected.begin() + static_cast<std::ptrdiff_t>(member * count);
      require(scattered.values(member) == std::vector<T>(part, part + static_cast<std::ptrdiff_t>(count)),
              "reduce_scatter");
    }
  }
}

void check_exchanges_of(clique& all) {
  constexpr std::size_t count = 777;
  const spread<std::int32_t> from(all, count), gathered(all, count * all.size()), received(all, count),
      sent(all, count);
  const std::size_t size = all.size();
  all.group([&](std::size_t member) {
    const api::communicator with = all.communicators[member];
    const cudaStream_t on = all.queues[member].get();
    ok(api::all_gather(from.data(member), gathered.data(member), count, element_type::int32, with, on));
    ok(api::send(from.data(member), count, element_type::int32, static_cast<int>((member + 1) % size), with, on));
    ok(api::receive(received.data(member), count, element_type::int32, static_cast<int>((member + size - 1) % size),
                    with, on));
    ok(api::broadcast(from.data(member), sent.data(member), count, element_type::int32, static_cast<int>(size) - 1,
                      with, on));
  });
  std::vector<std::int32_t> expected;
  for (const auto& each : from.host) expected.insert(expected.end(), each.begin(), each.end());
  for (std::size_t member = 0; member < size; ++member) {
    require(gathered.values(member) == expected, "all_gather");
    require(sent.values(member) == from.host[size - 1], "broadcast");
    require(received.values(member) == from.host[(member + size - 1) % size], "send and receive around the ring");
  }
}

void check_all_of(int size) {
  clique all(size);
  check_reductions_of<float>(all, element_type::float32);
  check_reductions_of<double>(all, element_type::float64);
  check_reductions_of<std::int64_t>(all, element_type::int64);
  check_reductions_of<std::uint8_t>(all, element_type::uint8);
  check_exchanges_of(all);
  ok(api::set_device(0));
}

void check_one() { check_all_of(1); }

void check_several() {
  if (device_count() < 2) throw skipped{"one GPU only"};
  check_all_of(device_count());
}

/// A clique of all GPUs in two parts, counted from the last one: the even ones and the odd ones.
void check_split_of(int size) {
  clique whole(size);
  const auto members = static_cast<std::size_t>(size);
  std::vector<api::communicator> parts(members);
  std::vector<api::communicator*> children;
  std::vector<parallax::cuda::clique_place> places;
  for (int member = 0; member < size; ++member) {
    children.push_back(&parts[static_cast<std::size_t>(member)]);
    places.push_back({member % 2, size - 1 - member});
  }
  ok(api::split_clique(children, whole.communicators, places));
  for (const auto* of : {&whole.communicators, &parts})
    for (api::communicator each : *of) wait_until([&] { return is_ready(api::communicator_state(each)); });
  constexpr std::size_t count = 1000;
  const spread<float> from(whole, count), sums(whole, count);
  ok(api::group_start());
  for (std::size_t member = 0; member < members; ++member)
    ok(api::all_reduce(from.data(member), sums.data(member), count, element_type::float32, reduction_kind::max,
                       parts[member], whole.queues[member].get()));
  is_ready(api::group_end());
  for (api::communicator each : parts) wait_until([&] { return is_ready(api::communicator_state(each)); });
  for (std::size_t member = 0; member < members; ++member) {
    std::vector<float> expected = from.host[member];
    for (std::size_t other = member % 2; other < members; other += 2)
      for (std::size_t i = 0; i < count; ++i) expected[i] = std::max(expected[i], from.host[other][i]);
    require(sums.values(member) == expected, "all_reduce of a part");
  }
  for (api::communicator each : parts) ok(api::destroy_communicator(each));
  ok(api::set_device(0));
}
void check_split() { check_split_of(device_count()); }

/// A clique that is given up can be made again.
void check_abort() {
  for (int round = 0; round < 2; ++round) {
    clique one(1);
    ok(api::abort_communicators(one.communicators));
    one.communicators.clear();
  }
}

void check_errors() {
  clique one(1);
  const device_array<float> memory(one.queues[0], std::vector<float>(4, 1.f));
  const status result =
      api::send(memory.data(), 4, element_type::float32, 7, one.communicators[0], one.queues[0].get());
  require(result.is == status::kind::failure, "there is no member 7");
  require(std::string(result.library) == "NCCL" && std::string(result.call) == "ncclSend", "who says so is told");
  require(!std::string(result.meaning).empty(), "and what it means");
  ok(api::abort_communicators(one.communicators)); // one that does not block is spoilt by any error
  one.communicators.clear();
  std::vector<api::communicator> twice(2);
  const std::vector<int> same{0, 0};
  status refused = api::create_clique(twice, same);
  for (std::size_t i = 0; i < 2 && refused.ok(); ++i)
    wait_until([&] {
      refused = api::communicator_state(twice[i]);
      return refused.is != status::kind::not_ready;
    });
  require(!refused.ok(), "one GPU cannot be two members");
  ok(api::abort_communicators(twice));
}

constexpr check all[] = {{"collectives: one GPU", check_one},
                         {"collectives: all GPUs", check_several},
                         {"collectives: split", check_split},
                         {"collectives: abort", check_abort},
                         {"collectives: errors", check_errors}};

} // namespace

std::span<const check> collective_checks() { return all; }

} // namespace gpu
