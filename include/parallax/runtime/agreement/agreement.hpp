// What processes agree on before they first run a program together: that it is the same, and how many rows each has.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/gather_bytes.hpp>
#include <parallax/processes/process_mesh.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/runtime/agreement/program_hash.hpp>
#include <parallax/runtime/guard_message.hpp>
#include <parallax/runtime/resolve.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The extents of an argument, or its numbers if it is a list of extents.
using argument_extents = std::vector<std::int64_t>;

/// What runs a program, such as {"the host's registers", "AVX2"}. Processes have the same.
struct runner_name {
  std::string_view what, which;
  std::string text() const { return std::string(what) + (which.empty() ? "" : " ") + std::string(which); }
};

/// The knowledge that all processes share of a program and of a call's arguments: the extents of each process.
class agreement {
 public:
  /// The extents of this process.
  const resolved_extents& extents() const { return *of_process[index_of(own)]; }

  /// A hash of the program and of all processes' extents, which tells this agreement from others.
  std::uint64_t stamp() const { return about_all; }
  /// The mesh of all processes that a section runs on.
  const processes::process_mesh& mesh_of(section_id section) const { return *meshes[index_of(section)]; }

  /// The agreement about a program and arguments of these extents. The first time, processes tell each other what they
  /// call, and all of them have to call then: extents change on all processes at one call, or on none. Throws on all of
  /// them: `process_error` if they do not call the same, `shape_error` if the extents of one do not fit. `devices` is
  /// the number of devices of this process.
  static const agreement& about(processes::world& all, const plan_view& plan, runner_name by, int devices,
                                const recycled_vector<runtime_value>& arguments) {
    std::vector<std::uint64_t> key{reinterpret_cast<std::uintptr_t>(&plan.at<section_record>(0))};
    for (const runtime_value& each : arguments) {
      key.push_back(index_of(each.shape.size()));
      for (std::int64_t extent : each.shape) key.push_back(static_cast<std::uint64_t>(extent));
    }
    const auto known = all.agreements.find(key);
    if (known != all.agreements.end()) return *static_cast<const agreement*>(known->second.get());
    auto made = std::make_shared<const agreement>(agreement(all, plan, by, devices, arguments));
    const agreement& result = *made;
    all.agreements.emplace(std::move(key), std::move(made));
    return result;
  }

 private:
  int own;
  std::uint64_t about_all = 0;
  std::vector<std::unique_ptr<resolved_extents>> of_process;
  std::vector<std::unique_ptr<const processes::process_mesh>> meshes; ///< by section

  struct call {
    program_hash program;
    std::string version;
    std::string runner;
    int devices = 0;
    std::vector<argument_extents> arguments{};

    std::vector<std::byte> bytes() const {
      processes::byte_writer out;
      out.put(program);
      out.put(version);
      out.put(runner);
      out.put(devices);
      out.put(arguments.size());
      for (const argument_extents& each : arguments) {
        out.put(each.size());
        out.put(each.data(), each.size() * sizeof(std::int64_t));
      }
      return std::move(out.bytes);
    }
    static call read(const std::vector<std::byte>& bytes) {
      processes::byte_reader in(bytes.data(), bytes.size());
      call result;
      result.program = in.take<program_hash>();
      result.version = in.take_text();
      result.runner = in.take_text();
      result.devices = in.take<int>();
      for (auto arguments = in.take<std::size_t>(); arguments > 0; --arguments) {
        result.arguments.emplace_back();
        for (auto rank = in.take<std::size_t>(); rank > 0; --rank)
          result.arguments.back().push_back(in.take<std::int64_t>());
      }
      return result;
    }
    std::uint64_t hash() const {
      std::uint64_t all = mix(program.high, program.low);
      for (const argument_extents& each : arguments) all = mix(mix(all, each.size()), each.data(), each.size());
      return all;
    }
    std::string text() const {
      std::string text = "arguments of shapes (";
      for (std::size_t k = 0; k < arguments.size(); ++k) {
        text += k == 0 ? "[" : ", [";
        for (std::size_t i = 0; i < arguments[k].size(); ++i) {
          if (i > 0) text += ',';
          text += std::to_string(arguments[k][i]);
        }
        text += ']';
      }
      return text + ")";
    }
  };

  agreement(processes::world& all, const plan_view& plan, runner_name by, int devices,
            const recycled_vector<runtime_value>& arguments)
      : own(all.index()) {
    call mine{program_hash::of(plan), std::string(library_version), by.text(), devices, {}};
    for (const runtime_value& each : arguments) mine.arguments.emplace_back(each.shape.begin(), each.shape.end());
    std::vector<call> calls;
    for (const std::vector<std::byte>& each :
         processes::gather_bytes(all, processes::gathering::handshake, "the first call of a program", mine.bytes()))
      calls.push_back(call::read(each));
    for (const call& each : calls) about_all = mix(about_all, each.hash());
    for (std::size_t p = 1; p < calls.size(); ++p) check_same(calls[0], calls[p], static_cast<int>(p));
    resolve(plan, calls);
    for (std::size_t p = 0; p < calls.size(); ++p) {
      for (const guard_record& g : plan.all<guard_record>())
        if (!guard_holds(plan, *of_process[p], g))
          throw shape_error("process " + std::to_string(p) + ": " + guard_message(plan, *of_process[p], g).text());
      check_rows(plan, calls, p);
    }
    for (const section_record& section : plan.all<section_record>())
      meshes.push_back(section.mesh.count == 0 ? nullptr : mesh_of_all(all, plan, section, calls));
  }

