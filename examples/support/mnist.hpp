// Loads the MNIST digits from the four IDX files they are published as.
#pragma once

#include "dataset.hpp"
#include "errors.hpp"
#include "idx_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

namespace examples {

namespace detail {

/// The path of `name` in `directory`, with or without `.gz`.
inline std::string find_mnist_file(const std::string& directory, const std::string& name) {
  for (const auto& candidate : {name, name + ".gz"}) {
    auto path = std::filesystem::path(directory) / candidate;
    if (std::filesystem::exists(path)) return path.string();
  }
  throw data_error(directory + ": holds neither " + name + " nor " + name + ".gz");
}

/// The names of a part's files, without `.gz`.
inline std::string images_name(const std::string& part) { return part + "-images-idx3-ubyte"; }
inline std::string labels_name(const std::string& part) { return part + "-labels-idx1-ubyte"; }

inline dataset load_mnist_part(const std::string& directory, const std::string& part) {
  auto images_path = find_mnist_file(directory, images_name(part));
  auto labels_path = find_mnist_file(directory, labels_name(part));
  auto images = read_idx<3>(images_path);
  auto labels = read_idx<1>(labels_path);
  auto [count, height, width] = images.extents;
  if (labels.extents[0] != count)
    throw data_error(labels_path + ": holds " + std::to_string(labels.extents[0]) + " labels for the " +
                     std::to_string(count) + " images of " + images_path);

  dataset data{width, height, {}, {}};
  data.pixels.resize(images.values.size());
  std::transform(images.values.begin(), images.values.end(), data.pixels.begin(),
                 [](std::uint8_t value) { return static_cast<float>(value) / 255.f; });
  data.labels.assign(labels.values.begin(), labels.values.end());
  for (std::size_t i = 0; i < count; ++i)
    if (data.labels[i] >= static_cast<int>(classes))
      throw data_error(labels_path + ": label " + std::to_string(i) + " is " + std::to_string(data.labels[i]) +
                       ", expected 0 to 9");
  return data;
}

} // namespace detail

/// The files in `directory` that `load_mnist` would read, if they were there.
inline std::vector<std::string> mnist_paths(const std::string& directory) {
  std::vector<std::string> paths;
  for (const std::string part : {"train", "t10k"})
    for (const auto& name : {detail::images_name(part), detail::labels_name(part)})
      for (const auto* ending : {"", ".gz"})
        paths.push_back((std::filesystem::path(directory) / (name + ending)).string());
  return paths;
}

/// Loads `train-*` as the training rows and `t10k-*` as the held-out rows. Throws `data_error` naming file and fault.
inline divided_dataset load_mnist(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) throw data_error(directory + ": is not a directory");
  auto load = [&](const std::string& part) {
    try {
      return detail::load_mnist_part(directory, part);
    } catch (const std::bad_alloc&) {
      throw data_error(directory + ": the images of " + part + " do not fit into memory");
    }
  };
  divided_dataset data{load("train"), load("t10k")};
  if (data.training.width != data.held_out.width || data.training.height != data.held_out.height)
    throw data_error(directory + ": the images of train and t10k differ in size");
  return data;
}

} // namespace examples
