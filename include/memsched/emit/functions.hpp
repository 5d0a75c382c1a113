// The functions of a generated library.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include <memsched/emit/cmsis_nn.hpp>
#include <memsched/emit/kernels.hpp>
#include <memsched/emit/runtime.hpp>
#include <memsched/emit/words.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The functions of a library: those that the kinds in use need.
struct c_functions {
  bool real = true;              ///< of float32, else of eight-bit integers
  std::set<std::string> used{};  ///< kinds
  bool curved = false;           ///< real activations beyond bounds
  bool tabled = false;           ///< integer ones, as tables
  cmsis_kinds called{};          ///< kinds that functions of CMSIS-NN compute

  bool uses(op_kind k) const { return used.count(c_kind_name(k)) != 0; }
  bool uses(const char* k) const { return used.count(k) != 0; }
  /// Whether functions of math.h are called.
  bool needs_math() const {
    return curved || uses(op_kind::resize_bilinear) || uses(op_kind::resize_nearest) || (real && uses(op_kind::softmax));
  }

  /// The functions that the kinds in use need, and what runs one operator.
  std::string text() const {
    using enum op_kind;
    const auto any = [&](std::initializer_list<op_kind> kinds) {
      return std::any_of(kinds.begin(), kinds.end(), [&](op_kind k) { return uses(k); });
    };
    const bool windows = any({convolution, depthwise, transposed_convolution});
    const bool pools = any({max_pooling, average_pooling}), averages = any({average_pooling, mean, finish_mean});
    const bool pairs = any({add, subtract, multiply, divide, minimum, maximum});
    std::string s = c_images;
    s += c_get;
    if (real && curved) s += std::string(c_clamped) + c_activations;
    else if (uses(resize_bilinear)) s += c_clamped;
    if (real) {
      s += std::string("#define ACTIVATE(l, x) ") + (curved ? "(float)activate(l, (double)(x))" : "((void)(l), (x))") + "\n";
      s += "#define PAD(l) ((number)reals[real_of(l)])\n";
    } else {
      s += std::string("#define TABLED(l, q) ") +
           (tabled ? "(tabledof(l) ? (number)tables[table_of(l) + (q) - LEAST] : (q))" : "((void)(l), (q))") + "\n";
      s += "#define PAD(l) ((number)pad_value_of(l))\n";
    }
    s += real ? c_floats : c_integers;
    const auto put = [&](bool wanted, const char* text) { s += wanted ? text : ""; };
    put(averages, real ? c_float_average : c_integer_average);
    put(any({dense, reshape}) || uses("stride"), c_flat);
    put(windows || any({dense, mean, finish, finish_mean, add_sums, begin}), c_sums);
    put(windows, c_windows), put(uses(dense), c_dense), put(uses(mean), c_means);
    if (pools)
      s += std::string("#define POOLED(l, most, sum, n) ") +
           (!uses(average_pooling) ? "((void)(sum), (void)(n), converted(l, most))"
            : !uses(max_pooling)   ? "((void)(most), average(l, sum, n))"
                                   : "(kind_of(l) == max_pooling ? converted(l, most) : average(l, sum, n))") +
           "\n" + c_pooling;
    put(pairs, real ? c_float_pairs : c_integer_pairs), put(pairs, c_binary);
    put(uses(unary), real ? c_float_single : c_integer_single);
    put(uses(prelu), real ? c_float_prelu : c_integer_prelu), put(uses(prelu), c_slopes);
    put(any({resize_bilinear, resize_nearest}), c_resizes), put(uses(resize_nearest), c_nearest);
    put(uses(resize_bilinear), real ? c_float_blend : c_integer_blend), put(uses(resize_bilinear), c_bilinear);
    put(uses(pad), c_pads), put(uses(depth_to_space), c_blocks), put(any({add_sums, finish, finish_mean}), c_added);
    put(uses(softmax), real ? c_float_softmax : c_integer_softmax);
    put(uses("from_real") || uses("to_real"), c_integer_reals), put(uses("stride"), c_strides), put(true, c_ends);
    return s + element_function() + part_function() + (called.empty() ? c_run_part : cmsis_text(called));
  }

