// Compares a rewritten network with the first one by running both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/network/run.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Calls f(r, c, k, number in before, number in after, tensor of before) for each element of each output of `after`.
/// Returns an error if an output of `before` is not there element for element.
template <class Number, class F>
std::string compare_outputs(const network& before, const network& after, const std::vector<std::vector<Number>>& x,
                            const std::vector<std::vector<Number>>& y, F&& f) {
  std::vector<std::vector<bool>> seen(before.tensors.size());
  for (tensor_id t = 0; t < before.tensors.size(); ++t)
    if (before.tensors[t].output) seen[t].resize(x[t].size());
  for (tensor_id t = 0; t < after.tensors.size(); ++t) {
    const typed_tensor& part = after.tensors[t];
    if (!part.output) continue;
    if (part.origin >= before.tensors.size() || !before.tensors[part.origin].output)
      return labelled("tensor ", t, part.name) + " is an output, but its origin is not";
    const typed_tensor& from = before.tensors[part.origin];
    if (!whole(from.size).contains(part.part)) return labelled("tensor ", t, part.name) + " lies outside its origin";
    std::size_t i = 0;
    for (coordinate r = part.part.rows.first; r < part.part.rows.last; ++r)
      for (coordinate c = part.part.columns.first; c < part.part.columns.last; ++c)
        for (coordinate k = part.part.channels.first; k < part.part.channels.last; ++k, ++i) {
          const auto at = static_cast<std::size_t>((r * from.size.columns + c) * from.size.channels + k);
          seen[part.origin][at] = true;
          if (!f(r, c, k, x[part.origin][at], y[t][i]))
            return "row " + std::to_string(r) + ", column " + std::to_string(c) + ", channel " + std::to_string(k) + " of " +
                   labelled("tensor ", part.origin, from.name) + " differ";
        }
  }
  for (tensor_id t = 0; t < before.tensors.size(); ++t)
    for (std::size_t i = 0; i < seen[t].size(); ++i)
      if (!seen[t][i]) return "element " + std::to_string(i) + " of output " + before.tensors[t].name + " is not computed";
  return {};
}

}  // namespace detail

/// Explains why two networks disagree over these numbers: names the first element of an output that differs, or says why one
/// does not run. An empty text if all outputs are equal. `before` is a first network, `after` has its provenance. Costs two
/// runs, which ask `go_on` as `run` does; a network whose run it ends does not run.
template <class Numbers>
std::string disagreement_over(const network& before, const network& after, const Numbers& numbers,
                              base::function_ref<bool()> go_on = {}) {
  const auto x = run(before, numbers, go_on);
  if (!x) return "the first network: " + x.error().message;
  const auto y = run(after, numbers, go_on);
  if (!y) return "the rewritten network: " + y.error().message;
  return detail::compare_outputs(before, after, *x, *y,
                                 [](coordinate, coordinate, coordinate, auto a, auto b) { return a == b; });
}

/// Whether all values of a network are eight-bit integers with a scale.
inline bool is_quantized(const network& net) {
  for (const typed_tensor& t : net.tensors)
    if (t.role == tensor_role::value && ((t.element != element::int8 && t.element != element::uint8) || t.quant.scale == 0))
      return false;
  return true;
}

/// The guarantee of a rewrite: it keeps the values of real arithmetic, or each rounded one.
enum class exactness : unsigned char { reals, bits };

/// Explains how a rewritten network computes something else than the first one; empty if it does not. Over the field always
/// (if only real values count, a mean may divide there before or after a linear part); with `exactness::bits` also in
/// float32 or, for a quantized network, in integers, bit for bit, up to the sign of zero.
MEMSCHED_FUNCTION std::string disagreement(const network& before, const network& after, std::uint64_t seed = 1,
                                           exactness exact = exactness::bits);

/// The same; nothing if `go_on`, which is asked before each row that an operator computes, said no before the runs ended.
MEMSCHED_FUNCTION std::optional<std::string> disagreement(const network& before, const network& after, std::uint64_t seed,
                                                          exactness exact, base::function_ref<bool()> go_on);

/// The largest difference of an output element in float32, relative to the largest output element, as another order of
/// sums causes it. Negative if the networks do not run.
MEMSCHED_FUNCTION double float_difference(const network& before, const network& after, std::uint64_t seed = 1);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cmath>

#include <memsched/network/integers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::string disagreement(const network& before, const network& after, std::uint64_t seed,
                                           exactness exact) {
  return *disagreement(before, after, seed, exact, [] { return true; });
}

MEMSCHED_FUNCTION std::optional<std::string> disagreement(const network& before, const network& after, std::uint64_t seed,
                                                          exactness exact, base::function_ref<bool()> go_on) {
  bool over = false;
  const auto asked = [&] { return over = over || !go_on(), !over; };
  const auto named = [&](const char* numbers, const std::string& text) {
    return over ? std::nullopt : std::optional(text.empty() ? text : numbers + text);
  };
  std::string text = disagreement_over(before, after, field_numbers{.seed = seed}, asked);
  if (!over && !text.empty() && exact == exactness::reals)
    text = disagreement_over(before, after, field_numbers{.seed = seed, .linear_means = true}, asked);
  if (over || !text.empty()) return named("field: ", text);
  if (is_quantized(before))  // integer sums are exact in any order
    return named("int8: ", disagreement_over(before, after, int8_numbers{seed}, asked));
  if (exact == exactness::reals) return std::string();
  return named("float32: ", disagreement_over(before, after, float_numbers{seed}, asked));
}

MEMSCHED_FUNCTION double float_difference(const network& before, const network& after, std::uint64_t seed) {
  const auto x = run(before, float_numbers{seed}), y = run(after, float_numbers{seed});
  if (!x || !y) return -1;
  double most = 0, difference = 0;
  const std::string text =
      detail::compare_outputs(before, after, *x, *y, [&](coordinate, coordinate, coordinate, float a, float b) {
        most = std::max(most, static_cast<double>(std::abs(a)));
        difference = std::max(difference, std::abs(static_cast<double>(a) - static_cast<double>(b)));
        return true;
      });
  return text.empty() ? difference / std::max(most, 1e-30) : -1;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
