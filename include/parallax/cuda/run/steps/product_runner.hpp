// The products of a section: into their own results, into the results of loops that copy them, or added to a base.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/product_steps.hpp>
#include <parallax/program/section_steps.hpp>

#include <bit>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `Section` is the section's runner.
template <class Section> class product_runner {
 public:
  explicit product_runner(Section& section) : of(section) {}

  /// Runs a product at each position that runs the section.
  void run(const product_step& step) { run(step, resolved_product(of.section, step), step.result); }
  void run_at(const product_step& step, int p) { run_at(step, p, {of.section, step}, step.result); }

  /// Whether the library adds a product to its base.
  bool accumulates(const accumulation_step& step) const {
    const resolved_product product(of.section, product_of(of.section.plan, step));
    return product.batch_rank == 0 && product.rows > 0 && product.columns > 0 && product.depth > 0;
  }
  /// Runs such a product: with the sums beside it if the library can, otherwise in parts.
  void run_at(const accumulation_step& step, int p) {
    const product_step& made = product_of(of.section.plan, step);
    run_at(step, p, made, {of.section, made});
  }
  /// Runs a product into the result of the loop that copies it; false if this takes more calls of the library than
  /// product and copy together.
  bool run_placed(const placed_product_step& whole) {
    const product_step& step = product_of(of.section.plan, whole);
    const resolved_product plain(of.section, step), placed(of.section, step, whole);
    const bool is_one_call = of.addresses_for(step, whole.result, of.first_position()) != nullptr;
    if (!is_one_call && batches_of(placed).calls() > batches_of(plain).calls() + 1) return false;
    run(step, placed, whole.result);
    return true;
  }

 private:
  using api = typename Section::api;
  Section& of;

  void run(const product_step& step, const resolved_product& product, buffer_id result) {
    for (const buffer_id used : {result, step.left, step.right}) // waits for it before several threads ask for it
      of.data(used, of.first_position());
    of.run_at_positions(1, [&](int p) {
      if (of.runs_at(p)) run_at(step, p, product, result);
    });
  }
  void run_at(const product_step& step, int p, const resolved_product& product, buffer_id result) {
    run_batched_product<api>(*of.all.devices[index_of(p)], product, of.data(result, p),
                             byte_at(of.data(step.left, p), product.left_offset),
                             byte_at(of.data(step.right, p), product.right_offset), of.addresses_for(step, result, p));
  }
  void run_at(const accumulation_step& step, int p, const product_step& made, const resolved_product& product) {
    const plain_span<const step_record> parts = of.section.plan[step.parts];
    matrix_product call = matrix_of(product);
    call.left = byte_at(of.data(made.left, p), product.left_offset);
    call.right = byte_at(of.data(made.right, p), product.right_offset);
    call.result = of.data(step.result, p);
    call.base = of.data(step.base, p);
    call.scale = std::bit_cast<double>(step.scale_bits);
    call.workspace = of.all.devices[index_of(p)]->product_workspace();
    if (parts[0].kind == step_kind::epilogue) {
      const epilogue_step& beside = of.section.plan.template at<epilogue_step>(parts[0].index);
      if (product.depth > 1) { // the library has no such sums of products of depth 1
        matrix_product with_sums = call;
        with_sums.epilogue.bias_gradient = of.data(beside.bias_gradient, p);
        with_sums.epilogue.sums_right = true;
        if (multiply(with_sums, p)) return;
      }
      for (const step_record& sums : of.section.plan[beside.parts].subspan(1))
        of.run_at(of.section.plan.template at<kernel_step>(sums.index), p);
    }
    if (multiply(call, p)) return;
    run_at(made, p, product, made.result);
    of.run_at(of.section.plan.template at<kernel_step>(parts[1].index), p);
  }
  /// Enqueues a call; false, and nothing is enqueued, if the library does not support it.
  bool multiply(const matrix_product& call, int p) {
    const device<api>& on = *of.all.devices[index_of(p)];
    on.activate();
    status done = on.can_multiply(call);
    if (done.ok()) done = on.multiply(call);
    if (done.is == status::kind::unsupported) return false;
    check(done, on.number);
    return true;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
