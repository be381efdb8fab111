// In which pass over a row each statement of a row kernel is evaluated.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/centred_sums.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// `FewPasses`: centred sums do not wait for their centres. This saves a pass, which counts if every pass reads the
/// rows from memory, and costs some arithmetic.
template <class Kernel, bool FewPasses = false> struct row_schedule;

/// A row is gone over in passes: a reduction's result is known after the pass that reads its operand. Between passes,
/// statements with one value for a whole row (uniform statements) are evaluated once.
template <kernel_result Result, class Reduction, class... S, bool FewPasses>
struct row_schedule<kernel<Result, Reduction, S...>, FewPasses> {
  static constexpr int size = static_cast<int>(sizeof...(S));

 private:
  static constexpr std::size_t count = sizeof...(S);

  static constexpr std::array<kernel_statement, count> statements{S::record...};

  struct facts {
    std::array<int, count> pass{};
    std::array<bool, count> uniform{};
    std::array<centred_sum, count> centred{}; ///< of sums that do not wait for their centres
    int passes = 0, rounds = 0;
  };
  static constexpr facts find() {
    facts f;
    for (std::size_t i = 0; i < count; ++i) {
      const kernel_statement& s = statements[i];
      int pass = 0;
      bool uniform =
          !is_load(s.kind) || s.kind == statement_kind::load_scalar || s.kind == statement_kind::load_constant;
      for (int number : s.operands) {
        const std::size_t operand = index_of(number);
        pass = f.pass[operand] > pass ? f.pass[operand] : pass;
        uniform = uniform && f.uniform[operand];
      }
      if (FewPasses && s.kind == statement_kind::reduce_row) {
        const centred_sum sum = centred_sum_finder(statements).find(static_cast<int>(i));
        const int of_elements = f.pass[index_of(sum.elements)], of_centre = f.pass[index_of(sum.centre)];
        if (sum.kind != centred_kind::none && of_centre > of_elements) {
          f.centred[i] = sum;
          pass = of_centre - 1;
        }
      }
      bool over_row = s.kind == statement_kind::reduce_row || s.kind == statement_kind::store_vector;
      if (over_row && pass >= f.passes) f.passes = pass + 1;
      if (s.kind == statement_kind::reduce_row) ++pass, uniform = true;
      if (s.kind == statement_kind::store_vector) uniform = false;
      f.pass[i] = pass;
      f.uniform[i] = uniform;
      if (pass >= f.rounds) f.rounds = pass + 1;
    }
    return f;
  }
  static constexpr facts known = find();

  using mask = std::array<bool, count>;
  using masks = std::array<mask, index_of(known.passes) + 1>;
  /// By pass, the statements whose values it needs. Values of earlier passes are computed again if `again`, otherwise
  /// remembered.
  static constexpr masks find_needed(bool again) {
    masks all{};
    mask before{}; // at hand already
    for (int pass = 0; pass < known.passes; ++pass) {
      mask& needed = all[index_of(pass)];
      for (std::size_t i = count; i-- > 0;) {
        const kernel_statement& s = statements[i];
        bool root = (s.kind == statement_kind::reduce_row && known.pass[i] == pass + 1) ||
                    (s.kind == statement_kind::store_vector && known.pass[i] == pass);
        needed[i] = needed[i] || root;
        if (!needed[i] || before[i]) continue;
        if (known.centred[i].kind != centred_kind::none) {
          needed[index_of(known.centred[i].elements)] = true;
          continue;
        }
        for (int operand : s.operands)
          if (!known.uniform[index_of(operand)]) needed[index_of(operand)] = true;
      }
      for (std::size_t i = 0; i < count && !again; ++i) before[i] = before[i] || needed[i];
    }
    return all;
  }
  static constexpr masks with_memory = find_needed(false), without_memory = find_needed(true);

 public:
  /// Passes over the elements.
  static constexpr int passes = known.passes;
  /// Uniform statements are evaluated in rounds: round p before pass p.
  static constexpr int rounds = known.rounds;

