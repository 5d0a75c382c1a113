// Changes of a TensorFlow Lite file in its bytes: another order of operators, other metadata, all else as it was.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/metadata.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

inline std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t b = 4; b-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[at + b]);
  return v;
}

template <class T>
void set_number(std::string& bytes, std::size_t at, T v) {
  for (std::size_t b = 0; b < sizeof(T); ++b) bytes[at + b] = static_cast<char>(v >> 8 * b & 255u);
}

/// Orders the operators of a subgraph by permuting the list of them, whose n words lead from where they stand to the
/// operators' tables. `order` holds positions of the list.
inline graph_error permute_operators(std::string& bytes, std::size_t list, const std::vector<index_t>& order) {
  std::vector<std::size_t> tables(order.size());
  const auto slot = [&](std::size_t i) { return list + 4 + 4 * i; };
  for (std::size_t i = 0; i < order.size(); ++i) tables[i] = slot(i) + word_at(bytes, slot(i));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t target = tables[order[i]];
    if (target <= slot(i))
      return {error_code::bad_input, "an operator's table stands before the list that names it", {}, {}};
    set_number(bytes, slot(i), static_cast<std::uint32_t>(target - slot(i)));
  }
  return {};
}

struct metadata_change {
  std::string name, content;
};

/// Writes metadata by a new head in front of the old bytes: a model whose lists of buffers and metadata are longer and
/// whose other fields lead into the old bytes. An entry of the same name is replaced.
class head_writer {
 public:
  head_writer(std::string_view old, const std::vector<metadata_change>& changes) : old_(old), changes_(changes), m_(old) {}

