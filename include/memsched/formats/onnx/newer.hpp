// Shapes of operators that the ONNX library (1.12, opset 17) does not know: newer ones, and those that quantizers and ONNX
// Runtime's optimizer write (domain com.microsoft), as their specifications say.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Infers the outputs of one operator all of whose inputs are known.
class newer_operator {
 public:
  newer_operator(const onnx::NodeProto& node, const std::vector<const value*>& inputs, std::vector<partial>& outputs,
                 const std::string& who)
      : node_(node), op_(node.op_type()), in_(inputs), out_(outputs), who_(who) {}

  /// Operators of ONNX after opset 17; false if the shape does not follow, or the operator is as it was.
  bool infer_standard() {
    static const std::unordered_set<std::string> like_first{
        "Mish", "Gelu", "Swish", "GroupNormalization", "RMSNormalization", "BitwiseNot", "RotaryEmbedding", "TensorScatter"};
    if (out_.empty()) return false;
    if (one_of(op_, like_first)) return like(0);
    if (op_ == "Cast") return like(0, static_cast<int>(attribute(node_, "to", 0)));
    if (op_ == "CastLike") return like(0, type(1));
    if (op_ == "QuantizeLinear") return like(0, stated_type(type(2) ? type(2) : int{onnx::TensorProto::UINT8}));
    if (op_ == "DequantizeLinear") return like(0, stated_type(type(1)));
    if (op_ == "Pad" && in_.size() > 3 && in_[3]) return pad();
    if (op_ == "Resize" && attribute(node_, "axes")) return resize();
    if (op_ == "Attention") return attention();
    return false;
  }

  bool infer_contributed() {
    static const std::unordered_set<std::string> like_first{"Gelu",
                                                            "BiasGelu",
                                                            "FastGelu",
                                                            "QuickGelu",
                                                            "BiasAdd",
                                                            "BiasSoftmax",
                                                            "SimplifiedLayerNormalization",
                                                            "LayerNormalization",
                                                            "SkipLayerNormalization",
                                                            "SkipSimplifiedLayerNormalization",
                                                            "RotaryEmbedding",
                                                            "QLinearSigmoid",
                                                            "QLinearLeakyRelu",
                                                            "QLinearSoftmax",
                                                            "GroupNorm",
                                                            "SkipGroupNorm",
                                                            "QAttentionOutput"};
    if (out_.empty()) return false;
    if (one_of(op_, like_first)) {
      if (out_.size() == 4 && dims(0)) out_[3] = {type(0), true, *dims(0)};  // the sum of input, skip and bias
      for (std::size_t i = 1; i < std::min<std::size_t>(out_.size(), 3) && dims(0) && !dims(0)->empty(); ++i) {
        out_[i] = {onnx::TensorProto::FLOAT, true, *dims(0)};  // mean and inverse deviation, a number for a row
        out_[i].dims.back() = 1;
      }
      return like(0);
    }
    if (op_ == "QuantizeLinear") return like(0, type(2) ? type(2) : int{onnx::TensorProto::UINT8});
    if (op_ == "DequantizeLinear") return like(0, type(1));
    if (op_ == "QLinearAdd" || op_ == "QLinearMul") return broadcast(0, 3);
    if (op_ == "QLinearConcat") return concat();
    if (op_ == "QLinearGlobalAveragePool") return global_pool();
    if (op_ == "FusedMatMul" || op_ == "TransposeMatMul")
      return product(0, 1, attribute(node_, "transA", 0) != 0, attribute(node_, "transB", 0) != 0);
    if (op_ == "MatMulIntegerToFloat" || op_ == "DynamicQuantizeMatMul")
      return product(0, 1, false, false) && with_type(onnx::TensorProto::FLOAT);
    if (op_ == "FusedGemm" || op_ == "QGemm")
      return product(0, op_ == "QGemm" ? 3 : 1, attribute(node_, "transA", 0) != 0, attribute(node_, "transB", 0) != 0);
    if (op_ == "MatMulNBits") return last_of_first(attribute(node_, "N", -1));
    if (op_ == "MultiHeadAttention") return dims(2) && dims(2)->size() == 3 ? last_of_first(dims(2)->back()) : like(0);
    if (op_ == "Attention" && dims(1) && dims(1)->size() == 2 && !attribute(node_, "qkv_hidden_sizes"))
      return last_of_first((*dims(1))[1] / 3);
    return false;
  }

