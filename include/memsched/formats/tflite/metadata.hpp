// The two metadata of TensorFlow Lite models that depend on the order of the operators, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/formats/tflite/tables.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// The name of the metadata that says which operator waits for which other, by position in the file (LiteRT:
/// core/model_control_dependencies).
inline constexpr const char* control_dependencies = "model_control_dependencies";
/// Where tensors lie (TensorFlow Lite Micro: its memory planner's offline mode).
inline constexpr const char* offline_allocation = "OfflineMemoryAllocation";

struct metadata_entry {
  table where;
  std::string name;
  std::uint32_t buffer = 0;
  std::string_view content{};
};

using control_edge = std::pair<index_t, index_t>;  // operators of one subgraph: the first runs before the second

namespace codec {

inline void put_varint(std::string& bytes, std::uint64_t v) {
  for (; v >= 128; v >>= 7) bytes += static_cast<char>(v % 128 + 128);
  bytes += static_cast<char>(v);
}

/// Takes a number from the front; none if the bytes end before or it has more than 64 bits.
inline std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t v = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    v |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return v;
  }
  return std::nullopt;
}

/// Signed numbers as 0, -1, 1, -2, 2...
inline std::uint64_t zigzag(std::int64_t v) { return static_cast<std::uint64_t>(v) * 2 ^ (v < 0 ? ~std::uint64_t{0} : 0); }

inline void put_word(std::string& bytes, std::uint32_t v) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(v >> shift & 255u);
}

}  // namespace codec

/// Edges of each subgraph: varint 1, varint number of subgraphs, for each varint number of edges, for each two zigzag
/// varints. None if the bytes are something else.
inline std::optional<std::vector<std::vector<control_edge>>> read_control_edges(std::string_view bytes) {
  const auto take = [&] { return codec::take_varint(bytes); };
  const auto version = take(), subgraphs = take();
  if (version != 1 || !subgraphs || *subgraphs > bytes.size()) return std::nullopt;
  std::vector<std::vector<control_edge>> edges(static_cast<std::size_t>(*subgraphs));
  for (auto& list : edges) {
    const auto count = take();
    if (!count || *count > bytes.size()) return std::nullopt;
    for (std::uint64_t e = 0; e < *count; ++e) {
      const auto from = take(), to = take();
      // An even number is a zigzag of one that is not negative.
      if (!from || !to || *from % 2 != 0 || *to % 2 != 0 || *from / 2 >= none || *to / 2 >= none) return std::nullopt;
      list.emplace_back(static_cast<index_t>(*from / 2), static_cast<index_t>(*to / 2));
    }
  }
  if (!bytes.empty()) return std::nullopt;
  return edges;
}

inline std::string write_control_edges(const std::vector<std::vector<control_edge>>& edges) {
  std::string bytes;
  codec::put_varint(bytes, 1);
  codec::put_varint(bytes, edges.size());
  for (const auto& list : edges) {
    codec::put_varint(bytes, list.size());
    for (const auto& [from, to] : list) {
      codec::put_varint(bytes, codec::zigzag(from));
      codec::put_varint(bytes, codec::zigzag(to));
    }
  }
  return bytes;
}

/// An offset that leaves the place to the runtime.
inline constexpr std::int32_t runtime_decides = -1;

/// Offsets of all tensors of all subgraphs; none if the bytes are something else. Words: version, number of
/// subgraphs (both ignored), number of tensors, offsets; the least significant byte of each comes first.
inline std::optional<std::vector<std::int32_t>> read_offsets(std::string_view bytes) {
  const auto word = [&](std::size_t i) {
    std::uint32_t v = 0;
    for (std::size_t b = 4; b-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[4 * i + b]);
    return v;
  };
  if (bytes.size() < 12 || (bytes.size() - 12) / 4 < word(2)) return std::nullopt;
  std::vector<std::int32_t> offsets(word(2));
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int32_t>(word(3 + i));
  return offsets;
}

inline std::string write_offsets(std::size_t subgraphs, const std::vector<std::int32_t>& offsets) {
  std::string bytes;
  codec::put_word(bytes, 1);
  codec::put_word(bytes, static_cast<std::uint32_t>(subgraphs));
  codec::put_word(bytes, static_cast<std::uint32_t>(offsets.size()));
  for (const std::int32_t o : offsets) codec::put_word(bytes, static_cast<std::uint32_t>(o));
  return bytes;
}

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
