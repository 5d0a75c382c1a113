// The writer of C programs (`emit_c`).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/emit/emission.hpp>
#include <memsched/emit/kernels.hpp>
#include <memsched/emit/runtime.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/network/integers.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Explains why no C program can compute an operator; an empty message if one can.
inline graph_error why_no_kernel(const network& net, op_id i) {
  const operation& op = net.operations[i];
  const auto fault = [&](const std::string& what) {
    return graph_error{error_code::bad_input, labelled("operator ", i, op.name) + " " + what, {i}, {}};
  };
  if (op.does.what == op_kind::opaque) return fault("is opaque: what it computes is not known");
  if (op.does.act == activation::other) return fault("applies " + op.does.function + ", of which only the name is known");
  for (const slice* s : {&op.weights, &op.bias})
    if (*s && net.blobs[s->of].data.empty())
      return fault("has weights that the model does not hold: " + labelled("weights ", s->of, net.blobs[s->of].name));
  return {};
}

/// Writes one program. `A` are the numbers of the executor that it must agree with.
template <class A>
class c_program {
 public:
  c_program(const network& net, const emission& e, const A& numbers) : net_(net), e_(e), a_(numbers) {}

  result<std::string> run() {
    check_plan();
    if (error_.message.empty()) write();
    if (!error_.message.empty()) return std::move(error_);
    return std::move(text_);
  }

 private:
  static constexpr bool real = std::same_as<A, float_numbers>;
  using number = typename A::number;

  // Checks --------------------------------------------------------------------------------------------------------------

