// A logical device: its streams, its workspaces, and memory in the order of its first stream.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/enqueue_mutex.hpp>
#include <parallax/cuda/devices/graph_cache.hpp>
#include <parallax/cuda/devices/handles.hpp>
#include <parallax/cuda/devices/measure_product.hpp>
#include <parallax/cuda/devices/staging.hpp>
#include <parallax/cuda/kernels/copies/copy_narrow_rows.hpp>
#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/cuda/kernels/products/vector_product.hpp>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Several logical devices may share a physical one.
template <device_api Api> class device {
 public:
  const int number;   ///< the one users know
  const int physical; ///< the one the libraries know

  /// Logical device number `logical`, on a GPU that `sharing` logical devices share.
  device(int logical, int gpu, int sharing) : number(logical), physical(current(gpu)), on_gpu(sharing) {
    check(Api::properties_of(properties, physical), number);
    std::size_t free = 0;
    check(Api::memory_info(free, memory_bytes), number);
    const auto nothing_goes_on = [] {};
    scratch.address = take(Api::scratch_bytes, nothing_goes_on);
    zeros.address = take(zero_bytes, nothing_goes_on);
    fill_zero(zeros.address, zero_bytes);
    if (Api::product_workspace_bytes > 0) workspace.address = take(Api::product_workspace_bytes, nothing_goes_on);
  }
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  /// The stream that work is enqueued on: the first stream, or the side stream while there is a `side_streams`, or that
  /// of the innermost `captured_body`.
  typename Api::stream stream() const {
    if (bodies > 0) return body_streams[index_of(bodies) - 1].get();
    return side_mark ? side_stream.get() : main_stream.get();
  }
  /// All streams that work is enqueued on.
  std::array<typename Api::stream, 2> streams() const { return {main_stream.get(), side_stream.get()}; }

  /// Makes this the device that the libraries' calls are for.
  void activate() const { check(Api::set_device(physical), number); }

  /// The context of kernel launches.
  launch_context<launches_of<Api>> context() const {
    return {stream(), &properties, scratch.address, Api::scratch_bytes};
  }
  void* product_workspace() const { return workspace.address; }
  /// Zeros, as long as the largest element: kernels that gather from an array without elements read here.
  std::byte* nothing_to_read() const { return static_cast<std::byte*>(zeros.address); }

  /// Whether the library's algorithms are measured before the first product of a kind, as long as measurements end in
  /// time.
  mutable bool measures_products = false;
  bool is_captured = false; ///< whether work is captured, and may not be waited for

  /// Enqueues a product on the active device: products with vectors by kernels, all others by the library.
  status multiply(const matrix_product& product) const {
    if (is_vector_product(product)) return multiply_vector<launches_of<Api>>(product, context());
    const relaxed_capture<Api> library_may_wait(is_captured);
    if (measures_products && !is_captured) {
      const status measured = measure_product<Api>(*this, product);
      if (measured.is == status::kind::not_ready) measures_products = false; // each of them would wait as long
      else if (!measured.ok()) return measured;
    }
    return Api::multiply(product, physical, stream());
  }
  /// `unsupported` if the library lacks the product's epilogue, its base or its addresses.
  status can_multiply(const matrix_product& product) const {
    if (is_vector_product(product)) return {};
    const relaxed_capture<Api> library_may_wait(is_captured);
    return Api::can_multiply(product, physical);
  }

  /// Memory for work that is enqueued from now on. `wait_for_gpu()` returns once the physical device has done all
  /// enqueued work; it is called if memory is short. Throws `out_of_memory`.
  template <class WaitForGpu> void* take(std::size_t bytes, const WaitForGpu& wait_for_gpu) const {
    activate();
    void* address = nullptr;
    status got = Api::allocate(address, bytes, stream());
    if (got.is == status::kind::out_of_memory) enqueue_mutex<Api>::instance().give_back_released();
    // memory kept for later may be in pieces that are too small; copies of the host's memory can be dropped
    for (int attempt = 0; attempt < 2 && got.is == status::kind::out_of_memory; ++attempt) {
      if (attempt == 1 && !runtime::block_cache::forget_kept_copies()) break;
      wait_for_gpu(); // what the host has not seen released stays
      activate();     // some of it may have been on other devices
      check(Api::trim_memory(), number);
      got = Api::allocate(address, bytes, stream());
    }
    if (got.is == status::kind::out_of_memory) {
      std::size_t free = 0, total = 0;
      check(Api::memory_info(free, total), number);
      throw out_of_memory(bytes,
                          "device " + std::to_string(number) + ", which has " + std::to_string(free) + " of " +
                              std::to_string(total) + " bytes free",
                          number);
    }
    check(got, number);
    return address;
  }

  /// Releases memory that `take` allocated, behind all work enqueued so far.
  void give_back(void* address) const noexcept {
    kept_failure::keep(Api::set_device(physical));
    kept_failure::keep(Api::release(address, stream()));
  }

  /// The most bytes of copies of the host's memory that are kept here: a quarter of the GPU's memory, divided among
  /// those that share it.
  std::size_t most_kept() const { return memory_bytes / 4 / index_of(on_gpu); }

  /// Enqueues zeros.
  void fill_zero(void* to, std::size_t bytes) const {
    if (bytes == 0) return;
    activate();
    check(Api::fill_zero(to, bytes, stream()), number);
  }
  /// Enqueues a copy within the device: `rows` rows of `width` bytes, which begin a pitch apart.
  void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t rows) const {
    if (width * rows == 0) return;
    activate();
    const bool lie_apart = rows > 1 && (to_pitch != width || from_pitch != width);
    if (lie_apart && width <= most_narrow_bytes)
      return check(launch_narrow_rows<launches_of<Api>>(to, to_pitch, from, from_pitch, width, rows, context()),
                   number);
    check(Api::copy_rows(to, to_pitch, from, from_pitch, width, rows, stream()), number);
  }

  /// Makes later work here wait for the work that has been enqueued on `other`.
  void wait_for(const device& other) {
    if (&other == this) return;
    other.activate();
    check(Api::record_event(other.main_mark.get(), other.stream()), other.number);
    activate();
    check(Api::wait_event(stream(), other.main_mark.get()), number);
  }

  /// Makes later work here wait for the work that has been enqueued on `other`, a foreign stream on this device.
  status wait_for_stream(typename Api::stream other) {
    if (const status active = Api::set_device(physical); !active.ok()) return active;
    const status recorded = Api::record_event(main_mark.get(), other);
    return recorded.ok() ? Api::wait_event(stream(), main_mark.get()) : recorded;
  }
  /// Makes later work on `other`, a foreign stream on this device, wait for the work that has been enqueued here.
  status let_wait(typename Api::stream other) {
    if (const status active = Api::set_device(physical); !active.ok()) return active;
    const status recorded = Api::record_event(main_mark.get(), stream());
    return recorded.ok() ? Api::wait_event(other, main_mark.get()) : recorded;
  }

  /// Makes streams for `depth` bodies, one inside the other: see `captured_body`.
  void expect_bodies(int depth) {
    activate();
    while (count_of(body_streams) < depth) body_streams.emplace_back();
  }

  /// Makes later work on the side stream wait for the work that has been enqueued on the first one.
  void fork() {
    activate();
    check(Api::record_event(main_mark.get(), main_stream.get()), number);
    check(Api::wait_event(side_stream.get(), main_mark.get()), number);
  }

 private:
  template <device_api> friend class side_streams;
  template <device_api> friend class captured_body;

  static int current(int gpu) {
    check(Api::set_device(gpu), gpu);
    return gpu;
  }

  int on_gpu;
  std::size_t memory_bytes = 0;
  unique_stream<Api> main_stream, side_stream;
  std::deque<unique_stream<Api>> body_streams; ///< for bodies of nodes of graphs, one inside the other
  int bodies = 0;                              ///< that are being captured
  bool side_mark = false;
  unique_event<Api> main_mark;
  /// Memory that the device keeps for itself.
  struct kept_memory {
    const device& home;
    void* address = nullptr;

    explicit kept_memory(const device& of) : home(of) {}
    kept_memory(const kept_memory&) = delete;
    kept_memory& operator=(const kept_memory&) = delete;
    ~kept_memory() {
      if (address != nullptr) home.give_back(address);
    }
  };
  static constexpr std::size_t zero_bytes = 64;
  kept_memory scratch{*this}, workspace{*this}, zeros{*this};

 public:
  device_properties properties;
  staging<Api> host_copies{main_stream.get()};
  graph_cache<Api> graphs;
};

