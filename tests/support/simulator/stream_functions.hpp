// The simulated api's streams, events, copies, products, kernels and graphs.
#pragma once

#include "support/simulator/block.hpp"
#include "support/simulator/device_functions.hpp"
#include "support/simulator/group.hpp"
#include "support/simulator/product.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace simulator {

struct stream_functions : device_functions {
  static constexpr std::size_t product_workspace_bytes = workspace_bytes;
  static constexpr std::size_t scratch_bytes = std::size_t{1} << 16; ///< so little that long lists take several parts

  static status create_stream(stream_handle& made) {
    return call("create_stream", [&](world& w) {
      made.number = world::new_number();
      w.scheduled.create(made.number, w.caller->device);
      return status{};
    });
  }

  static status destroy_stream(stream_handle of) {
    return call("destroy_stream", ending, [&](world& w) {
      stream_state& found = w.stream(of.number, "destroy_stream");
      if (found.capture != nullptr) fail("destroy_stream while ", found.name(), " is captured");
      w.scheduled.destroy(found);
      return status{};
    });
  }

  static status query_stream(stream_handle of) {
    return call("query_stream", question, [&](world& w) {
      const stream_state& found = w.stream(of.number, "query_stream");
      if (found.capture != nullptr) fail("query_stream while ", found.name(), " is captured");
      w.check_safe("query_stream");
      if (!found.queue.empty()) return not_ready("query_stream");
      w.host_learns(found.clock);
      return status{};
    });
  }

  static status create_event(event_handle& made) {
    return call("create_event", [&](world& w) {
      made.number = world::new_number();
      w.events[made.number].device = w.caller->device;
      return status{};
    });
  }

  static status destroy_event(event_handle of) {
    return call("destroy_event", ending, [&](world& w) {
      w.event(of.number, "destroy_event");
      w.events.erase(of.number);
      return status{};
    });
  }

  static status record_event(event_handle of, stream_handle on) {
    return call("record_event", [&](world& w) {
      stream_state& stream = w.current_stream(on.number, "record_event");
      event_state& event = w.event(of.number, "record_event");
      if (event.device != stream.device)
        fail("record_event of an event of device ", event.device, " on ", stream.name());
      auto record = std::make_shared<event_record>();
      record->captured = stream.capture != nullptr;
      record->where = stream.name();
      event.latest = record;
      if (!record->captured) w.enqueue(stream, {.name = "record_event", .records = std::move(record)});
      return status{};
    });
  }

  static status wait_event(stream_handle on, event_handle of) {
    return call("wait_event", [&](world& w) {
      stream_state& stream = w.stream(on.number, "wait_event");
      const event_state& event = w.event(of.number, "wait_event");
      if (event.latest == nullptr) return status{}; // as CUDA has it: nothing to wait for
      const bool captured = event.latest->captured;
      if (captured != (stream.capture != nullptr) || (captured && event.latest->where != stream.name()))
        fail("wait_event on ", stream.name(), " of an event of ", event.latest->where,
             ": one of the two is being captured, and not the other with it");
      if (!captured) w.enqueue(stream, {.name = "wait_event", .waits_for = event.latest});
      return status{};
    });
  }

  static status query_event(event_handle of) {
    return call("query_event", question, [&](world& w) {
      const event_state& event = w.event(of.number, "query_event");
      if (event.latest != nullptr && event.latest->captured) fail("query_event of an event that was captured");
      w.check_safe("query_event");
      if (event.latest == nullptr) return status{};
      if (!event.latest->reached) return not_ready("query_event");
      w.host_learns(event.latest->clock);
      return status{};
    });
  }

  static status copy_to_device(void* to, const void* from, std::size_t bytes, stream_handle on) {
    return call("copy_to_device", [&](world& w) {
      w.enqueue(w.stream(on.number, "copy_to_device"),
                {.name = "copy_to_device",
                 .run = [=](recorder& log) { copy(log, to, log.who().device, from, on_host, bytes); },
                 .pinned = {.pointer = const_cast<void*>(from), .bytes = bytes}});
      return status{};
    });
  }

  static status copy_to_host(void* to, const void* from, std::size_t bytes, stream_handle on) {
    return call("copy_to_host", [&](world& w) {
      w.enqueue(w.stream(on.number, "copy_to_host"),
                {.name = "copy_to_host",
                 .run = [=](recorder& log) { copy(log, to, on_host, from, log.who().device, bytes); },
                 .pinned = {.pointer = to, .bytes = bytes, .writes = true}});
      return status{};
    });
  }

  static status copy_between(void* to, int target, const void* from, int source, std::size_t bytes, stream_handle on) {
    return call("copy_between", [&](world& w) {
      if (!w.has_device(target) || !w.has_device(source)) return no_device("copy_between");
      w.enqueue(w.stream(on.number, "copy_between"),
                {.name = "copy_between", .run = [=](recorder& log) { copy(log, to, target, from, source, bytes); }});
      return status{};
    });
  }

