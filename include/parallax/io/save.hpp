// Trees of arrays in files, for programs that start again: an archive that NumPy reads as .npz. Not part of
// <parallax/parallax.hpp>.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/io/npy_header.hpp>
#include <parallax/io/zip.hpp>
#include <parallax/runtime/agreement/program_hash.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The 128-bit hash of a program, which `save` writes beside the data that the program works on.
using runtime::program_hash;

/// The hash of the program of a function for arguments of these shapes, as `cost` takes them. Programs that do the same
/// have equal hashes. A constant.
template <class Function, class... Args> constexpr program_hash hash_of(const Function&, const Args&...) {
  return program_hash::of(detail::program<Function, detail::abstract_t<Args>...>::plan);
}

namespace io::detail {

/// NumPy's name of a type. NumPy has no bfloat16, which is written as its bits.
constexpr std::string_view npy_type(element_type type) {
  switch (type) {
  case element_type::boolean: return "|b1";
  case element_type::uint8: return "|u1";
  case element_type::int32: return "<i4";
  case element_type::uint32: return "<u4";
  case element_type::int64: return "<i8";
  case element_type::uint64: return "<u8";
  case element_type::float16: return "<f2";
  case element_type::bfloat16: return "<u2";
  case element_type::float32: return "<f4";
  case element_type::float64: return "<f8";
  }
  return "";
}
inline std::string leaf_name(std::size_t number, element_type type) {
  return "leaf_" + std::to_string(number) + (type == element_type::bfloat16 ? ".bfloat16.npy" : ".npy");
}
inline std::string shape_text(const runtime::runtime_value& value) {
  std::string text = "(";
  for (std::int64_t extent : value.shape) text += std::to_string(extent) + ", ";
  if (text.size() > 1) text.pop_back();
  if (value.shape.size() > 1) text.pop_back(); // with several extents, the last one has no comma
  return text + ")";
}
/// The head of an .npy file.
inline std::string npy_head(const runtime::runtime_value& value) {
  std::string text = "{'descr': '" + std::string(npy_type(value.type)) +
                     "', 'fortran_order': False, 'shape': " + shape_text(value) + ", }";
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

class leaf_reader {
 public:
  leaf_reader(zip_reader& from, std::string path) : archive(from), name(std::move(path)) {}

  template <class L> L read(std::size_t number) { return make(std::type_identity<L>{}, number); }

 private:
  zip_reader& archive;
  std::string name;

  template <class T, auto Shape> array<T, Shape> make(std::type_identity<array<T, Shape>> as, std::size_t number) {
    runtime::runtime_value value = read_value(number, element_type_of<T>, array<T, Shape>::rank);
    constexpr auto fixed = static_extents(typename array<T, Shape>::extents_type{});
    int axis = 0;
    for (std::int64_t extent : fixed) {
      if (extent != dyn && extent != value.shape[axis])
        refuse(number, "has shape " + shape_text(value) + ", but its extent along axis " + std::to_string(axis) +
                           " is to be " + std::to_string(extent));
      ++axis;
    }
    return runtime::array_of(as, std::move(value));
  }
  template <scalar T> T make(std::type_identity<T>, std::size_t number) {
    const runtime::runtime_value value = read_value(number, scalar_type_of<T>, 0);
    return static_cast<T>(*reinterpret_cast<const element_t<scalar_type_of<T>>*>(value.host.data()));
  }
  template <std::int64_t... E> static constexpr std::array<std::int64_t, sizeof...(E)> static_extents(extents_t<E...>) {
    return {E...};
  }
  [[noreturn]] void refuse(std::size_t number, const std::string& what) const {
    throw error("load: leaf " + std::to_string(number) + " of " + name + " " + what);
  }

  runtime::runtime_value read_value(std::size_t number, element_type type, int rank) {
    const std::string piece = leaf_name(number, type);
    if (!archive.has(piece)) refuse(number, "is not there, or of another type than " + std::string(name_of(type)));
    const std::vector<std::byte> bytes = archive.read(piece);
    const auto head = read_npy_header({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!head) refuse(number, "is no array");
    if (head->descr != npy_type(type)) refuse(number, "is of another type than " + std::string(name_of(type)));
    if (head->fortran_order) refuse(number, "is in column-major order");
    if (std::cmp_not_equal(head->shape.size(), rank))
      refuse(number, "has rank " + std::to_string(head->shape.size()) + ", but " + std::to_string(rank) + " is wanted");
    runtime::runtime_value value;
    value.type = type;
    for (std::int64_t extent : head->shape) value.shape.push_back(extent);
    refuse_too_large(number, value.shape);
    if (bytes.size() != head->size + value.bytes()) refuse(number, "has another number of elements than its shape");
    value.on_host = true;
    value.host = buffer::allocate(value.bytes());
    for (std::size_t i = head->size; type == element_type::boolean && i < bytes.size(); ++i)
      if (bytes[i] > std::byte{1}) refuse(number, "has truth values that are neither");
    if (value.bytes() > 0) std::memcpy(value.host.data(), bytes.data() + head->size, value.bytes());
    return value;
  }
  /// Checks that sizes in bytes can be represented.
  template <class Shape> void refuse_too_large(std::size_t number, const Shape& shape) const {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    std::int64_t product = 1;
    for (std::int64_t extent : shape) {
      if (extent > most || product > most / std::max<std::int64_t>(extent, 1)) refuse(number, "is too large");
      product *= std::max<std::int64_t>(extent, 1);
    }
  }
};

/// Throws `error` unless the file was saved for `program`.
inline void check_program(io::zip_reader& archive, const std::string& path, const program_hash& program) {
  const std::vector<std::byte> hash = archive.read("program.npy");
  const auto head = io::read_npy_header({reinterpret_cast<const char*>(hash.data()), hash.size()});
  std::uint64_t words[2]{};
  if (!head || head->descr != "<u8" || head->shape != std::vector<std::int64_t>{2} ||
      hash.size() != head->size + sizeof words)
    throw error("load: " + path + " is not what save has written");
  std::memcpy(words, hash.data() + head->size, sizeof words);
  if (words[0] != program.high || words[1] != program.low)
    throw error("load: " + path + " was saved for another program, or by another version of it");
}

} // namespace io::detail

/// Writes the arrays and numbers of a tree to a file, with the hash of the program that works on them. The file is
/// written under another name and then renamed, so that only a complete file replaces an existing one. If several
/// processes hold the same tree, one of them saves it. Throws `error` if the system refuses an operation. NumPy reads
/// the file: numpy.savez
template <class Tree> void save(const std::string& path, const Tree& tree, const program_hash& program = {}) {
  io::zip_writer archive(path);
  const std::uint64_t words[] = {program.high, program.low};
  runtime::runtime_value hash = runtime::value_of_shape(element_type::uint64, std::array<std::int64_t, 1>{2});
  archive.add("program.npy", io::detail::npy_head(hash), reinterpret_cast<const std::byte*>(words), sizeof words);
  std::size_t number = 0;
  tree_for_each(
      [&](const auto& leaf) {
        runtime::runtime_value value = runtime::value_of(leaf);
        archive.add(io::detail::leaf_name(number++, value.type), io::detail::npy_head(value), value.host_data(),
                    value.bytes());
      },
      tree);
  archive.finish();
}

/// Reads a tree that `save` wrote, or that numpy.savez wrote under the names `leaf_0`, `leaf_1` and so on. The tree has
/// as many leaves, of the same types and ranks, and of the same extents if they are static in `Tree`. Throws `error` if
/// the file is of another kind, is damaged, or was written for another program. NumPy: numpy.load
template <class Tree> Tree load(const std::string& path, const program_hash& program = {}) {
  io::zip_reader archive(path);
  if (archive.has("program.npy")) io::detail::check_program(archive, path, program);
  else if (program != program_hash()) throw error("load: " + path + " was saved for no program");
  constexpr auto leaves = static_cast<std::size_t>(detail::leaf_count<Tree>);
  for (element_type type : {element_type::float32, element_type::bfloat16})
    if (archive.has(io::detail::leaf_name(leaves, type)))
      throw error("load: " + path + " has more than " + std::to_string(leaves) + " leaves");
  io::detail::leaf_reader reader(archive, path);
  auto leaf = [&]<class L, int Number>() { return reader.template read<L>(static_cast<std::size_t>(Number)); };
  return detail::tree_build<Tree>(leaf);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
