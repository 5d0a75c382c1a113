// Writes small TensorFlow Lite models, also wrong ones, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

namespace tflite_model {

/// Kinds of operators by number, and types of elements, as the schema has them; and the buffer of a model that holds something.
namespace codes {
inline constexpr int add = 0, average_pool = 1, concatenation = 2, conv = 3, depthwise = 4, depth_to_space = 5,
                     dequantize = 6, fully_connected = 9, l2_normalization = 11, logistic = 14, max_pool = 17, mul = 18,
                     relu = 19, reshape = 22, resize_bilinear = 23, softmax = 25, call = 31, custom = 32, pad = 34,
                     space_to_batch = 38, transpose_kind = 39, mean = 40, sub = 41, squeeze = 43, strided_slice = 45,
                     split = 49, prelu = 54, slice_kind = 65, transpose_conv = 67, expand_dims = 70, resize_nearest = 97,
                     leaky_relu = 98, add_n = 106, quantize = 114, hard_swish = 117, if_op = 118, while_op = 119,
                     call_once = 129, var_handle = 142, read_variable = 143, assign_variable = 144, random_uniform = 148,
                     dynamic_update_slice = 151, bitcast = 159, composite = 206, case_op = 209;
inline constexpr int float32 = 0, float16 = 1, int32 = 2, uint8 = 3, int16 = 7, int8 = 9, int4 = 17;
inline constexpr std::uint32_t with_data = 1;
}  // namespace codes

/// A level of a sparse constant: `size` positions, or the listed ones, as compressed sparse rows do.
struct sparse_level {
  std::int32_t size = 0;
  std::vector<std::int32_t> segments{}, positions{};
};

struct tensor {
  std::vector<std::int32_t> shape{};
  std::uint32_t buffer = 0;
  int type = 0;
  std::string name{};
  bool variable = false;
  std::vector<std::int32_t> signature{};
  std::uint32_t external_buffer = 0;
  std::vector<float> scale{};
  std::vector<std::int64_t> zero_point{};
  std::int32_t dimension = 0;                          ///< along which several scales lie
  std::vector<std::int32_t> traversal{}, block_map{};  ///< of a sparse constant, with a level for each of the first
  std::vector<sparse_level> levels{};
};

struct call_options {
  std::uint8_t tag = 0;                ///< 0: none
  std::vector<std::int32_t> values{};  ///< fields 0, 1...
  bool second_union = false;
};

struct op {
  int kind = 0;
  std::vector<std::int32_t> inputs{}, outputs{};
  std::string custom{};
  call_options call{};
  std::string custom_options{};
};

struct subgraph {
  std::vector<tensor> tensors;
  std::vector<op> ops;
  std::vector<std::int32_t> inputs, outputs;
  std::string name{};
};

struct buffer {
  std::size_t bytes = 0;
  std::uint64_t offset = 0, size = 0;
  std::string content{};  ///< instead of `bytes` zeros
};

struct metadata {
  std::string name, content;
};

/// Names of inputs and outputs of subgraph 0, and their tensors.
struct signature {
  std::string key;
  std::vector<std::pair<std::string, std::uint32_t>> inputs, outputs;
};

struct model {
  std::vector<subgraph> subgraphs;
  std::vector<buffer> buffers{{0}, {16}};  ///< buffer 1 holds data
  std::uint32_t version = 3;
  std::uint32_t skipped_codes = 0;                 ///< shifts every operator's code index, to point past the end
  std::vector<tflite_model::metadata> metadata{};  ///< each with a buffer of its own, after the others
  std::vector<signature> signatures{};
};

class writer {
 public:
  std::string write(const model& m) {
    std::vector<offset> codes, graphs, buffers;
    for (const subgraph& g : m.subgraphs)
      for (const op& o : g.ops) codes.push_back(add_code(o));
    std::uint32_t code = m.skipped_codes;
    for (const subgraph& g : m.subgraphs) graphs.push_back(add_subgraph(g, code));
    for (const buffer& data : m.buffers) buffers.push_back(add_buffer(data));
    std::vector<offset> entries;
    for (const metadata& entry : m.metadata) {
      entries.push_back(add_metadata(entry, static_cast<std::uint32_t>(buffers.size())));
      buffers.push_back(add_buffer({.content = entry.content}));
    }
    const auto code_list = b_.CreateVector(codes);
    const auto graph_list = b_.CreateVector(graphs);
    const auto buffer_list = b_.CreateVector(buffers);
    const auto entry_list = b_.CreateVector(entries);
    std::vector<offset> signatures;
    for (const signature& s : m.signatures) signatures.push_back(add_signature(s));
    const auto signature_list = b_.CreateVector(signatures);
    start();
    b_.AddElement<std::uint32_t>(slot(0), m.version, 0);
    b_.AddOffset(slot(1), code_list);
    b_.AddOffset(slot(2), graph_list);
    b_.AddOffset(slot(4), buffer_list);
    if (!entries.empty()) b_.AddOffset(slot(6), entry_list);
    if (!signatures.empty()) b_.AddOffset(slot(7), signature_list);
    b_.Finish(end(), "TFL3");
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

 private:
  using offset = flatbuffers::Offset<flatbuffers::Table>;

  static flatbuffers::voffset_t slot(int field) { return static_cast<flatbuffers::voffset_t>(4 + 2 * field); }
  void start() { start_ = b_.StartTable(); }
  offset end() { return b_.EndTable(start_); }

  offset add_code(const op& o) {
    const auto custom = b_.CreateString(o.custom);
    start();
    b_.AddElement<std::int8_t>(slot(0), static_cast<std::int8_t>(o.kind < 127 ? o.kind : 127), 0);
    if (!o.custom.empty()) b_.AddOffset(slot(1), custom);
    b_.AddElement<std::int32_t>(slot(3), o.kind, 0);
    return end();
  }

  offset add_subgraph(const subgraph& g, std::uint32_t& code) {
    std::vector<offset> tensors, ops;
    for (const tensor& t : g.tensors) tensors.push_back(add_tensor(t));
    for (const op& o : g.ops) ops.push_back(add_operator(o, code++));
    const auto tensor_list = b_.CreateVector(tensors);
    const auto inputs = b_.CreateVector(g.inputs);
    const auto outputs = b_.CreateVector(g.outputs);
    const auto op_list = b_.CreateVector(ops);
    const auto name = b_.CreateString(g.name);
    start();
    b_.AddOffset(slot(0), tensor_list);
    b_.AddOffset(slot(1), inputs);
    b_.AddOffset(slot(2), outputs);
    b_.AddOffset(slot(3), op_list);
    b_.AddOffset(slot(4), name);
    return end();
  }

  offset add_tensor(const tensor& t) {
    const auto shape = b_.CreateVector(t.shape);
    const auto name = b_.CreateString(t.name);
    const auto signature = b_.CreateVector(t.signature);
    const auto quantization = add_quantization(t);
    const auto sparsity = add_sparsity(t);
    start();
    b_.AddOffset(slot(0), shape);
    b_.AddElement<std::int8_t>(slot(1), static_cast<std::int8_t>(t.type), 0);
    b_.AddElement<std::uint32_t>(slot(2), t.buffer, 0);
    b_.AddOffset(slot(3), name);
    if (!t.scale.empty()) b_.AddOffset(slot(4), quantization);
    b_.AddElement<std::uint8_t>(slot(5), t.variable, 0);
    if (!t.traversal.empty()) b_.AddOffset(slot(6), sparsity);
    if (!t.signature.empty()) b_.AddOffset(slot(7), signature);
    b_.AddElement<std::uint32_t>(slot(10), t.external_buffer, 0);
    return end();
  }

  offset add_quantization(const tensor& t) {
    const auto scale = b_.CreateVector(t.scale);
    const auto zero = b_.CreateVector(t.zero_point);
    start();
    b_.AddOffset(slot(2), scale);
    if (!t.zero_point.empty()) b_.AddOffset(slot(3), zero);
    b_.AddElement<std::int32_t>(slot(6), t.dimension, 0);
    return end();
  }

  offset add_sparsity(const tensor& t) {
    std::vector<offset> levels;
    for (const sparse_level& l : t.levels) {
      std::vector<offset> lists;
      for (const auto* values : {&l.segments, &l.positions}) {
        const auto list = b_.CreateVector(*values);
        start();
        b_.AddOffset(slot(0), list);
        lists.push_back(end());
      }
      start();
      const bool sparse = !l.segments.empty();
      b_.AddElement<std::int8_t>(slot(0), sparse, 0);
      b_.AddElement<std::int32_t>(slot(1), l.size, 0);
      for (int i = 0; i < 2 && sparse; ++i) {
        b_.AddElement<std::uint8_t>(slot(2 + 2 * i), 1, 0);
        b_.AddOffset(slot(3 + 2 * i), lists[static_cast<std::size_t>(i)]);
      }
      levels.push_back(end());
    }
    const auto traversal = b_.CreateVector(t.traversal);
    const auto blocks = b_.CreateVector(t.block_map);
    const auto level_list = b_.CreateVector(levels);
    start();
    b_.AddOffset(slot(0), traversal);
    b_.AddOffset(slot(1), blocks);
    b_.AddOffset(slot(2), level_list);
    return end();
  }

  offset add_operator(const op& o, std::uint32_t code) {
    const auto inputs = b_.CreateVector(o.inputs);
    const auto outputs = b_.CreateVector(o.outputs);
    start();
    for (std::size_t i = 0; i < o.call.values.size(); ++i)
      b_.AddElement<std::int32_t>(slot(static_cast<int>(i)), o.call.values[i], 0);
    const auto call = end();
    const auto settings = b_.CreateVector(std::vector<std::uint8_t>(o.custom_options.begin(), o.custom_options.end()));
    const int type = o.call.second_union ? 11 : 3;
    start();
    b_.AddElement<std::uint32_t>(slot(0), code, 0);
    b_.AddOffset(slot(1), inputs);
    b_.AddOffset(slot(2), outputs);
    b_.AddElement<std::uint8_t>(slot(type), o.call.tag, 0);
    if (o.call.tag != 0) b_.AddOffset(slot(type + 1), call);
    if (!o.custom_options.empty()) b_.AddOffset(slot(5), settings);
    return end();
  }

  offset add_signature(const signature& s) {
    std::vector<flatbuffers::Offset<flatbuffers::Vector<offset>>> lists;
    for (const auto* names : {&s.inputs, &s.outputs}) {
      std::vector<offset> entries;
      for (const auto& [name, tensor] : *names) {
        const auto text = b_.CreateString(name);
        start();
        b_.AddOffset(slot(0), text);
        b_.AddElement<std::uint32_t>(slot(1), tensor, 0);
        entries.push_back(end());
      }
      lists.push_back(b_.CreateVector(entries));
    }
    const auto key = b_.CreateString(s.key);
    start();
    b_.AddOffset(slot(0), lists[0]);
    b_.AddOffset(slot(1), lists[1]);
    b_.AddOffset(slot(2), key);
    return end();
  }

  offset add_metadata(const metadata& m, std::uint32_t buffer) {
    const auto name = b_.CreateString(m.name);
    start();
    b_.AddOffset(slot(0), name);
    b_.AddElement<std::uint32_t>(slot(1), buffer, 0);
    return end();
  }

  offset add_buffer(const buffer& data) {
    std::vector<std::uint8_t> content(data.content.begin(), data.content.end());
    if (content.empty()) content.resize(data.bytes);
    b_.ForceVectorAlignment(content.size(), 1, 16);
    const auto list = b_.CreateVector(content);
    start();
    if (!content.empty()) b_.AddOffset(slot(0), list);
    b_.AddElement<std::uint64_t>(slot(1), data.offset, 0);
    b_.AddElement<std::uint64_t>(slot(2), data.size, 0);
    return end();
  }

  flatbuffers::FlatBufferBuilder b_;
  flatbuffers::uoffset_t start_ = 0;
};

inline std::string write(const model& m) { return writer().write(m); }
inline std::string write(const subgraph& g) { return write(model{{g}}); }

}  // namespace tflite_model