  static status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                          std::size_t rows, stream_handle on) {
    return call("copy_rows", [&](world& w) {
      if (width > to_pitch || width > from_pitch) fail("copy_rows of rows longer than their pitch");
      w.enqueue(w.stream(on.number, "copy_rows"),
                {.name = "copy_rows", .run = [=](recorder& log) {
                   for (std::size_t i = 0; i < rows; ++i)
                     copy(log, static_cast<std::byte*>(to) + i * to_pitch, log.who().device,
                          static_cast<const std::byte*>(from) + i * from_pitch, log.who().device, width);
                 }});
      return status{};
    });
  }

  static status fill_zero(void* to, std::size_t bytes, stream_handle on) {
    return call("fill_zero", [&](world& w) {
      w.enqueue(w.stream(on.number, "fill_zero"), {.name = "fill_zero", .run = [=](recorder& log) {
                                                     log.write_of(log.who().device, to, bytes);
                                                     if (bytes != 0) std::memset(to, 0, bytes);
                                                   }});
      return status{};
    });
  }

  /// As `runtime_api` has it: a call of the library, or a kernel where the library has none.
  static status multiply(const matrix_product& product, int device, stream_handle on) {
    return call(parallax::is_inexact(product.type) ? "multiply" : "launch", [&](world& w) {
      stream_state& stream = w.current_stream(on.number, "multiply");
      if (device != stream.device) fail("multiply for device ", device, " on ", stream.name());
      if (parallax::is_inexact(product.type)) w.check_first(w.libraries, device, "the first multiply");
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
      const bool possible = product.batch == 1 && parallax::is_inexact(product.type) && product.depth > 0 &&
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

  /// What a thread may do while it captures.
  enum class capture_mode : unsigned char { safe, relaxed };
  static constexpr capture_mode relaxed_capture_mode = capture_mode::relaxed;
  static status exchange_capture_mode(capture_mode& mode) {
    return call("exchange_capture_mode", ending, [&](world& w) {
      if (w.failing) return status{};
      const bool before = std::exchange(w.caller->may_be_unsafe, mode == capture_mode::relaxed);
      mode = before ? capture_mode::relaxed : capture_mode::safe;
      return status{};
    });
  }

  static status begin_capture(stream_handle on) {
    return call("begin_capture", [&](world& w) {
      stream_state& stream = w.stream(on.number, "begin_capture");
      if (stream.capture != nullptr) fail("begin_capture while ", stream.name(), " is captured");
      stream.capture = std::make_shared<graph_state>();
      stream.capture->number = world::new_number();
      stream.capture->device = stream.device;
      ++w.caller->captures;
      return status{};
    });
  }

  static status last_captured(stream_handle on, graph_node_handle& node) {
    return call("last_captured", [&](world& w) {
      const stream_state& stream = w.stream(on.number, "last_captured");
      if (stream.capture == nullptr) fail("last_captured while ", stream.name(), " is not captured");
      if (stream.capture->operations.empty()) fail("last_captured before anything was");
      node = {stream.capture->number, stream.capture->operations.size()};
      return status{};
    });
  }

  static status end_capture(stream_handle on, graph_handle& graph) {
    return call("end_capture", call_traits{.closes = true}, [&](world& w) {
      stream_state& stream = w.stream(on.number, "end_capture");
      if (stream.capture == nullptr) fail("end_capture while ", stream.name(), " is not captured");
      if (stream.capture->whole != nullptr) fail("end_capture of a conditional node's body on ", stream.name());
      for (const auto& each : w.scheduled.streams())
        if (each->capture != nullptr && each->capture->whole == stream.capture.get())
          fail("end_capture while ", each->name(), " captures the body of a conditional node");
      std::shared_ptr<graph_state> captured = std::exchange(stream.capture, nullptr);
      end_capture_of_thread(w, "end_capture");
      if (w.failing) return status{};
      graph.number = world::new_number();
      w.graphs.emplace(graph.number, std::move(captured));
      return status{};
    });
  }

  static status can_branch(bool& possible) {
    return call("can_branch", [&](world& w) {
      possible = w.options.conditional_graphs;
      return status{};
    });
  }

  static status create_condition(parallax::cuda::graph_condition& made, stream_handle on) {
    return call("create_condition", [&](world& w) {
      stream_state& stream = w.stream(on.number, "create_condition");
      if (!w.options.conditional_graphs) fail("create_condition on a machine whose graphs have none");
      if (stream.capture == nullptr) fail("create_condition while ", stream.name(), " is not captured");
      made.handle = world::new_number();
      stream.capture->own_conditions.insert(made.handle);
      whole_graph(stream).conditions.insert(made.handle);
      return status{};
    });
  }

  static status begin_body(parallax::cuda::conditional_kind kind, parallax::cuda::graph_condition condition,
                           stream_handle on, stream_handle inner) {
    return call("begin_body", [&](world& w) {
      stream_state& stream = w.stream(on.number, "begin_body");
      stream_state& body = w.stream(inner.number, "begin_body");
      if (stream.capture == nullptr) fail("begin_body while ", stream.name(), " is not captured");
      if (body.capture != nullptr) fail("begin_body on ", body.name(), ", which is captured already");
      if (!body.queue.empty()) fail("begin_body on ", body.name(), ", which has work");
      if (body.device != stream.device) fail("begin_body of ", stream.name(), " on ", body.name());
      if (stream.capture->own_conditions.erase(condition.handle) == 0)
        fail("begin_body of a condition that is not the graph's, or has a node already");
      body.capture = std::make_shared<graph_state>();
      body.capture->number = world::new_number();
      body.capture->device = stream.device;
      body.capture->whole = &whole_graph(stream);
      ++w.caller->captures;
      stream.capture->operations.push_back({.name = "conditional node",
                                            .body = body.capture,
                                            .condition = condition.handle,
                                            .repeats = kind == parallax::cuda::conditional_kind::repeatedly});
      return status{};
    });
  }

  static status end_body(stream_handle inner) {
    return call("end_body", call_traits{.closes = true}, [&](world& w) {
      stream_state& body = w.stream(inner.number, "end_body");
      if (body.capture == nullptr || body.capture->whole == nullptr)
        fail("end_body on ", body.name(), ", where no body is captured");
      for (const operation& each : body.capture->operations)
        if (each.waits_for != nullptr || each.records != nullptr || each.step != nullptr ||
            each.pinned.pointer != nullptr || each.calls != nullptr)
          fail("a conditional node's body with ", each.name, ", which CUDA does not allow");
      body.capture->whole = nullptr;
      body.capture = nullptr;
      end_capture_of_thread(w, "end_body");
      return status{};
    });
  }

  static status instantiate(graph_handle& graph) {
    return call("instantiate", [&](world& w) {
      const auto found = w.graphs.find(graph.number);
      if (found == w.graphs.end())
        fail("instantiate of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      for (const auto& each : w.scheduled.streams())
        if (each->capture != nullptr) fail("instantiate while ", each->name(), " is captured");
      found->second->instantiated = true;
      return status{};
    });
  }

  static status launch_graph(graph_handle graph, stream_handle on) {
    return call("launch_graph", [&](world& w) {
      stream_state& stream = w.current_stream(on.number, "launch_graph");
      const auto found = w.graphs.find(graph.number);
      if (found == w.graphs.end())
        fail("launch_graph of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      if (stream.capture != nullptr) fail("launch_graph while ", stream.name(), " is captured");
      if (!found->second->instantiated) fail("launch_graph of a graph that was not instantiated");
      if (found->second->device != stream.device)
        fail("launch_graph of a graph of device ", found->second->device, " on ", stream.name());
      w.wait_for_room(stream, "launch_graph");
      const auto run = std::make_shared<graph_run>();
      run->graph = graph.number;
      for (std::uint64_t condition : found->second->conditions) run->conditions[condition] = 0;
      for (operation each : found->second->operations) {
        each.launch = run;
        if (each.calls != nullptr) launch_collective(w, each);
        w.push(stream, std::move(each));
      }
      return status{};
    });
  }

  static status destroy_graph(graph_handle graph) {
    return call("destroy_graph", ending, [&](world& w) {
      if (w.graphs.erase(graph.number) == 0)
        fail("destroy_graph of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      return status{};
    });
  }

 protected:
  static graph_state& whole_graph(const stream_state& of) {
    return of.capture->whole != nullptr ? *of.capture->whole : *of.capture;
  }
  static void end_capture_of_thread(world& w, const char* what) {
    if (w.caller->captures == 0) fail(what, " by another thread than the one that began");
    --w.caller->captures;
  }
  static status not_ready(const char* name) {
    return machine::failure(name, "not ready", 600, status::kind::not_ready);
  }

 private:
  /// The calls of a graph's node, for one launch.
  static void launch_collective(world& w, operation& node) {
    clique_member& member = *node.calls->front().communicator;
    if (member.polls_left != 0 || member.launching != 0)
      fail("launch_graph with calls of ", member.name(), ", which is not ready");
    node.step = steps_of(*node.calls).front();
    node.calls = nullptr;
    ++member.unfinished;
    ++w.activity;
  }

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

  static void copy(recorder& log, void* to, int target, const void* from, int source, std::size_t bytes) {
    log.read_of(source, from, bytes);
    log.write_of(target, to, bytes);
    if (bytes != 0) std::memmove(to, from, bytes);
  }
};

} // namespace simulator
