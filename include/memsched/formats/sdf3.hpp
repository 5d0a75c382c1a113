// Reads synchronous dataflow graphs in the XML format of SDF3 (Stuijk, Geilen, Basten, 2006), with pugixml.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pugixml.hpp>

#include <memsched/sdf/graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

struct sdf3_options {
  std::optional<bytes> token_size{};  ///< of channels that give none if others do
};

/// A graph of a file.
struct sdf3_graph {
  std::string name;
  sdf::graph graph;
  bool sized = false;  ///< whether sizes are bytes; else the file gives none, every token counts 1, and they are tokens
};

namespace detail {

class sdf3_reader {
 public:
  sdf3_reader(std::string_view text, const sdf3_options& options) : text_(text), options_(options) {}

  result<sdf3_graph> read() {
    const pugi::xml_parse_result parsed = document_.load_buffer(text_.data(), text_.size());
    if (!parsed) return at(parsed.offset, std::string("no XML: ") + parsed.description());
    const pugi::xml_node root = document_.document_element();
    const pugi::xml_node application = child(root, "applicationGraph");
    if (find(root, "scenarioGraph") || find(root, "sadf") || find(application, "sadf") || local(root) == "sadf")
      return at(root, "scenario-aware graphs (sadf) are not supported");
    if (!application) return at(root, "no applicationGraph");
    if (const auto second = next(application, "applicationGraph"))
      return at(second, "a second applicationGraph: only one is supported");
    pugi::xml_node sdf = child(application, "sdf");
    if (!sdf) sdf = child(application, "csdf");
    if (!sdf) return at(application, "no sdf in the applicationGraph");
    if (!read_actors(sdf) || !read_sizes(application) || !read_channels(sdf)) return *error_;
    sdf3_graph g;
    g.sized = !sizes_.empty() || options_.token_size.has_value();
    g.name = application.attribute("name").value();
    if (g.name.empty()) g.name = sdf.attribute("name").value();
    auto built = builder_.build();
    if (!built) {
      graph_error e = built.error();
      if (!e.tensors.empty()) e.message = place(channels_[e.tensors[0]].offset_debug()) + e.message;
      return e;
    }
    g.graph = std::move(*built);
    return g;
  }

 private:
  struct port {
    bool out = false;
    bytes rate = 1;
    bool used = false;
  };
  struct actor {
    index_t id = none;
    std::map<std::string, port> ports;
  };

  // Errors, with the line.

  /// "line 7: "
  std::string place(std::ptrdiff_t offset) const {
    const std::size_t end = offset < 0 ? 0 : std::min(static_cast<std::size_t>(offset), text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    return "line " + std::to_string(line) + ": ";
  }
  graph_error at(std::ptrdiff_t offset, const std::string& what) const {
    return {error_code::bad_input, place(offset) + base::one_line(what), {}, {}};
  }
  graph_error at(pugi::xml_node n, const std::string& what) const { return at(n.offset_debug(), what); }
  bool wrong(pugi::xml_node n, const std::string& what) {
    error_ = at(n, what);
    return false;
  }
  static std::string quoted(const std::string& name) { return '"' + base::one_line(name, 100) + '"'; }

  // Elements by name, in any namespace.

  static std::string_view local(pugi::xml_node n) {
    const std::string_view name = n.name();
    return name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1);
  }
  static pugi::xml_node first(pugi::xml_node n, std::string_view name) {
    while (n && local(n) != name) n = n.next_sibling();
    return n;
  }
  static pugi::xml_node child(pugi::xml_node n, std::string_view name) { return first(n.first_child(), name); }
  static pugi::xml_node next(pugi::xml_node n, std::string_view name) { return first(n.next_sibling(), name); }
  static bool find(pugi::xml_node n, std::string_view name) { return !child(n, name).empty(); }

  template <class F>
  bool each(pugi::xml_node n, std::string_view name, F&& f) {
    for (pugi::xml_node c = child(n, name); c; c = next(c, name))
      if (!f(c)) return false;
    return true;
  }

  /// The whole text as a number, or nothing.
  static std::optional<bytes> number(std::string_view text) {
    bytes n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return n;
  }

  // Actors and their ports.

  bool read_actors(pugi::xml_node sdf) {
    return each(sdf, "actor", [&](pugi::xml_node n) {
      const std::string name = n.attribute("name").value();
      if (name.empty()) return wrong(n, "an actor without a name");
      if (actors_.contains(name)) return wrong(n, "two actors " + quoted(name));
      actor& a = actors_[name];
      a.id = builder_.actor(name);
      return each(n, "port", [&](pugi::xml_node p) { return read_port(p, name, a); });
    });
  }
  bool read_port(pugi::xml_node n, const std::string& owner, actor& a) {
    const std::string name = n.attribute("name").value(), type = n.attribute("type").value();
    const std::string who = "port " + quoted(name) + " of " + quoted(owner);
    if (name.empty()) return wrong(n, "a port of " + quoted(owner) + " without a name");
    if (type != "in" && type != "out") return wrong(n, who + ": type " + quoted(type) + " is neither in nor out");
    const auto rate = read_rate(n, who);
    if (!rate) return false;
    if (!a.ports.try_emplace(name, port{type == "out", *rate, false}).second)
      return wrong(n, "two ports " + quoted(name) + " of " + quoted(owner));
    return true;
  }
  /// One rate, or equal ones in a list (of cyclo-static graphs).
  std::optional<bytes> read_rate(pugi::xml_node n, const std::string& who) {
    const std::string text = n.attribute("rate").value();
    std::optional<bytes> rate;
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      const auto one = number(std::string_view(text).substr(from, comma - from));
      if (rate && one && *one != *rate) {
        wrong(n, who + ": rate varies (" + text + "): cyclo-static graphs are not supported");
        return std::nullopt;
      }
      if (!one || *one == 0) {
        const bool list = text.find(',') != std::string::npos;
        if (list && one) wrong(n, who + ": rate varies (" + text + "): cyclo-static graphs are not supported");
        else wrong(n, who + ": rate " + quoted(text) + " is no whole number above 0");
        return std::nullopt;
      }
      rate = one;
      from = comma + 1;
    }
    return rate;
  }

