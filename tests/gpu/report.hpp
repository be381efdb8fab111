// A report of lines, each of which is a JSON object: what has been written stays, whatever happens to the program.
#pragma once

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace gpu {

/// One JSON object, member by member.
class json_object {
 public:
  json_object& text(std::string_view name, std::string_view value) { return member(name, quoted(value)); }
  json_object& number(std::string_view name, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return member(name, std::isfinite(value) ? digits : "null");
  }
  template <class Values> json_object& list(std::string_view name, const Values& values) {
    std::string all;
    for (const json_object& each : values) all += (all.empty() ? "" : ", ") + each.str();
    return member(name, "[" + all + "]");
  }
  std::string str() const { return "{" + members_ + "}"; }

 private:
  json_object& member(std::string_view name, const std::string& value) {
    members_ += (members_.empty() ? "" : ", ") + quoted(name) + ": " + value;
    return *this;
  }
  static std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
  }
  std::string members_;
};

/// What a stage finds out, line by line in a file, if there is one.
class report {
 public:
  report(std::string stage, const std::string& path) : stage_(std::move(stage)) {
    if (path.empty()) return;
    file_.open(path, std::ios::app);
    if (!file_) throw std::runtime_error("cannot write to " + path);
  }
  /// A line of this stage, to be completed and written.
  json_object line() const { return json_object().text("stage", stage_); }
  void write(const json_object& line) {
    if (file_.is_open()) file_ << line.str() << std::endl;
    if (file_.fail()) throw std::runtime_error("the report cannot be written");
  }

 private:
  std::string stage_;
  std::ofstream file_;
};

} // namespace gpu