  /// The number of places of each process in a section's mesh: its number of devices if all devices make up the mesh.
  std::vector<std::int64_t> places_of_section(const plan_view& plan, const section_record& section,
                                              const std::vector<call>& calls) const {
    std::vector<std::int64_t> counts;
    for (std::size_t p = 0; p < calls.size(); ++p) {
      std::int64_t places = 1;
      for (dim size : plan[section.mesh]) places *= (*of_process[p])[size];
      counts.push_back(section.is_whole_mesh ? calls[p].devices : places);
    }
    return counts;
  }
  /// The number of instances along the outermost axis, on all processes.
  std::int64_t rows_of_all(const plan_view& plan, const section_record& section, const std::vector<call>& calls) const {
    std::int64_t inner = 1, places = 0;
    for (dim size : plan[section.mesh].subspan(1)) inner *= (*of_process[index_of(own)])[size];
    for (std::int64_t each : places_of_section(plan, section, calls)) places += each;
    return places / inner;
  }
  std::unique_ptr<const processes::process_mesh> mesh_of_all(processes::world& all, const plan_view& plan,
                                                             const section_record& section,
                                                             const std::vector<call>& calls) const {
    std::vector<std::int64_t> sizes;
    for (dim size : plan[section.mesh]) sizes.push_back((*of_process[index_of(own)])[size]);
    sizes[0] = rows_of_all(plan, section, calls);
    return std::make_unique<const processes::process_mesh>(all, own, std::move(sizes),
                                                           places_of_section(plan, section, calls));
  }

  static void check_same(const call& first, const call& other, int process) {
    const auto refuse = [&](const std::string& what, const std::string& of_first, const std::string& of_other) {
      throw process_error(process, "processes do not call the same: " + what + ": process 0 " + of_first +
                                       ", process " + std::to_string(process) + " " + of_other);
    };
    if (first.version != other.version) refuse("the library's version", "has " + first.version, "has " + other.version);
    if (!(first.program == other.program))
      refuse("another program", "calls one with " + first.text(), "calls one with " + other.text());
    if (first.runner != other.runner) refuse("what programs run on", "has " + first.runner, "has " + other.runner);
  }

  /// Resolves one entry on all processes before the next: a sum over processes asks all of them for entries before it.
  void resolve(const plan_view& plan, const std::vector<call>& calls) {
    for (std::size_t p = 0; p < calls.size(); ++p) of_process.push_back(std::make_unique<resolved_extents>(plan));
    for (std::size_t number = 0; number < plan.all<entry_record>().size(); ++number)
      for (std::size_t p = 0; p < calls.size(); ++p)
        of_process[p]->resolve(
            plan, number, [&](std::size_t leaf) { return calls[p].arguments[leaf].data(); },
            [&](dim rows) {
              for (const section_record& section : plan.all<section_record>())
                if (section.is_whole_mesh && plan[section.mesh][0] == rows) return rows_of_all(plan, section, calls);
              std::int64_t sum = 0;
              for (const auto& each : of_process) sum += (*each)[rows];
              return sum;
            });
  }

  /// Throws `shape_error` if the program was compiled for another number of instances. Most programs do not depend on
  /// it.
  void check_axis_size(const section_record& section, std::size_t p, std::int64_t rows) const {
    if (section.axis_size == 0 || (*of_process[p])[section.axis_size] == rows) return;
    throw shape_error("pmap: the mapped axis has " + std::to_string(rows) + " instances on all processes, but " +
                      std::to_string((*of_process[p])[section.axis_size]) +
                      " is what the program was compiled with; map an axis of dynamic extent");
  }

  /// Checks the mapped axes, and that extents differ between processes only if they are numbers of rows.
  void check_rows(const plan_view& plan, const std::vector<call>& calls, std::size_t p) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows; // of process 0 and of this one
    for (const section_record& section : plan.all<section_record>()) {
      if (section.mesh.count == 0) continue;
      const dim of_axis = plan[section.mesh][0];
      rows.push_back({(*of_process[0])[of_axis], (*of_process[p])[of_axis]});
      if (rows.back().second == 0)
        throw shape_error("pmap: the mapped axis has extent 0 on process " + std::to_string(p) +
                          "; map at least one element");
      check_axis_size(section, p, rows_of_all(plan, section, calls));
      const std::int64_t devices = places_of_section(plan, section, calls)[p];
      if (devices > calls[p].devices)
        throw shape_error("process " + std::to_string(p) + ": compiling computation that requires " +
                          std::to_string(devices) + " logical devices, but only " + std::to_string(calls[p].devices) +
                          " devices are available");
    }
    for (std::size_t k = 0; k < calls[0].arguments.size(); ++k)
      for (std::size_t i = 0; i < calls[0].arguments[k].size(); ++i) {
        const std::pair both{calls[0].arguments[k][i], calls[p].arguments[k][i]};
        if (both.first == both.second || std::find(rows.begin(), rows.end(), both) != rows.end()) continue;
        throw process_error(static_cast<int>(p), "processes do not call the same: axis " + std::to_string(i) +
                                                     " of argument " + std::to_string(k) +
                                                     ": process 0 calls a program with " + calls[0].text() +
                                                     ", process " + std::to_string(p) + " with " + calls[p].text());
      }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