  // Sizes of tokens, which stand after the channels.

  bool read_sizes(pugi::xml_node application) {
    return each(application, "sdfProperties", [&](pugi::xml_node p) { return read_sizes_of(p); }) &&
           each(application, "csdfProperties", [&](pugi::xml_node p) { return read_sizes_of(p); });
  }
  bool read_sizes_of(pugi::xml_node properties) {
    return each(properties, "channelProperties", [&](pugi::xml_node n) {
      const std::string name = n.attribute("channel").value();
      const pugi::xml_node size = child(n, "tokenSize");
      if (!size) return true;
      const auto bytes_of = number(size.attribute("sz").value());
      if (!bytes_of)
        return wrong(size, "tokenSize of channel " + quoted(name) + ": sz " + quoted(size.attribute("sz").value()) +
                               " is no whole number");
      if (!sizes_.try_emplace(name, size_of{*bytes_of, n}).second)
        return wrong(n, "two tokenSizes of channel " + quoted(name));
      return true;
    });
  }

  // Channels.

  bool read_channels(pugi::xml_node sdf) {
    std::map<std::string, bool> names;
    const bool good = each(sdf, "channel", [&](pugi::xml_node n) {
      const std::string name = n.attribute("name").value();
      if (name.empty()) return wrong(n, "a channel without a name");
      if (!names.try_emplace(name).second) return wrong(n, "two channels " + quoted(name));
      return read_channel(n, name);
    });
    if (!good) return false;
    for (const auto& [name, size] : sizes_)
      if (!names.contains(name)) return wrong(size.place, "tokenSize of channel " + quoted(name) + ", which is none");
    return true;
  }
  bool read_channel(pugi::xml_node n, const std::string& name) {
    const std::string who = "channel " + quoted(name);
    sdf::channel c;
    const auto end = [&](const char* actor_key, const char* port_key, bool out, index_t& id, bytes& rate) {
      const std::string a = n.attribute(actor_key).value(), p = n.attribute(port_key).value();
      const auto it = actors_.find(a);
      if (it == actors_.end())
        return wrong(n, who + (out ? " comes from " : " goes to ") + quoted(a) + ", which is no actor");
      const auto port_at = it->second.ports.find(p);
      if (port_at == it->second.ports.end()) return wrong(n, who + ": " + quoted(a) + " has no port " + quoted(p));
      port& q = port_at->second;
      const std::string port_name = who + ": port " + quoted(p) + " of " + quoted(a);
      if (q.out != out)
        return wrong(n, port_name + (out ? " is an input, used as a source" : " is an output, used as a destination"));
      if (std::exchange(q.used, true)) return wrong(n, port_name + ": port used twice");
      id = it->second.id;
      rate = q.rate;
      return true;
    };
    if (!end("srcActor", "srcPort", true, c.from, c.produced) || !end("dstActor", "dstPort", false, c.to, c.consumed))
      return false;
    if (const pugi::xml_attribute tokens = n.attribute("initialTokens")) {
      const auto d = number(tokens.value());
      if (!d) return wrong(n, who + ": initialTokens " + base::one_line(tokens.value(), 100));
      c.tokens = *d;
    }
    const auto it = sizes_.find(name);
    if (it != sizes_.end()) {
      c.size = it->second.size;
    } else if (c.from == c.to) {
      c.size = 0;  // a self loop without a size forbids overlapping firings and holds no data
    } else if (!sizes_.empty()) {
      if (!options_.token_size) return wrong(n, who + " has no tokenSize, and others have: --token-size N sets it");
      c.size = *options_.token_size;
    } else {
      c.size = options_.token_size.value_or(1);
    }
    builder_.connect(c, name);
    channels_.push_back(n);
    return true;
  }

  struct size_of {
    bytes size;
    pugi::xml_node place;
  };

  std::string_view text_;
  sdf3_options options_;
  pugi::xml_document document_;
  sdf::graph_builder builder_;
  std::vector<pugi::xml_node> channels_;
  std::map<std::string, actor> actors_;
  std::map<std::string, size_of> sizes_;
  std::optional<graph_error> error_;
};

}  // namespace detail

/// The application graph of a file in SDF3's format: `<applicationGraph><sdf><actor><port .../></actor><channel .../></sdf>
/// <sdfProperties><channelProperties><tokenSize sz=.../>...`. Times, processors and other descriptions of an implementation
/// are left out. Cyclo-static graphs are taken if all rates of a port are equal. An error is one line, with the line of
/// the file in front: of a channel, the first that is named, if `graph_builder` finds the rates or tokens wrong.
inline result<sdf3_graph> read_sdf3(std::string_view text, const sdf3_options& options = {}) {
  return detail::sdf3_reader(text, options).read();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