  result<std::string> run() {
    root_ = m_.root();
    if (m_.failed()) return m_.error();
    constexpr std::size_t known_fields = 10;
    if (m_.fields(root_) > known_fields)
      return graph_error{error_code::bad_input, "the model has fields that are not known: metadata cannot be added", {}, {}};
    lay_out();
    if (m_.failed()) return m_.error();
    if (!fits_) return graph_error{error_code::too_large, "the model with more metadata is beyond 2 GiB", {}, {}};
    std::string made = std::move(head_);
    made.append(old_);
    shift_absolute(made);
    if (m_.failed()) return m_.error();
    return made;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t limit = (std::size_t{1} << 31) - 1;

  /// Positions of the entries of a list of tables in the old file.
  std::vector<std::size_t> entries(field f) {
    std::vector<std::size_t> found;
    for (const table& t : m_.children(root_, f)) found.push_back(m_.position(t));
    return found;
  }

  void lay_out() {
    const std::vector<std::size_t> buffers = entries(model_fields::buffers);
    const std::vector<table> metadata = m_.children(root_, model_fields::metadata);
    std::vector<std::size_t> replaced(metadata.size(), changes_.size());  // by which change
    std::size_t added = changes_.size();
    for (std::size_t c = 0; c < changes_.size(); ++c)
      for (std::size_t e = metadata.size(); e-- > 0;)
        if (m_.text(metadata[e], metadata_fields::name) == changes_[c].name) {
          replaced[e] = c;
          --added;
          break;  // runtimes take the last one
        }
    const bool has_version = m_.number_position<std::uint32_t>(root_, model_fields::version) != 0;
    const auto version = m_.number<std::uint32_t>(root_, model_fields::version);

    put32(0);
    head_ += "TFL3";
    // The table of fields of the model: version in word 1, field i in word 1 + i.
    const std::size_t vtable = head_.size();
    constexpr std::size_t fields = 10;
    put16(4 + 2 * fields);
    put16(4 + 4 * fields);
    std::vector<std::size_t> children(fields, 0);
    for (std::size_t f = 0; f < fields; ++f) {
      const field at{static_cast<flatbuffers::voffset_t>(f), "field"};
      if (f > 0) children[f] = m_.list_position(root_, at);
      const bool made = f == model_fields::buffers.number || f == model_fields::metadata.number;
      put16(made || children[f] != 0 || (f == 0 && has_version) ? 4 + 4 * f : 0);
    }
    align(4);
    const std::size_t model = head_.size();
    put32(static_cast<std::uint32_t>(model - vtable));
    set_number(head_, 0, static_cast<std::uint32_t>(model));
    put32(version);
    for (std::size_t f = 1; f < fields; ++f) put32(0);
    const auto model_slot = [&](std::size_t f) { return model + 4 + 4 * f; };

    lead(model_slot(model_fields::metadata.number), head_.size());
    put32(static_cast<std::uint32_t>(metadata.size() + added));
    const std::size_t metadata_slots = head_.size();
    for (std::size_t i = 0; i < metadata.size() + added; ++i) put32(0);
    lead(model_slot(model_fields::buffers.number), head_.size());
    put32(static_cast<std::uint32_t>(buffers.size() + changes_.size()));
    const std::size_t buffer_slots = head_.size();
    for (std::size_t i = 0; i < buffers.size() + changes_.size(); ++i) put32(0);

    std::vector<std::size_t> entry_tables;
    for (std::size_t c = 0; c < changes_.size(); ++c) {
      entry_tables.push_back(put_entry(changes_[c].name, static_cast<std::uint32_t>(buffers.size() + c)));
      lead(buffer_slots + 4 * (buffers.size() + c), put_buffer(changes_[c].content));
    }
    align(alignment);
    shift_ = head_.size();
    for (std::size_t f = 1; f < fields; ++f)
      if (children[f] != 0 && f != model_fields::buffers.number && f != model_fields::metadata.number)
        lead(model_slot(f), shift_ + children[f]);
    for (std::size_t b = 0; b < buffers.size(); ++b) lead(buffer_slots + 4 * b, shift_ + buffers[b]);
    for (std::size_t e = 0; e < metadata.size(); ++e)
      lead(metadata_slots + 4 * e,
           replaced[e] < changes_.size() ? entry_tables[replaced[e]] : shift_ + m_.position(metadata[e]));
    std::size_t next = metadata.size();
    for (std::size_t c = 0; c < changes_.size(); ++c)
      if (std::find(replaced.begin(), replaced.end(), c) == replaced.end())
        lead(metadata_slots + 4 * next++, entry_tables[c]);
  }

  std::size_t put_entry(const std::string& name, std::uint32_t buffer) {
    const std::size_t entry = put_table({4, 8});
    put32(0);
    put32(buffer);
    lead(entry + 4, head_.size());
    put32(static_cast<std::uint32_t>(name.size()));
    head_ += name;
    head_ += '\0';
    align(4);
    return entry;
  }

  std::size_t put_buffer(const std::string& content) {
    const std::size_t buffer = put_table({4});
    put32(0);
    while (head_.size() % 16 != 12) put32(0);
    lead(buffer + 4, head_.size());
    put32(static_cast<std::uint32_t>(content.size()));
    head_ += content;
    align(4);
    return buffer;
  }

  /// The head of a table with fields that are words at these places; the words come next.
  std::size_t put_table(const std::vector<std::uint16_t>& fields) {
    const std::size_t vtable = head_.size();
    put16(4 + 2 * fields.size());
    put16(4 + 4 * fields.size());
    for (const std::uint16_t f : fields) put16(f);
    align(4);
    const std::size_t table = head_.size();
    put32(static_cast<std::uint32_t>(table - vtable));
    return table;
  }

  void put16(std::size_t v) {
    head_ += static_cast<char>(v & 255u);
    head_ += static_cast<char>(v >> 8 & 255u);
  }
  void put32(std::uint32_t v) { codec::put_word(head_, v); }
  void align(std::size_t to) { head_.resize((head_.size() + to - 1) / to * to, '\0'); }
  void lead(std::size_t slot, std::size_t to) {
    fits_ = fits_ && to < limit;
    set_number(head_, slot, static_cast<std::uint32_t>(to - slot));
  }

  /// Adds the length of the head to offsets from the start of the file: data and options after the tables.
  void shift_absolute(std::string& made) {
    std::set<std::size_t> done;  // two slots may name one table
    const auto shift = [&](const table& t, field f) {
      const std::size_t at = m_.number_position<std::uint64_t>(t, f);
      const auto value = m_.number<std::uint64_t>(t, f);
      if (at != 0 && value > 1 && done.insert(at).second) set_number(made, shift_ + at, value + shift_);
    };
    for (const table& t : m_.children(root_, model_fields::buffers)) shift(t, buffer_fields::offset);
    for (const table& g : m_.children(root_, model_fields::subgraphs))
      for (const table& op : m_.children(g, subgraph_fields::operators))
        shift(op, operator_fields::large_custom_options_offset);
  }

  std::string_view old_;
  const std::vector<metadata_change>& changes_;
  untrusted_file m_;
  table root_;
  std::string head_;
  std::size_t shift_ = 0;
  bool fits_ = true;
};

/// The additions of a rewritten file to its old contents.
struct rewrite {
  std::vector<std::vector<index_t>> orders;  ///< per subgraph: its operators by position; empty: as in the file
  std::vector<std::int32_t> offsets{};       ///< of all tensors of all subgraphs, for OfflineMemoryAllocation; empty: none
  bool chain = false;                        ///< control dependencies that keep the order of subgraph 0
};

/// Writes one file.
class file_writer {
 public:
  file_writer(std::string_view old, const rewrite& how) : old_(old), how_(how), m_(old) {}