 private:
  const dimensions* dims(std::size_t i) const {
    return i < in_.size() && in_[i] && in_[i]->shape ? &*in_[i]->shape : nullptr;
  }
  const literal* content(std::size_t i) const {
    return i < in_.size() && in_[i] && in_[i]->content ? &*in_[i]->content : nullptr;
  }
  int type(std::size_t i) const { return i < in_.size() && in_[i] ? in_[i]->type : 0; }
  int stated_type(int otherwise) const {
    const auto stated = static_cast<int>(attribute(node_, "output_dtype", 0));
    return stated != 0 ? stated : otherwise;
  }

  bool with_type(int t) {
    out_[0].type = t;
    return true;
  }
  bool result(dimensions d) {
    out_[0] = {type(0), true, std::move(d)};
    return true;
  }
  bool like(std::size_t i) { return dims(i) && result(*dims(i)) && with_type(type(i)); }
  bool like(std::size_t i, int t) { return like(i) && with_type(t); }
  bool last_of_first(std::int64_t last) {
    if (!dims(0) || dims(0)->empty() || last < 0) return false;
    dimensions d = *dims(0);
    d.back() = last;
    return result(std::move(d));
  }

  /// The shape to which two broadcast; false if they do not.
  static bool merge(dimensions& a, dimensions b) {
    if (a.size() < b.size()) std::swap(a, b);
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return false;
      if (a[i] == 1) a[i] = b[i];
    }
    return true;
  }

  bool broadcast(std::size_t a, std::size_t b) {
    if (!dims(a) || !dims(b)) return false;
    dimensions d = *dims(a);
    if (!merge(d, *dims(b))) refuse(who_ + ": its inputs do not broadcast");
    return result(std::move(d));
  }

  bool product(std::size_t a, std::size_t b, bool flip_a, bool flip_b) {
    if (!dims(a) || !dims(b) || dims(a)->size() < 2 || dims(b)->size() < 2) return false;
    dimensions x = *dims(a), y = *dims(b);
    if (flip_a) std::swap(x[x.size() - 1], x[x.size() - 2]);
    if (flip_b) std::swap(y[y.size() - 1], y[y.size() - 2]);
    const std::int64_t rows = x[x.size() - 2], columns = y.back();
    if (x.back() != y[y.size() - 2]) refuse(who_ + ": the shapes of its factors do not fit");
    x.resize(x.size() - 2);
    y.resize(y.size() - 2);
    if (!merge(x, y)) refuse(who_ + ": the shapes of its factors do not fit");
    x.push_back(rows);
    x.push_back(columns);
    return result(std::move(x));
  }

  /// A place in a list of dimensions, also counted from its end.
  std::size_t place(std::int64_t axis, std::size_t rank) const {
    const auto r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r) refuse(who_ + ": there is no dimension " + std::to_string(axis));
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
  }

  /// Inputs: the result's scale and zero point, then each part, its scale and its zero point.
  bool concat() {
    if (!dims(2)) return false;
    dimensions d = *dims(2);
    const std::size_t axis = place(attribute(node_, "axis", 0), d.size());
    for (std::size_t i = 5; i < in_.size(); i += 3) {
      if (!dims(i)) return false;
      if (dims(i)->size() != d.size()) refuse(who_ + ": its parts have different ranks");
      d[axis] += (*dims(i))[axis];
    }
    return result(std::move(d)) && with_type(type(2));
  }

  bool global_pool() {
    if (!dims(0) || dims(0)->size() < 3) return false;
    dimensions d = *dims(0);
    const bool channels_last = attribute(node_, "channels_last", 0) != 0;
    std::fill(d.begin() + (channels_last ? 1 : 2), d.end() - (channels_last ? 1 : 0), 1);
    return result(std::move(d));
  }

  std::vector<std::size_t> axes(const std::vector<std::int64_t>& listed, std::size_t rank) const {
    std::vector<std::size_t> places;
    for (const std::int64_t a : listed) places.push_back(place(a, rank));
    return places;
  }

  bool pad() {
    if (!dims(0) || !content(1) || !content(3)) return false;
    std::vector<std::int64_t> listed;
    for (const double v : content(3)->values) listed.push_back(to_integer(v));
    dimensions d = *dims(0);
    const auto places = axes(listed, d.size());
    const auto& pads = content(1)->values;
    if (pads.size() != 2 * places.size()) refuse(who_ + ": there are not two paddings for each axis");
    constexpr std::int64_t margin = std::int64_t{1} << 30;
    for (std::size_t i = 0; i < places.size(); ++i)
      for (const double p : {pads[i], pads[i + places.size()]}) {
        if (std::abs(p) > static_cast<double>(margin)) refuse(who_ + ": a padding is beyond 2^30");
        d[places[i]] += to_integer(p);
      }
    if (std::any_of(d.begin(), d.end(), [](auto v) { return v < 0; })) refuse(who_ + ": it takes away more than there is");
    return result(std::move(d));
  }

  bool resize() {
    if (!dims(0)) return false;
    dimensions d = *dims(0);
    const auto* list = attribute(node_, "axes");
    const auto places = axes({list->ints().begin(), list->ints().end()}, d.size());
    const literal* scales = content(2);
    const literal* sizes = content(3);
    const literal* given = sizes && !sizes->values.empty() ? sizes : scales;
    if (!given || given->values.empty()) return false;
    if (given->values.size() != places.size()) refuse(who_ + ": there is not one number for each axis");
    const auto* policy = attribute(node_, "keep_aspect_ratio_policy");
    const std::string keep = policy ? policy->s() : "stretch";
    double common = keep == "not_larger" ? 1e300 : 0;
    for (std::size_t i = 0; i < places.size() && given == sizes; ++i) {
      const double ratio = given->values[i] / static_cast<double>(std::max<std::int64_t>(d[places[i]], 1));
      common = keep == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::int64_t& size = d[places[i]];
      const auto old = static_cast<double>(size);
      const double v = given == scales     ? std::floor(old * given->values[i])
                       : keep == "stretch" ? given->values[i]
                                           : std::round(common * old);
      if (!(v >= 0 && v <= static_cast<double>(max_dimension))) refuse(who_ + ": a dimension of the result is out of range");
      size = static_cast<std::int64_t>(v);
    }
    return result(std::move(d));
  }

  /// Attention-23: Q, K, V with heads as a dimension of their own, or folded into the last.
  bool attention() {
    if (!dims(0) || !dims(1) || !dims(2)) return false;
    const dimensions &q = *dims(0), &k = *dims(1), &v = *dims(2);
    const bool folded = q.size() == 3;
    if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
      refuse(who_ + ": query, key and value must all have 3 or all have 4 dimensions");
    const std::int64_t q_heads = folded ? attribute(node_, "q_num_heads", 0) : q[1];
    const std::int64_t kv_heads = folded ? attribute(node_, "kv_num_heads", 0) : k[1];
    if (q_heads <= 0 || kv_heads <= 0) refuse(who_ + ": the number of heads is not known");
    const std::int64_t k_size = folded ? k[2] / kv_heads : k[3], v_size = folded ? v[2] / kv_heads : v[3];
    const std::int64_t length = folded ? q[1] : q[2];
    std::int64_t total = folded ? k[1] : k[2];
    if (dims(4) && dims(4)->size() == 4) total += (*dims(4))[2];  // the part kept of earlier calls
    result(folded ? dimensions{q[0], length, q_heads * v_size} : dimensions{q[0], q_heads, length, v_size});
    if (out_.size() > 1) out_[1] = {type(1), true, {q[0], kv_heads, total, k_size}};
    if (out_.size() > 2) out_[2] = {type(2), true, {q[0], kv_heads, total, v_size}};
    if (out_.size() > 3) out_[3] = {type(0), true, {q[0], q_heads, length, total}};
    return true;
  }

  const onnx::NodeProto& node_;
  const std::string& op_;
  const std::vector<const value*>& in_;
  std::vector<partial>& out_;
  const std::string& who_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