  static constexpr bool is_uniform(int i) { return known.uniform[index_of(i)]; }
  static constexpr bool in_round(int i, int round) {
    return known.uniform[index_of(i)] && known.pass[index_of(i)] == round;
  }
  /// Whether a reduction's result is known after a pass.
  static constexpr bool reduces_in(int i, int pass) {
    return statements[index_of(i)].kind == statement_kind::reduce_row && known.pass[index_of(i)] == pass + 1;
  }
  static constexpr bool reduces(int pass) {
    for (int i = 0; i < size; ++i)
      if (reduces_in(i, pass)) return true;
    return false;
  }
  /// The centred sum that a reduction forms before its centre is known: the centre is applied after the pass. Of kind
  /// `none` for other reductions.
  static constexpr centred_sum centred(int i) { return known.centred[index_of(i)]; }
  static constexpr bool is_reduction(int i) { return statements[index_of(i)].kind == statement_kind::reduce_row; }
  /// Whether a value of the elements is read or made in a pass; `again` if none is remembered from earlier passes.
  static constexpr bool is_needed(int i, int pass, bool again) {
    if (known.uniform[index_of(i)]) return false;
    return again ? without_memory[index_of(pass)][index_of(i)] : with_memory[index_of(pass)][index_of(i)];
  }
  /// The first pass that needs a value.
  static constexpr int first_pass(int i) {
    for (int pass = 0; pass < passes; ++pass)
      if (is_needed(i, pass, false)) return pass;
    return passes;
  }
  static constexpr bool is_loaded(int i) {
    return is_load(statements[index_of(i)].kind) && !known.uniform[index_of(i)];
  }
  /// The bytes that a pass reads for each element, if none is remembered.
  static constexpr std::size_t bytes_in(int pass) {
    std::size_t bytes = 0;
    for (int i = 0; i < size; ++i)
      if (is_array(i) && is_needed(i, pass, true)) bytes += size_of(statements[index_of(i)].type);
    return bytes;
  }
  /// Whether the elements of an operand are read in several passes, if no values are remembered.
  static constexpr bool is_read_again(int i) {
    int times = 0;
    for (int pass = 0; pass < passes; ++pass) times += is_needed(i, pass, true);
    return is_array(i) && times > 1;
  }
  /// The bytes for each element that it takes to hold what a statement reads in several passes; `held_bytes_before`
  /// adds up those of the statements before one.
  static constexpr std::uint32_t held_bytes(int i) {
    return is_read_again(i) ? static_cast<std::uint32_t>(size_of(statements[index_of(i)].type)) : 0;
  }
  static constexpr std::uint32_t held_bytes_before(int statement) {
    std::uint32_t bytes = 0;
    for (int i = 0; i < statement; ++i) bytes += held_bytes(i);
    return bytes;
  }
  static constexpr bool is_index(int i) { return statements[index_of(i)].kind == statement_kind::load_index; }
  static constexpr bool is_element_store(int i) { return statements[index_of(i)].kind == statement_kind::store_vector; }
  /// The first and the last pass in which a thread remembers a value, if it remembers any.
  static constexpr int remembered_from(int i) { return remembered_from(i, reads_early); }
  static constexpr int remembered_to(int i) {
    int last = 0;
    for (int pass = 0; pass < passes; ++pass)
      if (is_needed(i, pass, false)) last = pass;
    return last;
  }
  static constexpr bool is_remembered(int i) { return !is_index(i) && remembered_from(i) < remembered_to(i); }
  /// The largest number of an element's values that are remembered between two passes.
  static constexpr int most_remembered() { return most_between_passes(reads_early); }
  /// Whether several passes need a value.
  static constexpr bool is_needed_again(int i) {
    int times = 0;
    for (int pass = 0; pass < passes; ++pass) times += is_needed(i, pass, false);
    return times > 1;
  }

 private:
  static constexpr bool is_array(int i) { return is_loaded(i) && !is_index(i); }
  static constexpr int remembered_from(int i, bool early) { return early && is_array(i) ? 0 : first_pass(i); }
  static constexpr int most_between_passes(bool early) {
    int most = 0;
    for (int pass = 0; pass < passes; ++pass) {
      int values = 0;
      for (int i = 0; i < size; ++i) {
        values += !is_index(i) && remembered_from(i, early) <= pass && remembered_to(i) > pass;
      }
      most = values > most ? values : most;
    }
    return most;
  }
  /// Whether the first pass also reads operands that only later passes need: if at most one value is remembered then,
  /// or two if that many are remembered in any case.
  static constexpr bool reads_early = most_between_passes(true) <= (most_between_passes(false) < 2 ? 1 : 2);
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
