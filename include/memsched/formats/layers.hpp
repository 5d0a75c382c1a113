// Common parts of the readers of typed networks: all operators begin opaque; those that are understood are replaced.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/model.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A file's facts about a tensor: extents only if its shape is an image of one batch.
struct tensor_facts {
  std::optional<memsched::element> element{};
  std::optional<extents> size{};
  quantization quant{};
  bool one_scale = true;  ///< false: quantized by channel, which no typed tensor says
};

/// A network that begins with the tensors and operators of a draft, each operator opaque. So it has the draft's sizes and
/// order, however much of it is understood later.
class layers {
 public:
  explicit layers(const problem_draft& d) : images_(d.tensors.size(), false), sizes_(d.tensors.size()) {
    net_.name = d.name;
    net_.tensors.resize(d.tensors.size());
    for (tensor_id t = 0; t < d.tensors.size(); ++t) {
      typed_tensor& x = net_.tensors[t];
      sizes_[t] = d.tensors[t].size;
      if (t < d.tensor_names.size()) x.name = d.tensor_names[t];
      if (d.tensors[t].alias_of != t) x.alias_of = d.tensors[t].alias_of;
      describe(t, {});
    }
    for (const tensor_id t : d.graph_inputs) net_.tensors[t].input = true;
    for (const tensor_id t : d.graph_outputs) net_.tensors[t].output = true;
    for (op_id i = 0; i < d.operators.size(); ++i) {
      operation op;
      op.name = d.operator_names[i];
      op.origin = i;
      op.overwrites = d.operators[i].overwrites;
      op.workspace = d.operators[i].workspace;
      op.after.assign(d.after[i].begin(), d.after[i].end());
      for (const tensor_id t : d.reads[i]) op.reads.push_back({{}, {{t, 0, 0, 0}}});
      for (const tensor_id t : d.writes[i]) op.writes.push_back({{}, {{t, 0, 0, 0}}});
      if (op.writes.empty()) add_token(op);
      net_.operations.push_back(std::move(op));
    }
  }

  /// Gives a tensor its type and extents, if both are understood and make the size that the draft has.
  void describe(tensor_id t, const tensor_facts& f) {
    typed_tensor& x = net_.tensors[t];
    images_[t] = false;
    if (f.element && f.size && f.one_scale && size_of(*f.element) != 0) {
      bytes total = size_of(*f.element);
      bool fits = true;
      for (const coordinate n : {f.size->rows, f.size->columns, f.size->channels}) {
        fits = fits && n > 0 && total <= base::max_total / static_cast<bytes>(n);
        if (fits) total *= static_cast<bytes>(n);
      }
      images_[t] = fits && total == sizes_[t];
    }
    x.element = images_[t] ? *f.element : element::uint8;
    x.size = images_[t] ? *f.size : extents{1, 1, static_cast<coordinate>(sizes_[t])};
    x.quant = images_[t] ? f.quant : quantization{};
    x.origin = t;
    x.part = whole(x.size);
  }

  /// Whether a tensor's extents are those of its shape.
  bool is_image(tensor_id t) const { return images_[t]; }
  const typed_tensor& tensor(tensor_id t) const { return net_.tensors[t]; }
  const extents& size(tensor_id t) const { return net_.tensors[t].size; }
  image of(tensor_id t) const { return {size(t), {{t, 0, 0, 0}}}; }
  std::size_t operators() const { return net_.operations.size(); }
  std::string& name_of(op_id i) { return net_.operations[i].name; }

  /// The only part of operand or result number k; none if there are fewer, or it is no image.
  tensor_id operand(op_id i, std::size_t k) const { return part(net_.operations[i].reads, k); }
  tensor_id outcome(op_id i, std::size_t k = 0) const { return part(net_.operations[i].writes, k); }
  std::size_t operands(op_id i) const { return net_.operations[i].reads.size(); }
  std::size_t outcomes(op_id i) const { return net_.operations[i].writes.size(); }

