// The simulated api's products and kernels, and the kernels of graphs that are replaced.
#pragma once

#include "support/simulator/block.hpp"
#include "support/simulator/product.hpp"
#include "support/simulator/stream_functions.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace simulator {

struct kernel_functions : stream_functions {
  static constexpr std::size_t product_workspace_bytes = workspace_bytes;
  static constexpr std::size_t scratch_bytes = std::size_t{1} << 16; ///< so little that long lists take several parts

  /// As `runtime_api` has it: a call of the library, or a kernel where the library has none.
  static status multiply(const matrix_product& product, int device, stream_handle on) {
    return call(parallax::detail::is_inexact(product.type) ? "multiply" : "launch", [&](world& w) {
      stream_state& stream = w.current_stream(on.number, "multiply");
      if (device != stream.device) fail("multiply for device ", device, " on ", stream.name());
      if (parallax::detail::is_inexact(product.type)) w.check_first(w.libraries, device, "the first multiply");
      if (w.options.refuses_epilogues &&
          (!product.epilogue.is_plain() || product.base != nullptr || product.addresses != nullptr))
        return machine::failure("multiply", "not supported", 15, status::kind::unsupported);
      w.enqueue(stream, {.name = "multiply", .run = [=](recorder& log) { simulator::multiply(product, log); }});
      return status{};
    });
  }

  /// Whatever is of one matrix and of the types that the library has epilogues for; it adds doubles to a base, too. Of
  /// matrices at addresses plain products. What the signs are that it keeps of 0 is tried once for each type.
  static status can_multiply(const matrix_product& product, int device) {
    return call("can_multiply", [&](world& w) {
      const bool plain = product.epilogue.is_plain();
      if (!plain || product.base != nullptr || product.addresses != nullptr)
        w.check_first(w.libraries, device, "the first can_multiply");
      if (product.epilogue.activation == parallax::cuda::product_activation::relu &&
          product.epilogue.auxiliary != nullptr)
        w.check_first(w.known_signs, std::pair(device, product.type), "can_multiply, which asks for the sign of 0,");
      const bool possible = product.batch == 1 && parallax::detail::is_inexact(product.type) && product.depth > 0 &&
                            (plain || product.type != parallax::element_type::float64);
      const bool at_addresses = product.addresses == nullptr || !w.options.has_no_addresses;
      return status{(possible || (plain && product.base == nullptr)) && at_addresses ? status::kind::success
                                                                                     : status::kind::unsupported,
                    0, "the simulator", "can_multiply", "no such epilogue"};
    });
  }

  /// There is one for each product.
  static status proposed_algorithms(int& count, const matrix_product&, int) {
    count = 1;
    return {};
  }
  static status time_algorithm(double&, int, const matrix_product&, int, stream_handle) {
    fail("an algorithm is timed that has no choice");
  }
  static status choose_algorithm(int number, const matrix_product&, int) {
    if (number != 0) fail("an algorithm is chosen that there is not");
    return {};
  }

  /// Runs a kernel: its threads in an order that the seed chooses.
  template <parallax::cuda::device_kernel Kernel>
  static status launch(Kernel, const parallax::cuda::launch_shape& shape, stream_handle on,
                       const typename Kernel::arguments& arguments) {
    return launch(code_of<Kernel>(), shape, on, bytes_of(arguments));
  }

  /// As many as there are multiprocessors for: each has one block.
  template <parallax::cuda::device_kernel Kernel>
  static status clusters_at_once(int& count, Kernel, const parallax::cuda::launch_shape& shape) {
    return call("clusters_at_once", [&](world& w) {
      const int cluster = static_cast<int>(shape.cluster);
      count = cluster <= w.options.largest_cluster ? w.options.multiprocessors / cluster : 0;
      return status{};
    });
  }

  /// Replaces a captured launch by another of the same kernel.
  template <parallax::cuda::device_kernel Kernel>
  static status update_launch(graph_handle of, graph_node_handle node, Kernel,
                              const parallax::cuda::launch_shape& shape, const typename Kernel::arguments& arguments) {
    return update_launch(of, node, code_of<Kernel>(), shape, bytes_of(arguments));
  }

 private:
  /// The arguments of a kernel, copied; nothing is to be destroyed.
  template <class Arguments> static std::shared_ptr<const std::byte[]> bytes_of(const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments> && alignof(Arguments) <= alignof(std::max_align_t));
    return bytes_of(&arguments, sizeof arguments);
  }
  static std::shared_ptr<const std::byte[]> bytes_of(const void* data, std::size_t size) {
    std::shared_ptr<std::byte[]> bytes(new std::byte[size]);
    std::memcpy(bytes.get(), data, size);
    return bytes;
  }

  static status launch(const kernel_code& kernel, const parallax::cuda::launch_shape& shape, stream_handle on,
                       std::shared_ptr<const std::byte[]> arguments) {
    return call("launch", [&](world& w) {
      w.enqueue(w.current_stream(on.number, "launch"), launch_of(w, kernel, shape, std::move(arguments)));
      return status{};
    });
  }
  static status update_launch(graph_handle of, graph_node_handle node, const kernel_code& kernel,
                              const parallax::cuda::launch_shape& shape, std::shared_ptr<const std::byte[]> arguments) {
    return call("update_launch", [&](world& w) {
      const auto found = w.graphs.find(of.number);
      if (found == w.graphs.end())
        fail("update_launch of a ", of.number == 0 ? "null graph" : "graph that was destroyed");
      graph_state& graph = *found->second;
      if (!graph.instantiated) fail("update_launch of a graph that was not instantiated");
      if (node.capture != graph.number || node.place == 0 || node.place > graph.operations.size())
        fail("update_launch of a node that is not the graph's");
      if (graph.device != w.caller->device)
        fail("update_launch of a graph of device ", graph.device, " while device ", w.caller->device, " is current");
      operation& replaced = graph.operations[node.place - 1];
      operation next = launch_of(w, kernel, shape, std::move(arguments));
      if (replaced.name != next.name) fail("update_launch of ", replaced.name, " to be ", next.name);
      replaced = std::move(next);
      return status{};
    });
  }

  static operation launch_of(world& w, const kernel_code& kernel, const parallax::cuda::launch_shape& shape,
                             std::shared_ptr<const std::byte[]> arguments) {
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > 1024 ||
        shape.shared_bytes > w.options.shared_bytes_per_block ||
        shape.cluster > static_cast<unsigned>(w.options.largest_cluster))
      fail("launch of ", kernel.name, " with ", shape.blocks, " blocks of ", shape.threads, " threads and ",
           shape.shared_bytes, " bytes of shared memory, in clusters of ", shape.cluster);
    return {.name = kernel.name.c_str(),
            .run = [&kernel, shape, arguments = std::move(arguments), &random = w.random](recorder& log) {
              try {
                run_kernel(kernel, shape, arguments.get(), random.bits(), log);
              } catch (const fault& found) {
                const std::string who = name_of(log.who());
                if (std::string_view(found.what()).starts_with(who)) throw;
                fail(who, ": ", found.what());
              }
            }};
  }
};

} // namespace simulator
