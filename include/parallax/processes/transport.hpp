// The carrier of bytes between the processes of a session.
#pragma once

#include <parallax/core/version.hpp>

#include <cstddef>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// The data by which a transport identifies a message on its way.
struct transfer {
  alignas(8) std::byte handle[16];
};

/// Carries messages between processes. Messages from one process to another with one tag arrive in the order in which
/// they were sent. Several threads may call its functions, none of which waits. They throw `error` if the library below
/// refuses an operation.
class transport {
 public:
  transport() = default;
  virtual ~transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  /// This process' number, from 0 on, and the number of processes.
  virtual int index() const noexcept = 0;
  virtual int count() const noexcept = 0;
  /// The number of processes on this host, and this process' number among them.
  virtual int count_on_host() const noexcept = 0;
  virtual int index_on_host() const noexcept = 0;
  /// Such as "MPI".
  virtual std::string_view name() const noexcept = 0;

  /// Begins to send, or to receive, `bytes` bytes, whose memory has to stay until `is_done`. `tag` is from 0 to 32767.
  virtual transfer send(int to, int tag, const void* data, std::size_t bytes) = 0;
  virtual transfer receive(int from, int tag, void* data, std::size_t bytes) = 0;
  /// Whether a message is complete; not to be asked again afterwards. Throws `error` if it is longer than its memory.
  virtual bool is_done(transfer& which) = 0;
  /// Whether a message with this tag has come from any process, and then its sender and length.
  virtual bool has_come(int tag, int& from, std::size_t& bytes) = 0;

  /// Whether a process is known to be gone.
  virtual bool is_gone(int process) const noexcept = 0;

  /// Ends this process with `code`, and all others if possible.
  [[noreturn]] virtual void abort(int code) noexcept = 0;
  /// Called once, when no message is on its way.
  virtual void close() = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