/// While this lives, work is enqueued on the side streams of these devices, behind the work on their first streams.
template <device_api Api> class side_streams {
 public:
  explicit side_streams(plain_span<device<Api>* const> these) : devices(these) {
    for (device<Api>* each : devices) each->fork();
    for (device<Api>* each : devices) each->side_mark = true;
  }
  side_streams(const side_streams&) = delete;
  side_streams& operator=(const side_streams&) = delete;
  ~side_streams() {
    for (device<Api>* each : devices) each->side_mark = false;
  }

 private:
  plain_span<device<Api>* const> devices;
};

/// While this lives, work enqueued on a device that is captured is the body of a conditional node.
template <device_api Api> class captured_body {
 public:
  captured_body(device<Api>& of, conditional_kind kind, graph_condition condition) : on(of) {
    on.expect_bodies(on.bodies + 1);
    const typename Api::stream outer = on.stream();
    check(Api::begin_body(kind, condition, outer, on.body_streams[index_of(on.bodies)].get()), on.number);
    ++on.bodies;
  }
  captured_body(const captured_body&) = delete;
  captured_body& operator=(const captured_body&) = delete;
  ~captured_body() {
    if (!ended) std::ignore = Api::end_body(leave()); // after a failure, of which this one may be a part
  }
  void end() {
    ended = true;
    check(Api::end_body(leave()), on.number);
  }

 private:
  device<Api>& on;
  bool ended = false;

  typename Api::stream leave() {
    const typename Api::stream inner = on.stream();
    --on.bodies;
    return inner;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
