// Tables of a flatbuffer that may be damaged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include <memsched/graph/error.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// A field of a table: its number in the schema.
struct field {
  flatbuffers::voffset_t number;
  const char* name;
  flatbuffers::voffset_t slot() const { return static_cast<flatbuffers::voffset_t>(4 + 2 * number); }
};

namespace model_fields {
inline constexpr field version{0, "version"}, operator_codes{1, "operator_codes"}, subgraphs{2, "subgraphs"},
    buffers{4, "buffers"}, metadata{6, "metadata"}, signatures{7, "signature_defs"};
}
namespace signature_fields {
inline constexpr field inputs{0, "inputs"}, outputs{1, "outputs"}, key{2, "signature_key"}, subgraph{4, "subgraph_index"};
}
namespace map_fields {
inline constexpr field name{0, "name"}, tensor{1, "tensor_index"};
}
namespace subgraph_fields {
inline constexpr field tensors{0, "tensors"}, inputs{1, "inputs"}, outputs{2, "outputs"}, operators{3, "operators"},
    name{4, "name"};
}
namespace tensor_fields {
inline constexpr field shape{0, "shape"}, type{1, "type"}, buffer{2, "buffer"}, name{3, "name"},
    quantization{4, "quantization"}, is_variable{5, "is_variable"}, sparsity{6, "sparsity"},
    shape_signature{7, "shape_signature"}, external_buffer{10, "external_buffer"};
}
namespace operator_fields {
inline constexpr field opcode_index{0, "opcode_index"}, inputs{1, "inputs"}, outputs{2, "outputs"},
    options_type{3, "builtin_options_type"}, options{4, "builtin_options"}, custom_options{5, "custom_options"},
    large_custom_options_offset{9, "large_custom_options_offset"}, options_2_type{11, "builtin_options_2_type"},
    options_2{12, "builtin_options_2"};
}
namespace quantization_fields {
inline constexpr field scale{2, "scale"}, zero_point{3, "zero_point"}, details_type{4, "details_type"},
    dimension{6, "quantized_dimension"};
}
namespace code_fields {
inline constexpr field old_builtin{0, "deprecated_builtin_code"}, custom_code{1, "custom_code"}, version{2, "version"},
    builtin{3, "builtin_code"};
}
namespace metadata_fields {
inline constexpr field name{0, "name"}, buffer{1, "buffer"};
}
namespace buffer_fields {
inline constexpr field data{0, "data"}, offset{1, "offset"}, size{2, "size"};
}

/// Where in the file something stands: up to two list entries, as in subgraphs[0].operators[3].
struct place {
  const char* list = nullptr;
  std::size_t at = 0;
  const char* inner = nullptr;
  std::size_t inner_at = 0;

  place entry(const char* name, std::size_t i) const { return list == nullptr ? place{name, i} : place{list, at, name, i}; }
  std::string text() const {
    if (list == nullptr) return "the model";
    std::string s = std::string(list) + "[" + std::to_string(at) + "]";
    if (inner != nullptr) s += std::string(".") + inner + "[" + std::to_string(inner_at) + "]";
    return s;
  }
  std::string text(field f) const { return list == nullptr ? f.name : text() + "." + f.name; }
};

/// A table whose head is verified, or none.
struct table {
  const flatbuffers::Table* data = nullptr;
  place where;
};

/// Reads tables of a flatbuffer that may be damaged: each offset is verified just before its use. The first fault is
/// kept; unreadable parts count as absent.
class untrusted_file {
 public:
  explicit untrusted_file(std::string_view file)
      : words_(aligned(file) ? 0 : file.size() / sizeof(std::uint64_t) + 1),
        begin_(
            reinterpret_cast<const std::uint8_t*>(words_.empty() ? static_cast<const void*>(file.data()) : words_.data())),
        tables_size_(std::min<std::size_t>(file.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1)),
        file_size_(file.size()),
        left_(budget_factor * std::uint64_t{file.size()}),
        verifier_(begin_, tables_size_, 64, std::numeric_limits<flatbuffers::uoffset_t>::max()) {
    if (!words_.empty()) std::memcpy(words_.data(), file.data(), file.size());
  }
  untrusted_file(const untrusted_file&) = delete;
  untrusted_file& operator=(const untrusted_file&) = delete;

