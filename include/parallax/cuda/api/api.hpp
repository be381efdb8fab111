// The interface of the CUDA backend to the device libraries. `runtime_api` (cuda/nvidia/runtime_api.cuh) calls cudart,
// cuBLASLt and NCCL; the simulator in the tests models many devices on the host. Everything else under cuda/ is a
// template of this policy and includes no CUDA header.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/activation.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/types/precision.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/status.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The size of a launch: the number of blocks, the threads and the bytes of shared memory of each block, and the size
/// of a cluster. The blocks of a cluster are neighbours, run together and reach each other's shared memory; the number
/// of blocks is a multiple of the cluster's size.
struct launch_shape {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;
};

/// The largest cluster that runs on every device with clusters.
inline constexpr int portable_cluster = 8;

/// A number of a graph that kernels set, and that says whether a node of the graph runs its body.
struct graph_condition {
  std::uint64_t handle = 0;
};
/// What a conditional node does: runs its body once if the number is not 0, or repeats it while the number is not 0.
enum class conditional_kind { once, repeatedly };

/// What the orchestration needs to know of a physical device.
struct device_properties {
  std::string name;
  int multiprocessors = 1;
  std::size_t shared_bytes_per_block = 48 * 1024;
  std::size_t memory_bytes = 0;
  int largest_cluster = 1; ///< of blocks, a power of two; whether clusters of a kernel fit is asked for each kernel
};

using parallax::detail::product_activation;
using parallax::detail::product_precision;

/// The work on a product's one matrix before it is written: result = activation(product + bias). Pointers are null if
/// there is no such array.
struct product_epilogue {
  product_activation activation = product_activation::identity;
  const void* bias = nullptr; ///< a row of the result's type
  /// Relu writes the signs here, a bit for each element, in rows of a multiple of 128 bits; gelu writes product + bias.
  /// The gradients read it: relu's keeps the product if the bit is set, and is 0 elsewhere; gelu's multiplies the
  /// product by the derivative at the value here.
  void* auxiliary = nullptr;
  void* bias_gradient = nullptr; ///< a row: the sum of the result's rows
  bool sums_right = false;       ///< of the right operand's rows instead

  bool is_plain() const {
    return activation == product_activation::identity && bias == nullptr && bias_gradient == nullptr;
  }
};

/// p[b][i][j] = sum over k of left[b][i][k] * right[b][k][j]. The result is p, or, with a base, base[b][i][j] + scale *
/// p[b][i][j] of floating types; the base may be the result itself. Strides are in elements; of each operand's two
/// matrix strides one is 1, or both are of extents of 1. A row of the result is contiguous. There is one batch
/// dimension with any strides, if no two matrices of the result overlap; or the matrices are at addresses that the
/// device reads.
struct matrix_product {
  element_type type = element_type::float32;
  product_precision precision = product_precision::full;
  std::int64_t batch = 1, left_batch = 0, right_batch = 0, result_batch = 0;
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t left_row = 0, left_depth = 1, right_depth = 0, right_column = 1;
  std::int64_t result_row = 0; ///< from one row of the result to the next; 0 if rows follow each other
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
  const void* base = nullptr; ///< lies as the result does
  double scale = 1;
  /// Null, or device memory with the addresses of all left matrices, then of the right ones, then of the results. The
  /// pointers above are the first of each kind. All distances between matrices of one kind are multiples of its batch
  /// stride.
  void* const* addresses = nullptr;
  product_epilogue epilogue;
  void* workspace = nullptr; ///< `Api::product_workspace_bytes` bytes of device memory, or null

  PARALLAX_HD std::int64_t result_pitch() const { return result_row == 0 ? columns : result_row; }
};

/// How a collective combines elements.
using parallax::detail::reduction_kind;

/// The new clique of a clique's member after a split, -1 for none, and the member's rank in it.
struct clique_place {
  int clique = -1;
  int rank = 0;
};

/// A kernel: a type with `arguments`, which are passed by value, and the code of one thread,
/// `run(const Block&, const arguments&)`, for any block policy (cuda/api/block.hpp). `barriers` says whether its
/// threads wait for one another or exchange values.
template <class K>
concept device_kernel = std::is_trivially_copyable_v<typename K::arguments> && requires {
  { K::barriers } -> std::convertible_to<bool>;
};

/// The part of the device policy that launches need.
template <class Api>
concept launch_api = requires { typename Api::stream; };