  void check_plan() {
    std::vector<bool> seen(net_.operations.size(), false);
    for (const op_id i : e_.order) {
      if (i >= seen.size() || seen[i]) return fault("the order does not list each operator once");
      seen[i] = true;
      check_kind(i);
    }
    if (e_.order.size() != net_.operations.size()) return fault("the order does not list each operator once");
    if (e_.offset.size() != net_.tensors.size()) return fault("there is no offset for each tensor");
    if (e_.arena > max_arena) return fault("the arena is larger than 2 GiB");
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) check_tensor(t);
  }
  void check_kind(op_id i) {
    if (graph_error e = why_no_kernel(net_, i); error_.message.empty()) error_ = std::move(e);
  }
  void check_tensor(tensor_id t) {
    const typed_tensor& x = net_.tensors[t];
    if (x.role == tensor_role::token || x.bytes() == 0) return;
    const bytes at = e_.offset[t];
    const auto complain = [&](const std::string& what) { fault(labelled("tensor ", t, x.name) + " " + what); };
    if (at > e_.arena || x.bytes() > e_.arena - at) return complain("lies outside the arena");
    if (at % width() != 0) return complain("does not lie at a multiple of the size of its elements");
    if (x.size.rows > max_extent || x.size.columns > max_extent || x.size.channels > max_extent)
      return complain("is too large: " + to_string(x.size));
  }

  static constexpr bytes max_arena = bytes{1} << 31;
  static constexpr coordinate max_extent = coordinate{1} << 24;
  static constexpr bytes width() { return real ? 4 : 1; }

  // The program ---------------------------------------------------------------------------------------------------------

  void write() {
    text_ = "/* " + one_line(net_.name.empty() ? "network" : comment(net_.name), 120) + ": " +
            std::to_string(net_.operations.size()) + " operators in an arena of " + std::to_string(e_.arena) +
            " bytes. C11. */\n" +
            "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n";
    if constexpr (real) {
      text_ += "typedef float stored;\ntypedef float number;\ntypedef float weight;\n#define WIDE 0\n";
    } else {
      const bool is_unsigned = std::any_of(net_.tensors.begin(), net_.tensors.end(),
                                           [](const typed_tensor& x) { return x.element == element::uint8; });
      text_ += std::string("typedef ") + (is_unsigned ? "u" : "") + "int8_t stored;\ntypedef int32_t number;\ntypedef " +
               (narrow() ? "int8_t" : "int16_t") + " weight;\n#define WIDE 1\n#define LEAST " +
               (is_unsigned ? "0" : "-128") + "\n";
    }
    const bytes elements = std::max<bytes>(1, (e_.arena + width() - 1) / width());
    text_ += "static _Alignas(64) stored arena[" + std::to_string(elements) + "];\n";
    text_ += c_images;
    text_ += real ? c_floats : c_integers;
    text_ += c_kernels;
    text_ += "\n";
    for (index_t b = 0; b < net_.blobs.size(); ++b) write_blob(b);
    std::string layers;
    for (const op_id i : e_.order) layers += layer(i);
    text_ += "static const struct layer layers[] = {\n" + layers + "};\n";
    text_ += "static const int layer_count = " + std::to_string(listed_) + ";\n";
    write_ends("input", &typed_tensor::input);
    write_ends("output", &typed_tensor::output);
    text_ += c_main;
  }

  /// Weights as an array: outputs, rows, columns, inputs.
  void write_blob(index_t id) {
    const blob& b = net_.blobs[id];
    bool weighs = false, biases = false;
    for (const operation& op : net_.operations) {
      weighs = weighs || op.weights.of == id;
      biases = biases || op.bias.of == id;
    }
    if (!weighs && !biases) return;
    std::string list;
    std::size_t count = 0;
    for (std::int64_t o = 0; o < b.size.outputs; ++o)
      for (std::int64_t r = 0; r < b.size.rows; ++r)
        for (std::int64_t c = 0; c < b.size.columns; ++c)
          for (std::int64_t i = 0; i < b.size.inputs; ++i)
            list += (count++ % 12 == 0 ? "\n  " : " ") + value(a_.weight(id, b, o, r, c, i)) + ",";
    for (const auto& [type, name, wanted] : {std::tuple{"weight", "w", weighs}, std::tuple{"number", "b", biases}})
      if (wanted)
        text_ += std::string("static const ") + type + " " + name + std::to_string(id) + "[] = {" + list + "\n};\n";
    if (!weighs || b.scales.empty() || real) return;
    text_ += "static const double s" + std::to_string(id) + "[] = {";
    for (const float s : b.scales) text_ += value(static_cast<double>(s)) + ", ";
    text_ += "};\n";
  }
  /// Whether all weights, less their zero points, fit eight bits.
  bool narrow() {
    if constexpr (!real)
      for (const operation& op : net_.operations) {
        if (!op.weights) continue;
        const blob& b = net_.blobs[op.weights.of];
        for (std::int64_t o = 0; o < b.size.outputs; ++o)
          for (std::int64_t r = 0; r < b.size.rows; ++r)
            for (std::int64_t c = 0; c < b.size.columns; ++c)
              for (std::int64_t i = 0; i < b.size.inputs; ++i) {
                const number w = a_.weight(op.weights.of, b, o, r, c, i);
                if (w < -32768 || w > 32767) fault(labelled("weights ", op.weights.of, b.name) + " take more than 16 bits");
                if (w < -128 || w > 127) return false;
              }
      }
    return true;
  }

  std::string layer(op_id i) {
    const operation& op = net_.operations[i];
    const attributes& d = op.does;
    if (d.what == op_kind::reshape && is_view(i)) return {};
    ++listed_;
    const std::string id = std::to_string(i);
    std::vector<std::string> operands;
    for (std::size_t k = 0; k < op.reads.size(); ++k)
      operands.push_back(image_of(op.reads[k], std::string("p") + id + "_" + std::to_string(k)));
    image out = target(op);
    if (d.what == op_kind::read) out = from_zero(out);
    const std::string written = image_of(out, "q" + id);
    text_ += "static const struct image in" + id + "[] = {";
    for (const std::string& x : operands) text_ += x + ", ";
    text_ += operands.empty() ? "{0, 0, 0, 0, 0}};\n" : "};\n";

    arithmetic_site site{.does = &d};
    if (!op.reads.empty()) describe(op.reads[0], site.in, site.from);
    if (op.reads.size() > 1) describe(op.reads[1], site.other, site.to);
    describe(op.writes[0], site.out, site.to);
    const bool constant = facts_of(d.what).most_operands == 2;
    if (constant && op.weights && !real && !net_.blobs[op.weights.of].scales.empty() && !op.bias)
      site.other.scale = net_.blobs[op.weights.of].scales[0];
    const box b = computes(net_, op);
    std::string s =
        "  {.kind = " + std::string(kind_name(d.what)) + ", .sum = " + sum_name(op.sum) + ", .act = " + act_name(d.act) +
        ", .alpha = " + value(static_cast<double>(d.alpha)) + ", .beta = " + value(static_cast<double>(d.beta)) +
        ",\n   .operands = " + std::to_string(data_operands(op)) + ", .in = in" + id + ", .out = " + written + ",";
    const auto set = [&](const char* name, std::int64_t x) {
      s += std::string(" .") + name + " = " + std::to_string(x) + ",";
    };
    set("first_channel", b.channels.first);
    const window& w = d.win;
    s += "\n  ";
    set("kernel_rows", w.kernel_rows), set("kernel_columns", w.kernel_columns), set("stride_rows", w.stride_rows);
    set("stride_columns", w.stride_columns), set("dilation_rows", w.dilation_rows);
    set("dilation_columns", w.dilation_columns), set("pad_rows", w.pad_rows), set("pad_columns", w.pad_columns);
    s += "\n  ";
    set("pad_channels", w.pad_channels), set("groups", d.groups), set("block", d.block), set("depth_first", d.depth_first);
    set("count_pad", d.count_pad), set("channels_first", net_.order == element_order::channels_rows_columns);
    s += std::string("\n   .coordinates = ") + coordinates_name(d.coordinates) +
         ", .rounding = " + rounding_name(d.rounding) + ",";
    if (d.what == op_kind::pad) s += " .pad_value = " + value(a_.pad(site)) + ",";
    set("reduce_first", op.reduces.first), set("reduce_last", op.reduces.last);
    if (op.weights) {
      const blob::axes& a = net_.blobs[op.weights.of].size;
      s += "\n   .weights = w" + std::to_string(op.weights.of) + ",";
      set("weight_rows", a.rows), set("weight_columns", a.columns), set("weight_inputs", a.inputs);
      set("weight_outputs", a.outputs), set("first_output", op.weights.outputs.first);
      set("first_input", op.weights.inputs.first);
      if (!real && !net_.blobs[op.weights.of].scales.empty()) {
        s += " .scales = s" + std::to_string(op.weights.of) + ",";
        set("scale_count", static_cast<std::int64_t>(net_.blobs[op.weights.of].scales.size()));
      }
    }
    if (op.bias) {
      s += "\n   .bias = b" + std::to_string(op.bias.of) + ",";
      set("first_bias", constant ? op.bias.inputs.first : op.bias.outputs.first);
    }
    if (!real) {
      const auto scale = [](const quantization& q) { return value(q.scale == 0 ? 1.0 : static_cast<double>(q.scale)); };
      s += "\n   .in_scale = " + scale(site.in) + ", .other_scale = " + scale(site.other) +
           ", .out_scale = " + scale(site.out) + ",";
      set("in_zero", site.in.zero_point), set("other_zero", site.other.zero_point), set("out_zero", site.out.zero_point);
      set("converts", !(site.in == site.out && d.act == activation::identity));
    }
    return s + "},  /* " + one_line(comment(op.name), 80) + " */\n";
  }

  /// Whether a reshape only names its operand again. Where the file orders elements channel by channel, the arena does not:
  /// there elements may have to move.
  bool is_view(op_id i) {
    const operation& op = net_.operations[i];
    const auto& from = op.reads[0].parts;
    const auto& to = op.writes[0].parts;
    if (from.size() != 1 || to.size() != 1 || net_.tensors[to[0].tensor].alias_of != from[0].tensor) return false;
    const extents &x = op.reads[0].size, &y = op.writes[0].size;
    const auto plain = [](const extents& e) { return e.channels == 1 || e.rows * e.columns == 1; };
    const bool stays = net_.order == element_order::rows_columns_channels || x == y || (plain(x) && plain(y));
    if (!stays) fault_at(i, "is a view, and moves elements where channels are stored last");
    if (e_.offset[to[0].tensor] != e_.offset[from[0].tensor]) fault_at(i, "is a view at another offset than its operand");
    return true;
  }

  /// Part of an image that arrives, as an image of its own.
  image from_zero(const image& x) const {
    const placed p = x.parts.at(0);
    const extents& e = net_.tensors[p.tensor].size;
    return {e, {{p.tensor, 0, 0, 0}}};
  }
  void describe(const image& x, quantization& q, element& e) const {
    if (x.parts.empty()) return;
    q = net_.tensors[x.parts[0].tensor].quant;
    e = net_.tensors[x.parts[0].tensor].element;
  }

  /// Writes the parts of an image as an array; the image that names them.
  std::string image_of(const image& x, const std::string& name) {
    std::string list;
    std::size_t count = 0;
    for (const placed& p : x.parts) {
      const typed_tensor& t = net_.tensors[p.tensor];
      if (t.role == tensor_role::token || t.size.elements() == 0) continue;
      ++count;
      list += "\n  {" + std::to_string(e_.offset[p.tensor] / width());
      for (const coordinate n : {p.row, p.column, p.channel, t.size.rows, t.size.columns, t.size.channels})
        list += ", " + std::to_string(n);
      list += t.role == tensor_role::sum ? ", 1}," : ", 0},";
    }
    if (count > 0) text_ += "static const struct part " + name + "[] = {" + list + "\n};\n";
    return "{" + (count > 0 ? name : std::string("0")) + ", " + std::to_string(count) + ", " + std::to_string(x.size.rows) +
           ", " + std::to_string(x.size.columns) + ", " + std::to_string(x.size.channels) + "}";
  }

  /// Inputs or outputs of the first network, in the order of its file, each of all its parts.
  void write_ends(const std::string& what, bool typed_tensor::*is) {
    std::map<tensor_id, image> images;
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
      const typed_tensor& x = net_.tensors[t];
      if (!(x.*is)) continue;
      const bool own = x.origin == none;
      image& all = images[own ? t : x.origin];
      const box part = own ? whole(x.size) : x.part;
      all.size = {std::max(all.size.rows, part.rows.last), std::max(all.size.columns, part.columns.last),
                  std::max(all.size.channels, part.channels.last)};
      all.parts.push_back({t, part.rows.first, part.columns.first, part.channels.first});
    }
    std::string list;
    std::size_t count = 0;
    for (const network_end& end : ends_of(net_, is)) {
      if (end.tensor == none) return fault("the network has an " + what + " that is constant");
      list += "  " + image_of(images.at(end.tensor), what + std::to_string(count++)) + ",\n";
    }
    text_ += "static const struct image " + what + "s[] = {\n" + (list.empty() ? "  {0, 0, 0, 0, 0}\n" : list) + "};\n";
    text_ += "static const int " + what + "_count = " + std::to_string(count) + ";\n";
  }

  // Words ----------------------------------------------------------------------------------------------------------------

  static std::string value(double x) {
    if (std::isnan(x)) return "NAN";
    if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
    char s[40];
    std::snprintf(s, sizeof s, "%a", x);
    return s;
  }
  static std::string value(float x) {
    const std::string s = value(static_cast<double>(x));
    return std::isfinite(x) ? s + "F" : s;
  }
  static std::string value(std::int32_t x) { return x == INT32_MIN ? "INT32_MIN" : std::to_string(x); }

  /// A text that ends no comment.
  static std::string comment(std::string s) {
    for (char& c : s)
      if (c == '*' || c == '/' || c == '\\' || c == '?' || static_cast<unsigned char>(c) > 126) c = '_';
    return s;
  }
  static const char* kind_name(op_kind k) {
    static constexpr const char* names[] = {"convolution",
                                            "depthwise",
                                            "transposed_convolution",
                                            "max_pooling",
                                            "average_pooling",
                                            "mean",
                                            "dense",
                                            "add",
                                            "subtract",
                                            "multiply",
                                            "divide",
                                            "minimum",
                                            "maximum",
                                            "copy",
                                            "pad",
                                            "resize_bilinear",
                                            "resize_nearest",
                                            "depth_to_space",
                                            "reshape",
                                            "unary",
                                            "prelu",
                                            "softmax",
                                            "add_sums",
                                            "finish",
                                            "finish_mean",
                                            "begin",
                                            "read_input"};
    return names[static_cast<std::size_t>(k)];
  }
  static const char* sum_name(summation s) {
    static constexpr const char* names[] = {"complete", "partial", "onto", "into", "last"};
    return names[static_cast<std::size_t>(s)];
  }
  static const char* act_name(activation a) {
    static constexpr const char* names[] = {"identity",     "relu",   "relu6",       "relu_n1_to_1",       "relu_0_to_1",
                                            "leaky",        "elu",    "logistic",    "hyperbolic_tangent", "hard_swish",
                                            "hard_sigmoid", "gelu",   "exponential", "logarithm",          "square_root",
                                            "absolute",     "negate", "clip"};
    return names[static_cast<std::size_t>(a)];
  }
  static const char* coordinates_name(resize_coordinates c) {
    static constexpr const char* names[] = {"half_pixel", "asymmetric", "align_corners"};
    return names[static_cast<std::size_t>(c)];
  }
  static const char* rounding_name(resize_rounding r) {
    static constexpr const char* names[] = {"to_floor", "half_up", "half_down", "to_ceiling"};
    return names[static_cast<std::size_t>(r)];
  }

  void fault(const std::string& what) {
    if (error_.message.empty()) error_ = {error_code::bad_input, what, {}, {}};
  }
  void fault_at(op_id i, const std::string& what) {
    if (error_.message.empty())
      error_ = {error_code::bad_input, labelled("operator ", i, net_.operations[i].name) + " " + what, {i}, {}};
  }

  const network& net_;
  const emission& e_;
  A a_;
  std::string text_;
  std::size_t listed_ = 0;
  graph_error error_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