  std::string element_function() const {
    static constexpr std::pair<const char*, const char*> cases[] = {
        {"max_pooling", "pooled(l, r, c, k)"},
        {"average_pooling", "pooled(l, r, c, k)"},
        {"add", "binary(l, r, c, k)"},
        {"subtract", "binary(l, r, c, k)"},
        {"multiply", "binary(l, r, c, k)"},
        {"divide", "binary(l, r, c, k)"},
        {"minimum", "binary(l, r, c, k)"},
        {"maximum", "binary(l, r, c, k)"},
        {"copy", "converted(l, get(l, x, r, c, k))"},
        {"pad", "padded(l, r, c, k)"},
        {"resize_bilinear", "bilinear(l, r, c, k)"},
        {"resize_nearest",
         "get(l, x, nearest_row(l, r, x->rows, l->out.rows), nearest_row(l, c, x->columns, l->out.columns), k)"},
        {"depth_to_space", "depth_in_space(l, r, c, k)"},
        {"reshape",
         "flat(l, channels_first_of(l) ? (k * l->out.rows + r) * l->out.columns + c\n"
         "                                               : (r * l->out.columns + c) * l->out.channels + k)"},
        {"stride", "gathered(l, (r * l->out.columns + c) * l->out.channels + k)"},
        {"unary", "single(l, get(l, x, r, c, k))"},
        {"prelu", "with_slope(l, r, c, k)"},
        {"add_sums", "all_added(l, r, c, k)"},
        {"begin", "bias_of(l, k)"},
        {"finish",
         "completed(l, all_added(l, r, c, k), has_weights_of(l) ? first_output_of(l) + k - first_channel_of(l) : k)"},
        {"finish_mean", "average(l, all_added(l, r, c, k), kernel_rows_of(l) * kernel_columns_of(l))"}};
    std::string s =
        "\n/* One element of the result. */\nstatic number element(const struct layer *l, int r, int c, int k) {\n"
        "  const struct image *x = l->in;\n  (void)x, (void)r, (void)c, (void)k;\n  switch (kind_of(l)) {\n";
    for (const auto& [kind, what] : cases)
      if (uses(kind)) s += std::string("    case ") + kind + ": return " + what + ";\n";
    return s + "    default: return 0;\n  }\n}\n";
  }

  std::string part_function() const {
    static constexpr std::pair<const char*, const char*> of_parts[] = {
        {"convolution", "convolve(l, p, from, to)"},
        {"depthwise", "convolve(l, p, from, to)"},
        {"transposed_convolution", "convolve(l, p, from, to)"},
        {"dense", "multiply_matrix(l, p)"},
        {"mean", "average_image(l, p)"}};
    static constexpr std::pair<const char*, const char*> of_pixels[] = {{"softmax", "share_pixel(l, p, r, c)"},
                                                                        {"from_real", "quantize_pixel(l, p, r, c)"},
                                                                        {"to_real", "dequantize_pixel(l, p, r, c)"}};
    std::string s =
        "\n/* Rows of one part of the result. */\n"
        "static void compute(const struct layer *l, const struct part *p, int from, int to) {\n"
        "  size_t at = place(p, from, column_of(p), channel_of(p));\n";
    for (const auto& [kind, what] : of_parts)
      if (uses(kind)) s += std::string("  if (kind_of(l) == ") + kind + ") {\n    " + what + ";\n    return;\n  }\n";
    s += "  for (int r = from; r < to; ++r)\n"
         "    for (int c = column_of(p); c < column_of(p) + columns_of(p); ++c) {\n";
    for (const auto& [kind, what] : of_pixels)
      if (uses(kind))
        s += std::string("      if (kind_of(l) == ") + kind + ") {\n        " + what + ";\n        continue;\n      }\n";
    return s +
           "      for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k, ++at)\n"
           "        store(l, p, at, element(l, r, c, k));\n    }\n}\n";
  }
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
