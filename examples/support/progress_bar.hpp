// A progress bar for a terminal; silent when the output goes elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

namespace examples {

/// Draws `title [#####-----] done/total` on one line, again each time a cell fills, and wipes it at the end of its
/// life, so that what is printed next takes its place.
class progress_bar {
 public:
  /// Draws on `out` if `enabled`, which should say whether `out` is a terminal.
  progress_bar(std::ostream& out, bool enabled, std::string title, std::size_t total)
      : out_(out), enabled_(enabled), title_(std::move(title)), total_(std::max<std::size_t>(total, 1)) {
    draw(0);
  }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() {
    if (enabled_) out_ << "\r\033[K" << std::flush;
  }

  /// Says that `done` of the total are done.
  void update(std::size_t done) {
    done = std::min(done, total_);
    if (done * cells / total_ != drawn_) draw(done);
  }

 private:
  static constexpr std::size_t cells = 30;

  void draw(std::size_t done) {
    drawn_ = done * cells / total_;
    if (!enabled_) return;
    out_ << '\r' << title_ << " [" << std::string(drawn_, '#') << std::string(cells - drawn_, '-') << "] " << done
         << '/' << total_ << "\033[K" << std::flush;
  }

  std::ostream& out_;
  bool enabled_;
  std::string title_;
  std::size_t total_;
  std::size_t drawn_ = 0;
};

} // namespace examples