  /// An operator that is to take the place of number i: its attributes are open, its operands are images already.
  std::optional<operation> begin(op_id i, op_kind what, std::size_t reads, std::size_t writes = 1) const {
    const operation& old = net_.operations[i];
    if (old.reads.size() != reads || old.writes.size() != writes) return {};
    operation op = old;
    for (auto* list : {&op.reads, &op.writes})
      for (image& x : *list) {
        if (!images_[x.parts[0].tensor]) return {};
        x.size = size(x.parts[0].tensor);
      }
    op.does = {};
    op.does.what = what;
    return op;
  }
  /// Likewise with these operands; each of them is an operand of number i, and no other is.
  std::optional<operation> begin(op_id i, op_kind what, const std::vector<tensor_id>& reads, std::size_t writes = 1) const {
    std::vector<tensor_id> listed, old;
    for (const tensor_id t : reads) listed.push_back(t);
    for (const image& x : net_.operations[i].reads) old.push_back(x.parts[0].tensor);
    for (auto* list : {&listed, &old}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    std::optional<operation> op = begin(i, what, net_.operations[i].reads.size(), writes);
    if (listed != old || !op) return {};
    op->reads.clear();
    for (const tensor_id t : reads) op->reads.push_back(of(t));
    return op;
  }
  /// The file's name of number i, and the reason why it stays opaque; empty: because of its operands.
  void explain(op_id i, std::string kind, std::string why) {
    net_.operations[i].kind = std::move(kind);
    if (net_.operations[i].does.what == op_kind::opaque) net_.operations[i].not_understood = std::move(why);
  }
  /// Says how number i, which is opaque, makes its result of its first operand.
  void define(op_id i, const strided& s) { net_.operations[i].definition = s; }
  bool is_opaque(op_id i) const { return net_.operations[i].does.what == op_kind::opaque; }
  /// Replaces number i, which reads and writes the same tensors in the same order.
  void replace(op_id i, operation op) { net_.operations[i] = std::move(op); }

  /// Parts side by side along an axis (0 rows, 1 columns, 2 channels) as one image; none if their extents differ
  /// elsewhere. Also whether all have the type and quantization of `as`.
  std::optional<image> side_by_side(const std::vector<image>& parts, int axis, tensor_id as) const {
    image all;
    coordinate at = 0;
    for (const image& p : parts) {
      const tensor_id t = p.parts[0].tensor;
      const typed_tensor& x = tensor(t);
      if (!images_[t] || x.element != tensor(as).element || x.quant != tensor(as).quant) return {};
      extents e = x.size;
      coordinate& length = axis == 0 ? e.rows : axis == 1 ? e.columns : e.channels;
      const coordinate n = std::exchange(length, 0);
      extents base = all.size;
      if (!all.parts.empty()) (axis == 0 ? base.rows : axis == 1 ? base.columns : base.channels) = 0;
      if (!all.parts.empty() && base != e) return {};
      all.parts.push_back({t, axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0});
      at += n;
      length = at;
      all.size = e;
    }
    if (parts.empty()) return {};
    return all;
  }

  /// Adds weights, without data if the bytes are not known; returns a slice of all of them.
  slice add(blob b) {
    const slice s{static_cast<index_t>(net_.blobs.size()), {0, b.size.outputs}, {0, b.size.inputs}};
    net_.blobs.push_back(std::move(b));
    return s;
  }
  network finish(std::shared_ptr<const void> holder, element_order order) {
    for (operation& op : net_.operations) {
      if (op.does.what != op_kind::opaque) continue;
      if (op.does.function.empty()) op.does.function = op.name + "#" + std::to_string(op.origin);
      if (op.not_understood.empty() && !are_images(op))
        op.not_understood =
            "a tensor of several batches or more than four dimensions, of another type, or with a scale for "
            "each channel";
      for (auto* list : {&op.reads, &op.writes})
        for (image& x : *list) x.size = size(x.parts[0].tensor);
    }
    net_.holder = std::move(holder);
    net_.order = order;
    return std::move(net_);
  }

 private:
  bool are_images(const operation& op) const {
    for (const auto* list : {&op.reads, &op.writes})
      for (const image& x : *list)
        for (const placed& p : x.parts)
          if (!images_[p.tensor] && net_.tensors[p.tensor].role != tensor_role::token) return false;
    return true;
  }
  /// An operator that only acts (it assigns a variable) says that it has run.
  void add_token(operation& op) {
    const auto t = static_cast<tensor_id>(net_.tensors.size());
    typed_tensor x;
    x.name = op.name + ":done", x.element = element::token, x.size = {1, 1, 0}, x.role = tensor_role::token;
    x.origin = t, x.part = whole(x.size);
    net_.tensors.push_back(std::move(x));
    images_.push_back(false);
    sizes_.push_back(0);
    op.writes.push_back({{}, {{t, 0, 0, 0}}});
  }

  tensor_id part(const std::vector<image>& list, std::size_t k) const {
    if (k >= list.size() || list[k].parts.size() != 1) return none;
    const tensor_id t = list[k].parts[0].tensor;
    return images_[t] ? t : none;
  }

  network net_;
  std::vector<bool> images_;
  std::vector<bytes> sizes_;
};

/// Bytes of weights that are not in the file as they are needed: made once, where they stay.
class made_bytes {
 public:
  std::vector<std::byte>& add(std::size_t n) { return list_.emplace_back(n); }