  result<std::string> run() {
    if (!m_.read()) return m_.file.error();
    made_.assign(old_);
    if (graph_error e = permute(); !e.message.empty()) return e;
    std::vector<metadata_change> head;
    for (const metadata_change& c : changes())
      if (!overwrite(c)) head.push_back(c);
    if (!error_.message.empty()) return error_;
    if (!head.empty()) {
      auto longer = head_writer(made_, head).run();
      if (!longer) return longer.error();
      made_ = std::move(*longer);
    }
    return read_again();
  }

 private:
  static graph_error refusal(std::string why) { return {error_code::bad_input, std::move(why), {}, {}}; }

  bool changed(std::size_t s) const {
    if (s >= how_.orders.size()) return false;
    const std::vector<index_t>& order = how_.orders[s];
    for (index_t i = 0; i < order.size(); ++i)
      if (order[i] != i) return true;
    return false;
  }
  bool changed() const {
    for (std::size_t s = 0; s < how_.orders.size(); ++s)
      if (changed(s)) return true;
    return false;
  }

  graph_error permute() {
    std::vector<std::pair<std::size_t, std::size_t>> lists;  // of subgraphs, by place
    for (std::size_t s = 0; s < m_.listed().size(); ++s)
      lists.emplace_back(m_.file.list_position(m_.listed()[s], subgraph_fields::operators), s);
    std::sort(lists.begin(), lists.end());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto [at, s] = lists[i];
      if (!changed(s)) continue;
      const bool shared = (i > 0 && lists[i - 1].first == at) || (i + 1 < lists.size() && lists[i + 1].first == at);
      if (shared) return refusal(m_.listed()[s].where.text() + ": another subgraph has the same list of operators");
      if (how_.orders[s].size() != m_.subgraphs[s].operators.size())
        return refusal(m_.listed()[s].where.text() + ": the order is of another model");
      if (graph_error e = permute_operators(made_, at, how_.orders[s]); !e.message.empty()) return e;
    }
    return {};
  }

  /// Metadata that there are to be: a plan or control dependencies of the old order would be wrong.
  std::vector<metadata_change> changes() {
    std::vector<metadata_change> list;
    const auto has = [&](const char* name) {
      return std::any_of(m_.metadata.begin(), m_.metadata.end(), [&](const auto& e) { return e.name == name; });
    };
    if (!how_.offsets.empty()) list.push_back({offline_allocation, write_offsets(m_.listed().size(), how_.offsets)});
    else if (has(offline_allocation) && changed()) list.push_back({offline_allocation, std::string()});
    if (how_.chain || (has(control_dependencies) && changed()))
      list.push_back({control_dependencies, write_control_edges(edges())});
    return list;
  }