  std::uint64_t size() const { return file_size_; }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(begin_), file_size_}; }
  /// Where a verified table starts, in bytes from the start of the file.
  std::size_t position(const table& t) const { return offset_of(reinterpret_cast<const std::uint8_t*>(t.data)); }
  bool failed() const { return !error_.message.empty(); }
  graph_error error() const { return error_; }
  /// Keeps the first fault; false.
  bool fault(error_code code, std::string message) {
    if (!failed()) error_ = {code, std::move(message), {}, {}};
    return false;
  }

  /// The fault of an index out of range; false.
  bool lacks(error_code code, const std::string& where, const char* what, std::int64_t i, std::size_t count) {
    return fault(code, where + ": there is no " + what + " " + std::to_string(i) + " among " + std::to_string(count));
  }

  table root() {
    if (tables_size_ < 8 || !flatbuffers::BufferHasIdentifier(begin_, "TFL3")) {
      fault(error_code::bad_input, "no TensorFlow Lite model: bytes 4 to 7 are not \"TFL3\"");
      return {};
    }
    const table model = open(0, {});
    if (model.data == nullptr) damaged("the root offset");
    return model;
  }

  template <class T>
  T number(const table& t, field f, T otherwise = 0) {
    if (t.data == nullptr || failed()) return otherwise;
    if (!t.data->VerifyField<T>(verifier_, f.slot(), sizeof(T))) return damaged(t.where.text(f)), otherwise;
    return t.data->GetField<T>(f.slot(), otherwise);
  }

  /// The table in a field; none if the field is absent.
  table child(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return {};
    const table found = open(offset_of(at), t.where);
    if (found.data == nullptr) damaged(t.where.text(f));
    return found;
  }

  std::vector<table> children(const table& t, field f) {
    const auto* list = vector<flatbuffers::uoffset_t>(t, f);
    std::vector<table> tables;
    if (list == nullptr || !take(list->size() * sizeof(flatbuffers::uoffset_t), t, f)) return tables;
    tables.reserve(list->size());
    std::size_t at = offset_of(list->Data());
    for (flatbuffers::uoffset_t i = 0; i < list->size() && !failed(); ++i, at += sizeof(flatbuffers::uoffset_t)) {
      tables.push_back(open(at, t.where.entry(f.name, i)));
      if (tables.back().data == nullptr) damaged(t.where.entry(f.name, i).text());
    }
    return tables;
  }

  template <class T = std::int32_t>
  std::vector<T> numbers(const table& t, field f) {
    const auto* list = vector<T>(t, f);
    std::vector<T> values;
    if (list == nullptr || !take(list->size() * sizeof(T), t, f)) return values;
    values.reserve(list->size());
    for (flatbuffers::uoffset_t i = 0; i < list->size(); ++i) values.push_back(list->Get(i));
    return values;
  }

  std::string text(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return {};
    const auto* string = reinterpret_cast<const flatbuffers::String*>(target(at));
    if (!verifier_.VerifyString(string)) return damaged(t.where.text(f)), std::string();
    return take(string->size(), t, f) ? string->str() : std::string();
  }

  /// The bytes in a field; they stay those of the file.
  std::string_view content(const table& t, field f) {
    const auto* list = vector<std::uint8_t>(t, f);
    if (list == nullptr) return {};
    return {reinterpret_cast<const char*>(list->Data()), list->size()};
  }

  /// Where the list in a field starts, in bytes from the start of the file; 0 if the field is absent.
  std::size_t list_position(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    return at == nullptr ? 0 : offset_of(target(at));
  }

  /// Where the number in a field stands, in bytes from the start of the file; 0 if the field is absent.
  template <class T>
  std::size_t number_position(const table& t, field f) {
    if (t.data == nullptr || failed()) return 0;
    if (!t.data->VerifyField<T>(verifier_, f.slot(), sizeof(T))) return damaged(t.where.text(f)), 0;
    const std::uint8_t* at = t.data->GetAddressOf(f.slot());
    return at == nullptr ? 0 : offset_of(at);
  }

  /// The number of fields that the schema of the file's writer gave a table, present or not.
  std::size_t fields(const table& t) const {
    const std::uint8_t* const vtable = t.data->GetVTable();
    return (flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable) - 4u) / 2u;
  }

  /// The field with this number as the file has it, and the bytes after it up to the next field or the end of the table, at
  /// most eight bytes: as many as a number there can have. Its width is 0 if the field is absent.
  std::pair<std::uint64_t, std::size_t> raw_number(const table& t, flatbuffers::voffset_t number) {
    const auto place = [&](std::size_t n) -> std::size_t {
      return t.data->GetOptionalFieldOffset(static_cast<flatbuffers::voffset_t>(4 + 2 * n));
    };
    const std::size_t at = place(number);
    if (at == 0 || failed()) return {0, 0};
    std::size_t last = flatbuffers::ReadScalar<flatbuffers::voffset_t>(t.data->GetVTable() + 2);  // the table's bytes
    for (std::size_t i = 0; i < fields(t); ++i)
      if (place(i) > at) last = std::min(last, place(i));
    const std::size_t start = position(t);
    std::size_t width = 8;
    while (width > 1 && (at + width > last || (start + at) % width != 0)) width /= 2;
    std::uint64_t bits = 0;
    if (start + at + width > file_size_) return damaged(t.where.text()), std::pair(bits, std::size_t{0});
    for (std::size_t i = 0; i < width; ++i) bits |= std::uint64_t{begin_[start + at + i]} << (8 * i);
    return {bits, width};
  }

  /// The number of bytes that a field holds, without a look at them.
  std::size_t length(const table& t, field f) {
    const auto* list = vector<std::uint8_t>(t, f);
    return list == nullptr ? 0 : list->size();
  }

 private:
  // Lists may overlap, so that a small file could ask for any amount of work. An honest one has each byte read about
  // once.
  static constexpr std::uint64_t budget_factor = 4;

  static bool aligned(std::string_view file) {
    return reinterpret_cast<std::uintptr_t>(file.data()) % sizeof(std::uint64_t) == 0;
  }
  std::size_t offset_of(const std::uint8_t* p) const { return static_cast<std::size_t>(p - begin_); }

  bool damaged(const std::string& what) {
    return fault(error_code::bad_input, what + ": damaged: it reaches past the end of the file or is misaligned");
  }

  /// The table that the offset at byte `at` leads to; none if either is damaged.
  table open(std::size_t at, place where) {
    const flatbuffers::uoffset_t step = verifier_.VerifyOffset(at);
    const std::uint8_t* data = begin_ + at + step;
    if (step == 0 || !verifier_.VerifyTableStart(data)) return {};
    verifier_.EndTable();  // tables are visited one at a time: none is nested in another
    return {reinterpret_cast<const flatbuffers::Table*>(data), where};
  }

  /// Where the offset in a field stands, verified; null if the field is absent.
  const std::uint8_t* offset_field(const table& t, field f) {
    if (t.data == nullptr || failed()) return nullptr;
    if (!t.data->VerifyOffset(verifier_, f.slot())) return damaged(t.where.text(f)), nullptr;
    return t.data->GetAddressOf(f.slot());
  }

  static const std::uint8_t* target(const std::uint8_t* at) {
    return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at);
  }

  template <class T>
  const flatbuffers::Vector<T>* vector(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return nullptr;
    const auto* list = reinterpret_cast<const flatbuffers::Vector<T>*>(target(at));
    if (!verifier_.VerifyVector(list)) return damaged(t.where.text(f)), nullptr;
    return list;
  }

  bool take(std::uint64_t amount, const table& t, field f) {
    if (amount > left_)
      return fault(error_code::bad_input, t.where.text(f) + ": the file's lists overlap: together they are over " +
                                              std::to_string(budget_factor) + " times its size");
    left_ -= amount;
    return true;
  }

  std::vector<std::uint64_t> words_;  ///< a copy, if the caller's bytes are not aligned
  const std::uint8_t* begin_;
  std::size_t tables_size_;  ///< offsets reach 2 GiB; beyond that only weights are stored
  std::uint64_t file_size_;
  std::uint64_t left_;
  flatbuffers::Verifier verifier_;
  graph_error error_;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
