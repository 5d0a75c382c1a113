// ONNX files on the wire: fields of protobuf messages by the places of their bytes. Needs nothing but the standard library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_wire {

/// A field of a protobuf message, tag included, in bytes from the start of the file.
struct record {
  std::uint64_t field = 0;
  unsigned type = 0;  ///< of the wire; 2: a length, and as many bytes as it says
  std::size_t begin = 0, payload = 0, end = 0;
};

inline std::optional<std::uint64_t> take_varint(std::string_view bytes, std::size_t& at, std::size_t end) {
  std::uint64_t v = 0;
  for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    v |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return v;
  }
  return std::nullopt;
}

/// The fields of the message in [begin, end); none if that is no message, or has a group. O(fields).
inline std::optional<std::vector<record>> fields_of(std::string_view bytes, std::size_t begin, std::size_t end) {
  std::vector<record> list;
  for (std::size_t at = begin; at < end;) {
    record r;
    r.begin = at;
    const auto tag = take_varint(bytes, at, end);
    if (!tag || *tag < 8) return std::nullopt;
    r.field = *tag / 8;
    r.type = static_cast<unsigned>(*tag % 8);
    r.payload = at;
    std::uint64_t length = r.type == 1 ? 8 : 4;
    if (r.type == 0) {
      if (!take_varint(bytes, at, end)) return std::nullopt;
      length = 0;
    } else if (r.type == 2) {
      const auto stated = take_varint(bytes, at, end);
      if (!stated) return std::nullopt;
      length = *stated;
      r.payload = at;
    } else if (r.type != 1 && r.type != 5) {
      return std::nullopt;
    }
    if (length > end - at) return std::nullopt;
    at += static_cast<std::size_t>(length);
    r.end = at;
    list.push_back(r);
  }
  return list;
}

/// Messages of ONNX that hold weights, directly or not.
enum class message : unsigned char { model, graph, node, attribute, tensor, sparse_tensor };

/// Whether field `field` of a message is such a message again, and which.
inline std::optional<message> inner_message(message m, std::uint64_t field) {
  switch (m) {
    case message::model: return field == 7 ? std::optional(message::graph) : std::nullopt;
    case message::graph:
      if (field == 1) return message::node;
      if (field == 5) return message::tensor;
      return field == 15 ? std::optional(message::sparse_tensor) : std::nullopt;
    case message::node: return field == 5 ? std::optional(message::attribute) : std::nullopt;
    case message::attribute:
      if (field == 5 || field == 10) return message::tensor;
      if (field == 6 || field == 11) return message::graph;
      return field == 22 || field == 23 ? std::optional(message::sparse_tensor) : std::nullopt;
    case message::sparse_tensor: return field == 1 || field == 2 ? std::optional(message::tensor) : std::nullopt;
    case message::tensor: break;
  }
  return std::nullopt;
}

/// Whether a tensor of an ONNX model has its elements in another file, which is found from the folder of this one.
/// `begin`, `end`: the bytes of the message. O(fields); ignores bytes that are no message.
inline bool has_external_data(std::string_view bytes, std::size_t begin, std::size_t end, message m = message::model,
                              int depth = 0) {
  constexpr std::uint64_t data_location = 14, external = 1;
  constexpr int deepest = 100;
  const auto fields = fields_of(bytes, begin, end);
  if (!fields || depth == deepest) return false;
  for (const record& r : *fields) {
    if (m == message::tensor && r.field == data_location && r.type == 0) {
      std::size_t at = r.payload;
      if (take_varint(bytes, at, r.end) == external) return true;
    }
    const auto inner = r.type == 2 ? inner_message(m, r.field) : std::nullopt;
    if (inner && has_external_data(bytes, r.payload, r.end, *inner, depth + 1)) return true;
  }
  return false;
}

/// Copies ONNX models without the elements of large tensors, whose bytes are not even touched.
class weight_stripper {
 public:
  explicit weight_stripper(std::string_view bytes) : bytes_(bytes) {}

  /// The model without them: every tensor keeps type and shape. None if the file is no message, or has a group.
  std::optional<std::string> run() {
    std::string out;
    if (!copy(message::model, 0, bytes_.size(), 0, out)) return std::nullopt;
    return out;
  }

 private:
  static constexpr std::size_t largest_kept = 16384;  // of one tensor: more than a followed value takes
  static constexpr int deepest = 100;                 // protobuf goes no deeper

  bool copy(message m, std::size_t begin, std::size_t end, int depth, std::string& out) {
    const auto fields = fields_of(bytes_, begin, end);
    if (!fields) return false;
    const bool strip = m == message::tensor && elements_of(*fields) > largest_kept;
    std::array<std::size_t, 32> count{};  // of the records of a field
    for (const record& r : *fields)
      if (r.field < count.size()) ++count[r.field];
    for (const record& r : *fields) {
      if (strip && holds_elements(r)) continue;
      const auto inner = r.type == 2 && depth < deepest ? inner_message(m, r.field) : std::nullopt;
      const bool merged = inner && stands_once(m, r.field) && count[r.field] > 1;  // by protobuf: stays as it is
      if (!inner || merged || r.end - r.payload <= largest_kept) {
        out.append(bytes_, r.begin, r.end - r.begin);
        continue;
      }
      std::string content;
      if (!copy(*inner, r.payload, r.end, depth + 1, content)) return false;
      put_varint(r.field * 8 + 2, out);
      put_varint(content.size(), out);
      out += content;
    }
    return true;
  }

  /// Fields of a tensor that list elements: float_data 4, int32_data 5, string_data 6, int64_data 7, raw_data 9,
  /// double_data 10, uint64_data 11.
  static bool holds_elements(const record& r) {
    return r.field == 4 || r.field == 5 || r.field == 6 || r.field == 7 || r.field == 9 || r.field == 10 || r.field == 11;
  }
  static std::size_t elements_of(const std::vector<record>& tensor) {
    std::size_t sum = 0;
    for (const record& r : tensor)
      if (holds_elements(r)) sum += r.end - r.begin;
    return sum;
  }
  /// Whether a message has such a message in it once, so that protobuf would merge two records of it.
  static bool stands_once(message m, std::uint64_t field) {
    if (m == message::attribute) return field == 5 || field == 6 || field == 22;
    return m == message::model || m == message::sparse_tensor;
  }
  static void put_varint(std::uint64_t v, std::string& out) {
    for (; v >= 128; v >>= 7) out += static_cast<char>((v & 127) | 128);
    out += static_cast<char>(v);
  }

  std::string_view bytes_;
};

}  // namespace onnx_wire
}  // namespace MEMSCHED_ABI
}  // namespace memsched