 private:
  std::deque<std::vector<std::byte>> list_;
};

/// The real number of an IEEE half.
inline float from_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = (h & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31)
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  // Exact: 11 bits, and no exponent below that of a float.
  float x = static_cast<float>(exponent == 0 ? mantissa : mantissa + 1024);
  for (int e = exponent == 0 ? 1 : exponent; e < 25; ++e) x /= 2;
  for (int e = exponent; e > 25; --e) x *= 2;
  return sign * x;
}

/// The IEEE half that is this number; none if no half is exactly that.
inline std::optional<std::uint16_t> to_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint32_t>(bits >> 16 & 0x8000U);
  const int exponent = static_cast<int>(bits >> 23 & 255U) - 127;
  const std::uint32_t mantissa = (bits & 0x7fffffU) | 0x800000U;
  if ((bits & 0x7fffffffU) == 0) return static_cast<std::uint16_t>(sign);
  if (exponent > 15 || exponent < -24) return {};
  const int dropped = exponent >= -14 ? 13 : 13 - 14 - exponent;  // below 2^-14 a half has fewer bits
  if ((mantissa & ((1U << dropped) - 1)) != 0) return {};
  const std::uint32_t kept = mantissa >> dropped;
  const std::uint32_t magnitude = exponent >= -14 ? static_cast<std::uint32_t>(exponent + 14) * 1024 + kept : kept;
  return static_cast<std::uint16_t>(sign | magnitude);
}

/// Rows of pad before the image that a window of SAME pad has: the missing rows, halved, the odd one after it. None if
/// `out` is not the number of windows that SAME (or, with `same` false, VALID) gives.
inline std::optional<std::int64_t> pad_before(coordinate in, coordinate out, std::int64_t kernel, std::int64_t stride,
                                              std::int64_t dilation, bool same) {
  constexpr std::int64_t most = 1 << 20;
  if (kernel < 1 || stride < 1 || dilation < 1 || kernel > most || stride > most || dilation > most) return {};
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  if (!same) {
    if (in < reach || out != (in - reach) / stride + 1) return {};
    return 0;
  }
  if (out != (in + stride - 1) / stride) return {};
  const std::int64_t missing = (out - 1) * stride + reach - in;
  return missing > 0 ? missing / 2 : 0;
}

/// Whether the first and the last of `out` windows hold a cell of the image, as `check_network` asks.
inline bool windows_fit(coordinate in, coordinate out, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                        std::int64_t pad) {
  constexpr std::int64_t most = 1 << 30;
  if (kernel < 1 || stride < 1 || dilation < 1 || pad > most || pad < -most) return false;
  if (kernel > most || stride > most || dilation > most) return false;
  return out >= 1 && out < (std::int64_t{1} << 31) && (kernel - 1) * dilation >= pad && (out - 1) * stride - pad < in;
}

/// Whether an image of the extents `to` broadcasts, axis by axis, from one of the extents `from`: each is 1 or equal.
inline bool broadcasts(const extents& from, const extents& to) {
  return (from.rows == 1 || from.rows == to.rows) && (from.columns == 1 || from.columns == to.columns) &&
         (from.channels == 1 || from.channels == to.channels);
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
