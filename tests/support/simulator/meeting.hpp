// Where the simulated machines of several processes meet: a folder in which each leaves what others wait for.
#pragma once

#include "support/simulator/faults.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

using byte_string = std::vector<std::byte>;

/// What processes know a clique by: the folder's name.
struct clique_name {
  std::array<char, 128> folder{};
};

/// A folder for one clique of several processes, or for the cliques that are split from it.
class meeting {
 public:
  /// The place `under` a clique's folder.
  explicit meeting(std::string folder) : folder_(std::move(folder)) {}

  /// A new folder, which goes when this process ends.
  static clique_name create() {
    struct folders {
      std::vector<std::string> made;
      ~folders() {
        std::error_code ignored;
        for (const std::string& each : made) std::filesystem::remove_all(each, ignored);
      }
    };
    static folders own;
    std::string name = (std::filesystem::temp_directory_path() / "simulated-clique-XXXXXX").string();
    clique_name result;
    if (::mkdtemp(name.data()) == nullptr || name.size() >= result.folder.size()) fail("no folder ", name);
    own.made.push_back(name);
    std::memcpy(result.folder.data(), name.data(), name.size());
    return result;
  }

  /// A meeting of some members of this one.
  meeting part(const std::string& name) const {
    std::filesystem::create_directories(folder_ + "/" + name);
    return meeting(folder_ + "/" + name);
  }

  /// Leaves something under a name.
  void leave(const std::string& name, const byte_string& content) const {
    const std::string file = folder_ + "/" + name, unfinished = file + ".by" + std::to_string(::getpid());
    std::ofstream(unfinished, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    std::filesystem::rename(unfinished, file); // others see all of it or nothing
  }
  /// What has been left under a name; nothing so far as it has not.
  std::optional<byte_string> find(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    if (!file) return {};
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    byte_string content(text.size());
    if (!text.empty()) std::memcpy(content.data(), text.data(), text.size());
    return content;
  }

 private:
  std::string folder_;
};

/// A plain value as bytes, and back.
template <class T> byte_string as_bytes(const T& value) {
  byte_string content(sizeof value);
  std::memcpy(content.data(), &value, sizeof value);
  return content;
}
template <class T> T value_of(const byte_string& content) {
  if (content.size() < sizeof(T)) fail("what another process has left is too short");
  T value;
  std::memcpy(&value, content.data(), sizeof value);
  return value;
}

} // namespace simulator
