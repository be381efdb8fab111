// The simulated api's streams, events and copies.
#pragma once

#include "support/simulator/device_functions.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace simulator {

struct stream_functions : device_functions {
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

 protected:
  static status not_ready(const char* name) {
    return machine::failure(name, "not ready", 600, status::kind::not_ready);
  }

 private:
  static void copy(recorder& log, void* to, int target, const void* from, int source, std::size_t bytes) {
    log.read_of(source, from, bytes);
    log.write_of(target, to, bytes);
    if (bytes != 0) std::memmove(to, from, bytes);
  }
};

} // namespace simulator
