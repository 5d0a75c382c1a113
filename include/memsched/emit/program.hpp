// The writer of C programs (`emit_c`).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/emit/constants.hpp>
#include <memsched/emit/emission.hpp>
#include <memsched/emit/functions.hpp>
#include <memsched/emit/interface.hpp>
#include <memsched/emit/kernel_arithmetic.hpp>
#include <memsched/emit/kernel_row.hpp>
#include <memsched/emit/model_in_flash.hpp>
#include <memsched/emit/packed_table.hpp>
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
  if (op.does.what == op_kind::opaque && !op.definition) return fault("is opaque: what it computes is not known");
  if (op.does.what == op_kind::divide && net.tensors[op.writes[0].parts[0].tensor].element != element::float32)
    return fault("divides integers");
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
  c_program(const network& net, const emission& e, const A& numbers)
      : net_(net), e_(e), a_(numbers), constants_(net, numbers, e.model), arithmetic_(net, numbers, calls_cmsis()) {}

  result<c_library> run() {
    check_plan();
    if (error_.message.empty()) write();
    if (!error_.message.empty()) return std::move(error_);
    return std::move(made_);
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
    if (x.role == tensor_role::value && at % size_of(x.element) != 0)
      return complain("does not lie at a multiple of the size of its elements");
    if (x.size.rows > max_extent || x.size.columns > max_extent || x.size.channels > max_extent)
      return complain("is too large: " + to_string(x.size));
  }

  static constexpr bytes max_arena = bytes{1} << 31;
  static constexpr coordinate max_extent = coordinate{1} << 24;

  // The library ----------------------------------------------------------------------------------------------------------

  void write() {
    if (constants_.width == 0) return fault("weights less their zero point take more than 16 bits");
    for (const op_id i : e_.order)
      if (const operation& op = net_.operations[i]; op.does.what != op_kind::reshape || !is_view(i)) add_operator(i);
    add_ends(in_, &typed_tensor::input);
    add_ends(out_, &typed_tensor::output);
    if (calls_cmsis() && constants_.width > 1)
      fault("weights less their zero point take more than eight bits, as CMSIS-NN has them");
    if (!error_.message.empty()) return;
    functions_.curved = arithmetic_.curved, functions_.tabled = arithmetic_.tabled;
    made_.source = source();
    made_.scratch = static_cast<bytes>(scratch_.other), made_.helium_scratch = static_cast<bytes>(scratch_.helium);
    made_.header = c_header(title(), e_, in_, out_, functions_.called.empty() ? nullptr : &scratch_);
    made_.program = with_name(c_main, e_.name, "INPUTS_AND_OUTPUTS", c_buffers(in_, out_, !e_.model.empty()));
    if (!e_.model.empty()) made_.model = with_name(c_model(e_.model), e_.name);
  }

  bool calls_cmsis() const { return e_.kernels == kernel_library::cmsis_nn; }
  std::string title() const { return base::one_line(net_.name.empty() ? "network" : c_comment(net_.name), 120); }
  std::string source() {
    const bool is_unsigned = std::any_of(net_.tensors.begin(), net_.tensors.end(), [](const typed_tensor& x) {
      return x.role == tensor_role::value && x.element == element::uint8;
    });
    std::vector<std::int64_t> words;
    for (const auto* list : {&in_.code, &code_, &out_.code}) words.insert(words.end(), list->begin(), list->end());
    const std::int64_t largest = words.empty() ? 0 : *std::max_element(words.begin(), words.end());
    std::string s = "/* " + title() + ": " + std::to_string(net_.operations.size()) + " operators in an arena of " +
                    std::to_string(e_.arena) + " bytes. C11 or C++. */\n#include \"" + e_.name + ".h\"\n\n" +
                    (functions_.needs_math() ? "#include <math.h>\n" : "") +
                    "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n" +
                    (functions_.called.empty() ? "" : "#include \"arm_nnfunctions.h\"\n\n");
    if constexpr (real) {
      s += "typedef float stored;\ntypedef float number;\ntypedef float weight;\n";
    } else {
      s += std::string("typedef ") + (is_unsigned ? "u" : "") + "int8_t stored;\ntypedef int32_t number;\ntypedef " +
           (constants_.width == 1 ? "int8_t" : "int16_t") + " weight;\n#define LEAST " + (is_unsigned ? "0" : "(-128)") +
           "\n";
    }
    s += "typedef " + c_integer(0, largest) + " code_word;\n#define MOST_OPERANDS " +
         std::to_string(std::max<std::size_t>(1, most_images_)) + "\n#define MOST_SEGMENTS " +
         std::to_string(std::max<std::int64_t>(1, most_segments_)) + "\n";
    s += c_names + c_array("weight", "weights", constants_.weights.own) + c_array("number", "biases", constants_.biases.own);
    if (!real)
      s += c_array("int32_t", "factors", arithmetic_.factors) +
           c_array(calls_cmsis() ? "int32_t" : "int8_t", "shifts", arithmetic_.shifts) +
           c_array("stored", "tables", arithmetic_.tables);
    s += c_array(real ? "double" : "float", "reals", arithmetic_.reals) + c_array("code_word", "code", words);
    s += parts_.text() + kernels_.text();
    std::string functions = constants_.macros() + functions_.text();
    if (!e_.model.empty()) functions += c_model_check(e_.model);
    s += with_name(functions, e_.name) + c_runner(real, e_.name, in_.count + listed_ + out_.count);
    made_.flash = flash(words.size() * (largest > UINT16_MAX ? 4 : largest > UINT8_MAX ? 2 : 1));
    return s;
  }
  c_flash flash(std::size_t code) const {
    const std::size_t numbers = arithmetic_.factors.size() * 4 + arithmetic_.shifts.size() * (calls_cmsis() ? 4 : 1) +
                                arithmetic_.tables.size() + arithmetic_.reals.size() * (real ? 8 : 4);
    return {code + parts_.size() + kernels_.size() + numbers, constants_.bytes_of_own(), constants_.in_model()};
  }

  // Tables ---------------------------------------------------------------------------------------------------------------

  void add_operator(op_id i) {
    const operation& op = net_.operations[i];
    const attributes& d = op.does;
    if (d.what == op_kind::read) return add_read(op);
    ++listed_;
    arithmetic_site site{.does = &d};
    if (!op.reads.empty()) describe(op.reads[0], site.in, site.from);
    if (op.reads.size() > 1) describe(op.reads[1], site.other, site.to);
    describe(op.writes[0], site.out, site.to);
    if (op.weights) site.weights = &net_.blobs[op.weights.of];
    const bool constant = facts_of(d.what).most_operands == 2;
    if (constant && op.reads.size() == 1 && op.weights && !op.bias && !site.weights->scales.empty())
      site.other.scale = site.weights->scales[0];
    kernel_row k;
    k["kind"] = word(i, c_kind(op, site)), k["sum"] = static_cast<std::int64_t>(op.sum);
    k["images"] = static_cast<std::int64_t>(op.reads.size()), k["operands"] = static_cast<std::int64_t>(data_operands(op));
    if (!op.reads.empty()) set_extents(k, "in", op.reads[0].size);
    if (op.reads.size() > 1) set_extents(k, "other", op.reads[1].size);
    set_extents(k, "out", target(op).size);
    const box b = computes(net_, op);
    k["first_channel"] = b.channels.first;
    const window& w = d.win;
    k["kernel_rows"] = w.kernel_rows, k["kernel_columns"] = w.kernel_columns;
    k["stride_rows"] = w.stride_rows, k["stride_columns"] = w.stride_columns;
    k["dilation_rows"] = w.dilation_rows, k["dilation_columns"] = w.dilation_columns;
    k["pad_rows"] = w.pad_rows, k["pad_columns"] = w.pad_columns, k["pad_channels"] = w.pad_channels;
    k["groups"] = d.groups, k["block"] = d.block, k["depth_first"] = d.depth_first, k["count_pad"] = d.count_pad;
    k["channels_first"] = net_.order == element_order::channels_rows_columns;
    k["coordinates"] = static_cast<std::int64_t>(d.coordinates), k["rounding"] = static_cast<std::int64_t>(d.rounding);
    k["reduce_first"] = op.reduces.first, k["reduce_last"] = op.reduces.last;
    if (op.weights && d.what != op_kind::finish) {
      const blob::axes& a = site.weights->size;
      k["weights"] = constants_.weights_at(op.weights.of, d.what == op_kind::depthwise);
      k["weight_rows"] = a.rows, k["weight_columns"] = a.columns, k["weight_inputs"] = a.inputs;
      k["weight_outputs"] = a.outputs, k["first_input"] = op.weights.inputs.first;
    }
    k["has_weights"] = static_cast<bool>(op.weights);
    if (op.weights) k["first_output"] = op.weights.outputs.first;
    if (op.bias) {
      k["has_bias"] = 1;
      k["bias_at"] = constants_.biases_at(op.bias.of) + (constant ? op.bias.inputs.first : op.bias.outputs.first);
    }
    if (op.definition) set_strides(k, *op.definition);
    arithmetic_.set(k, op, site);
    if (calls_cmsis() && has_cmsis_kernel(op, k)) {
      k["called"] = 1;
      functions_.called.add(d.what);
      scratch_.add(op);
    }
    count_segments(op);
    code_.push_back(static_cast<std::int64_t>(kernels_.add(k.values)));
    for (const image& x : op.reads) list_parts(code_, x);
    list_parts(code_, target(op));
    most_images_ = std::max(most_images_, op.reads.size());
  }
  std::int64_t word(op_id i, const char* kind) {
    functions_.used.insert(kind);
    const auto at = std::find(std::begin(c_kinds), std::end(c_kinds), std::string_view(kind));
    if (at != std::end(c_kinds)) return at - std::begin(c_kinds);
    fault_at(i, "has no kernel");
    return 0;
  }
  /// The kind of a kernel of the program.
  static const char* c_kind(const operation& op, const arithmetic_site& s) {
    if (op.definition) return "stride";
    if (!real && op.does.what == op_kind::copy && s.from != s.to) {
      if (s.from == element::float32) return "from_real";
      if (s.to == element::float32) return "to_real";
    }
    return c_kind_name(op.does.what);
  }
  static void set_strides(kernel_row& k, const strided& s) {
    k["cells"] = s.cells, k["step"] = s.step;
    for (int a = 0; a < 4; ++a) k["stride_" + std::to_string(a)] = s.stride[static_cast<std::size_t>(a)];
    for (int a = 1; a < 4; ++a) k["stride_" + std::to_string(a) + "_extent"] = s.extent[static_cast<std::size_t>(a)];
  }

  /// Counts the segments that a window of the operator may have, one for each pixel and part along the channels, and keeps the
  /// largest number.
  void count_segments(const operation& op) {
    if (op.reads.empty()) return;
    std::set<coordinate> starts;
    for (const placed& p : op.reads[0].parts) starts.insert(p.channel);
    const window& w = op.does.win;
    most_segments_ = std::max(most_segments_, w.kernel_rows * w.kernel_columns * std::ssize(starts));
  }

  /// The numbers of an image's parts, after how many they are.
  void list_parts(std::vector<std::int64_t>& to, const image& x) {
    const std::size_t count = to.size();
    to.push_back(0);
    for (const placed& p : x.parts) {
      const typed_tensor& t = net_.tensors[p.tensor];
      if (t.role == tensor_role::token || t.size.elements() == 0) continue;
      ++to[count];
      const std::int64_t type = t.role == tensor_role::sum ? 1 : !real && t.element == element::float32 ? 2 : 0;
      to.push_back(static_cast<std::int64_t>(parts_.add({static_cast<std::int64_t>(e_.offset[p.tensor]), p.row, p.column,
                                                         p.channel, t.size.rows, t.size.columns, t.size.channels, type})));
    }
  }

  /// A part of an input that arrives when it is wanted.
  void add_read(const operation& op) {
    ++listed_;
    const std::vector<network_end> inputs = listed_inputs();
    const typed_tensor& x = net_.tensors[op.writes[0].parts.at(0).tensor];
    std::size_t which = 0;
    while (which < inputs.size() && inputs[which].tensor != x.origin) ++which;
    exchange(code_, "take",
             {op.writes[0].size,
              {{op.writes[0].parts[0].tensor, x.part.rows.first, x.part.columns.first, x.part.channels.first}}},
             which);
  }
  void exchange(std::vector<std::int64_t>& to, const char* kind, const image& x, std::size_t which) {
    kernel_row k;
    k["kind"] = word(0, kind), k["block"] = static_cast<std::int64_t>(which), k["groups"] = 1;
    set_extents(k, "out", x.size);
    to.push_back(static_cast<std::int64_t>(kernels_.add(k.values)));
    list_parts(to, x);
  }

  /// Whether a reshape only names its operand again. If the file orders elements channel by channel, they may have
  /// to move, since the arena does not.
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

  void describe(const image& x, quantization& q, element& e) const {
    if (x.parts.empty()) return;
    q = net_.tensors[x.parts[0].tensor].quant;
    e = net_.tensors[x.parts[0].tensor].element;
  }

  /// Inputs or outputs of the first network, in the order of its file, each of all its parts.
  void add_ends(library_ends& to, bool typed_tensor::*is) {
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
    const bool inputs = is == &typed_tensor::input;
    const std::vector<std::string>& names = inputs ? e_.input_names : e_.output_names;
    if (inputs)
      for (const operation& op : net_.operations)
        if (op.does.what == op_kind::read) {
          const placed& p = op.writes[0].parts.at(0);
          image& all = images[net_.tensors[p.tensor].origin];
          all.size = op.writes[0].size;
          all.parts.push_back(p);
        }
    for (const network_end& end : inputs ? listed_inputs() : ends_of(net_, is)) {
      if (end.tensor == none)
        return fault(std::string("the network has an ") + (inputs ? "input" : "output") + " that is constant");
      const image& x = images.at(end.tensor);
      const typed_tensor& like = net_.tensors[x.parts[0].tensor];
      const std::size_t n = to.list.size();
      to.list.push_back({n < names.size() ? names[n] : like.name, &like, x.size, end.shape});
      if (inputs && arrives(end.tensor)) continue;
      exchange(to.code, inputs ? "take" : "give", x, n);
      ++to.count;
    }
  }
  /// Also those whose parts are read when they are wanted, which stand last if no list has them.
  std::vector<network_end> listed_inputs() const {
    std::vector<network_end> all = ends_of(net_, &typed_tensor::input);
    if (!net_.listed_inputs.empty()) all = net_.listed_inputs;
    for (const operation& op : net_.operations) {
      if (op.does.what != op_kind::read) continue;
      const tensor_id origin = net_.tensors[op.writes[0].parts.at(0).tensor].origin;
      if (std::none_of(all.begin(), all.end(), [&](const network_end& e) { return e.tensor == origin; }))
        all.push_back({origin, {}});
    }
    return all;
  }
  /// Whether parts of an input are read when they are wanted.
  bool arrives(tensor_id origin) const {
    return std::any_of(net_.operations.begin(), net_.operations.end(), [&](const operation& op) {
      return op.does.what == op_kind::read && net_.tensors[op.writes[0].parts.at(0).tensor].origin == origin;
    });
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
  c_library made_;
  packed_table parts_{"part", "parts", "", {"at", "row", "column", "channel", "rows", "columns", "channels", "type"}};
  packed_table kernels_{"kernel", "kernels", "->k", kernel_fields()};
  model_constants<A> constants_;
  std::vector<std::int64_t> code_;
  library_ends in_, out_;
  c_functions functions_{.real = real};
  kernel_arithmetic<A> arithmetic_;
  cmsis_scratch scratch_;
  std::size_t listed_ = 0, most_images_ = 0;
  std::int64_t most_segments_ = 0;
  graph_error error_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