  std::vector<std::vector<control_edge>> edges() {
    std::vector<std::vector<control_edge>> all(m_.listed().size());
    for (std::size_t s = 0; s < all.size(); ++s) {
      all[s] = m_.control_edges(s);
      if (!changed(s)) continue;
      std::vector<index_t> place(how_.orders[s].size());
      for (index_t i = 0; i < place.size(); ++i) place[how_.orders[s][i]] = i;
      for (auto& [from, to] : all[s]) {
        from = place[from];
        to = place[to];
      }
    }
    if (!how_.chain) return all;
    all[0] = chain();
    return all;
  }

  /// Each operator of subgraph 0 after the one before it; operators that make constants alone are left out, for an operator
  /// with a control dependency makes an activation.
  std::vector<control_edge> chain() const {
    const std::vector<operator_info>& operators = m_.subgraphs[0].operators;
    std::vector<control_edge> list;
    index_t last = none;
    for (index_t i = 0; i < operators.size(); ++i) {
      if (operators[changed(0) ? how_.orders[0][i] : i].folded) continue;
      if (last != none) list.emplace_back(last, i);
      last = i;
    }
    return list;
  }

  /// Writes metadata over all old ones of its name, if each has the same length; returns false if it must get a new place.
  /// No contents stand for a plan that leaves every tensor to the runtime.
  bool overwrite(const metadata_change& c) {
    bool fits = false;
    for (const metadata_entry& e : m_.metadata) {
      if (e.name != c.name) continue;
      std::string content = c.content;
      if (content.empty()) {
        const auto old = read_offsets(e.content);
        if (!old) {
          error_ = refusal(e.where.where.text() + ": its memory plan is damaged");
          return true;
        }
        content = std::string(e.content.substr(0, 12));
        for (std::size_t i = 0; i < old->size(); ++i) codec::put_word(content, static_cast<std::uint32_t>(runtime_decides));
        content.append(e.content.substr(content.size()));
      }
      fits = content.size() == e.content.size();
      if (!fits) continue;
      if (in_use(e.buffer)) {
        fits = false;
        if (!c.content.empty()) continue;
        error_ = refusal(e.where.where.text() + ": its buffer is used by something else");
        return true;
      }
      const auto at = static_cast<std::size_t>(e.content.data() - m_.file.bytes().data());
      made_.replace(at, content.size(), content);
    }
    return fits;
  }

  /// Whether a tensor or a second entry names a buffer.
  bool in_use(std::uint32_t buffer) {
    std::size_t uses = 0;
    for (const metadata_entry& e : m_.metadata) uses += e.buffer == buffer;
    for (const table& g : m_.listed())
      for (const table& t : m_.file.children(g, subgraph_fields::tensors))
        uses += m_.file.number<std::uint32_t>(t, tensor_fields::buffer) == buffer;
    return uses > 1;
  }

  /// Reads the written file again: tables of a damaged file may overlap the changes.
  result<std::string> read_again() {
    if (m_.file.failed()) return m_.file.error();
    model_file other(made_);
    if (!other.read()) return refusal("tables of the file overlap its list of operators: " + other.file.error().message);
    for (const std::size_t s : m_.callers_first) {
      const auto &before = m_.subgraphs[s].operators, &after = other.subgraphs[s].operators;
      bool equal = before.size() == after.size();
      for (std::size_t i = 0; equal && i < after.size(); ++i) {
        const operator_info& old = before[changed(s) ? how_.orders[s][i] : i];
        equal = old.kind == after[i].kind && old.inputs == after[i].inputs && old.outputs == after[i].outputs &&
                old.runs == after[i].runs;
      }
      if (!equal) return refusal("tables of the file overlap its list of operators");
    }
    return std::move(made_);
  }

  std::string_view old_;
  const rewrite& how_;
  model_file m_;
  std::string made_;
  graph_error error_;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