namespace detail {
template <launch_api Api> struct launches {
  using type = Api;
};
template <launch_api Api>
  requires requires { typename Api::launches; }
struct launches<Api> {
  using type = typename Api::launches;
};
} // namespace detail

/// The policy that kernels are launched by: the policy's `launches` if it has them by themselves, else the policy.
template <launch_api Api> using launches_of = typename detail::launches<Api>::type;

/// The policy. All functions are static, take physical device numbers, and return a status that has to be checked; the
/// device of a call is made current by `set_device` before. Handles are cheap to copy, and value-initialised ones are
/// null. Functions that take a stream only enqueue.
template <class Api>
concept device_api =
    requires(typename Api::stream stream, typename Api::event event, typename Api::graph graph,
             typename Api::graph_node node, typename Api::communicator communicator, void* pointer, const void* source,
             std::size_t bytes, int device, device_properties properties, matrix_product product, element_type type,
             reduction_kind how, plain_span<typename Api::communicator> clique,
             plain_span<typename Api::communicator* const> children, plain_span<const clique_place> places,
             plain_span<const int> devices, typename Api::clique_id id, graph_condition condition,
             conditional_kind repeats, bool possible, double seconds, typename Api::capture_mode mode) {
      /// how many threads of the host may enqueue at the same time, each for devices of its own
      { Api::host_threads() } -> std::same_as<int>;
      // devices
      { Api::device_count(device) } -> std::same_as<status>; ///< unsupported if there is no driver
      { Api::set_device(device) } -> std::same_as<status>;
      { Api::properties_of(properties, device) } -> std::same_as<status>;
      { Api::enable_peer_access(device, device) } -> std::same_as<status>; ///< from the first to the second's memory
      // memory: in stream order on the device; pinned on the host
      { Api::allocate(pointer, bytes, stream) } -> std::same_as<status>;
      { Api::release(pointer, stream) } -> std::same_as<status>;
      { Api::memory_info(bytes, bytes) } -> std::same_as<status>; ///< free and total bytes of the current device
      { Api::trim_memory() } -> std::same_as<status>; ///< frees the memory that the current device keeps for later
      { Api::allocate_pinned(pointer, bytes) } -> std::same_as<status>;
      { Api::release_pinned(pointer) } -> std::same_as<status>;
      { Api::copy_to_device(pointer, source, bytes, stream) } -> std::same_as<status>; ///< from pinned memory
      { Api::copy_to_host(pointer, source, bytes, stream) } -> std::same_as<status>;   ///< to pinned memory
      /// between two devices, or within one: to, its device, from, its device, bytes
      { Api::copy_between(pointer, device, source, device, bytes, stream) } -> std::same_as<status>;
      /// `rows` rows of `width` bytes within a device: to, its pitch, from, its pitch, width, rows
      { Api::copy_rows(pointer, bytes, source, bytes, bytes, bytes, stream) } -> std::same_as<status>;
      { Api::fill_zero(pointer, bytes, stream) } -> std::same_as<status>;
      // streams and events
      { Api::create_stream(stream) } -> std::same_as<status>;
      { Api::destroy_stream(stream) } -> std::same_as<status>;
      { Api::query_stream(stream) } -> std::same_as<status>; ///< not_ready while work is left
      { Api::create_event(event) } -> std::same_as<status>;
      { Api::destroy_event(event) } -> std::same_as<status>;
      { Api::record_event(event, stream) } -> std::same_as<status>;
      { Api::wait_event(stream, event) } -> std::same_as<status>; ///< of any device
      { Api::query_event(event) } -> std::same_as<status>;
      /// memory that the kernels of one logical device share for partial results and sorted updates, in stream order
      { Api::scratch_bytes } -> std::convertible_to<std::size_t>;
      // matrix products
      { Api::product_workspace_bytes } -> std::convertible_to<std::size_t>;
      {
        Api::can_multiply(product, device)
      } -> std::same_as<status>; ///< unsupported if the library lacks its epilogue, base or addresses
      { Api::multiply(product, device, stream) } -> std::same_as<status>;
      /// the number of algorithms that the library has for products like this one, while none of them is chosen; then 0
      { Api::proposed_algorithms(device, product, device) } -> std::same_as<status>;
      /// multiplies by the algorithm of that number, and measures its time; unsupported if the algorithm does not run,
      /// not_ready if the device does not end it within some seconds
      { Api::time_algorithm(seconds, device, product, device, stream) } -> std::same_as<status>;
      /// chooses the algorithm of products like this one from now on
      { Api::choose_algorithm(device, product, device) } -> std::same_as<status>;
      // collectives; all of one program step lie between group_start and group_end
      { Api::create_clique(clique, devices) } -> std::same_as<status>; ///< may go on in the background
      /// The id of a clique that several processes share: one of them makes it, and sends its bytes to the others.
      { Api::create_clique_id(id) } -> std::same_as<status>;
      /// Joins the members of this process, by their devices and ranks, to a clique of so many members; may go on in
      /// the background until all members have come
      { Api::join_clique(clique, devices, devices, device, id) } -> std::same_as<status>;
      /// Splits a clique, which is idle, into new ones, for all members at once; if processes share it, all of them do
      /// so. `children` says where each member's new communicator is written: null at first, and written at any time
      /// until the old communicator's state is ready again.
      { Api::split_clique(children, clique, places) } -> std::same_as<status>;
      {
        Api::communicator_state(communicator)
      } -> std::same_as<status>; ///< not_ready while going on; asynchronous errors
      { Api::destroy_communicator(communicator) } -> std::same_as<status>;
      /// aborts all communicators of the process at once: an abort may wait for a device that still runs another's
      /// kernels
      { Api::abort_communicators(plain_span<const typename Api::communicator>(clique)) } -> std::same_as<status>;
      { Api::group_start() } -> std::same_as<status>;
      { Api::group_end() } -> std::same_as<status>; ///< not_ready if it goes on in the background
      { Api::all_reduce(source, pointer, bytes, type, how, communicator, stream) } -> std::same_as<status>;
      /// result: `count` elements of every member, one member's after another
      { Api::all_gather(source, pointer, bytes, type, communicator, stream) } -> std::same_as<status>;
      /// operand: `count` elements for every member
      { Api::reduce_scatter(source, pointer, bytes, type, how, communicator, stream) } -> std::same_as<status>;
      /// copies one member's operand to all: its rank follows the type
      { Api::broadcast(source, pointer, bytes, type, device, communicator, stream) } -> std::same_as<status>;
      { Api::send(source, bytes, type, device, communicator, stream) } -> std::same_as<status>;     ///< to a member
      { Api::receive(pointer, bytes, type, device, communicator, stream) } -> std::same_as<status>; ///< from a member
      // graphs: work enqueued on the stream in between is recorded, not run
      { Api::begin_capture(stream) } -> std::same_as<status>;
      /// Sets what the thread may do while it captures, and returns the mode before. Relaxed: also calls that allocate
      /// at once or wait. In other modes such a call may fail, which ends the capture.
      { Api::exchange_capture_mode(mode) } -> std::same_as<status>;
      { Api::relaxed_capture_mode } -> std::convertible_to<typename Api::capture_mode>;
      { Api::last_captured(stream, node) } -> std::same_as<status>; ///< the node enqueued last, during a capture
      { Api::end_capture(stream, graph) } -> std::same_as<status>;  ///< captures no more in any case
      /// whether graphs may have conditional nodes; if not, the functions below are not called
      { Api::can_branch(possible) } -> std::same_as<status>;
      {
        Api::create_condition(condition, stream)
      } -> std::same_as<status>; ///< while that is captured; 0 at each launch
      /// Work enqueued on the second stream until `end_body` is the body of a node, which follows the work captured on
      /// the first stream. Bodies hold launches, products, copies and fills of the same device, and further conditional
      /// nodes.
      { Api::begin_body(repeats, condition, stream, stream) } -> std::same_as<status>;
      { Api::end_body(stream) } -> std::same_as<status>;   ///< captures no more in any case
      { Api::instantiate(graph) } -> std::same_as<status>; ///< before launches and updates; while nothing is captured
      { Api::launch_graph(graph, stream) } -> std::same_as<status>;
      { Api::destroy_graph(graph) } -> std::same_as<status>;
    };
// Beside these, for every `device_kernel`, `status launch(K, const launch_shape&, stream, const K::arguments&)`,
// `status clusters_at_once(int&, K, const launch_shape&)`: the number of clusters of such a launch that the current
// device runs at the same time, 0 if it runs none; and `status update_launch(graph, node, K, const launch_shape&, const
// K::arguments&)`: changes the arguments of this launch of K for later launches of the graph, not for earlier ones.

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
