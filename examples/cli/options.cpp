#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <memsched/formats/nearest.hpp>
#include <set>

#include "schedulers.hpp"

namespace cli {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  return parts;
}

/// A whole number, which std::from_chars alone would let wrap or end early.
std::string read_whole(const std::string& text, std::uint64_t& n) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  return error == std::errc{} && rest == end ? "" : "'" + text + "' is no whole number from 0 to 2^64 - 1";
}

std::string read_seconds(const std::string& text, double& into) {
  if (text == "none") return into = -1, "";
  double n = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || rest != end || !(n >= 0)) return "'" + text + "' is no number of seconds, nor none";
  return into = n, "";
}

}  // namespace

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const named_scheduler& s : schedulers()) {
    names.push_back(s.name);
    if (!s.alias.empty()) names.push_back(s.alias);
  }
  return names;
}

std::string read_size(const std::string& text, memsched::bytes& into) {
  if (read_whole(text, into).empty()) return "";
  const std::string wrong = "'" + text + "' is no size, as 262144, 256K, 1.5M or 2GB";
  double n = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || !(n >= 0) || rest == end) return wrong;
  const std::size_t at = std::string_view("KMG").find(*rest == 'k' ? 'K' : *rest);
  const std::string_view behind(rest + 1, static_cast<std::size_t>(end - rest - 1));
  const bool binary = behind.empty() || behind == "iB";
  if (at == std::string_view::npos || (!binary && behind != "B")) return wrong;
  for (std::size_t i = 0; i <= at; ++i) n *= binary ? 1024 : 1000;
  if (n >= 1e18) return "'" + text + "' is too large";
  into = static_cast<std::uint64_t>(n);
  return "";
}

value text(std::string& into, const std::string& shown) {
  return {shown, [&into](const std::string& t) { return into = t, ""; }};
}
value texts(std::vector<std::string>& into, const std::string& shown) {
  return {shown, [&into](const std::string& t) { return into.push_back(t), ""; }};
}
value file(std::string& into) { return text(into, "FILE"); }
value graph(std::string& into) { return text(into, "GRAPH"); }
value choice(const std::string& words, std::function<void(const std::string&)> take) {
  return {words, [words, take](const std::string& t) -> std::string {
            const auto known = split(words, '|');
            if (std::find(known.begin(), known.end(), t) == known.end()) {
              std::string list;
              for (const std::string& k : known) list += (list.empty() ? "" : k == known.back() ? " or " : ", ") + k;
              return "'" + t + "' is not " + list + did_you_mean(t, known);
            }
            return take(t), "";
          }};
}
value choice(const std::string& words, std::string& into) {
  return choice(words, [&into](const std::string& t) { into = t; });
}
value number(std::function<void(std::uint64_t)> take, std::uint64_t least, std::uint64_t most) {
  return {"N", [=](const std::string& t) -> std::string {
            std::uint64_t n = 0;
            if (std::string fault = read_whole(t, n); !fault.empty()) return fault;
            if (n < least) return "'" + t + "' is less than " + std::to_string(least);
            if (n > most) return "'" + t + "' is more than " + std::to_string(most);
            return take(n), "";
          }};
}
value size(memsched::bytes& into) {
  return {"SIZE", [&into](const std::string& t) { return read_size(t, into); }};
}
value duration(double& into) {
  return {"SECONDS", [&into](const std::string& t) { return read_seconds(t, into); }};
}
value scheduler(std::string& into) {
  return {"SCHEDULER", [&into](const std::string& t) -> std::string {
            const named_scheduler* const s = find_scheduler(t);
            if (s == nullptr)
              return "there is no scheduler '" + t + "'" + did_you_mean(t, scheduler_names()) +
                     " (`memsched help schedulers` lists them)";
            return into = s->name, "";
          }};
}
value flag(bool& into) {
  return {"", [&into](const std::string&) { return into = true, ""; }};
}
value flag(std::function<void()> set) {
  return {"", [set](const std::string&) { return set(), ""; }};
}

option::option(const std::string& names, value what, std::string about, std::string group)
    : names_(split(names, ',')), value_(std::move(what)), about_(std::move(about)), group_(std::move(group)) {}

bool option::is_called(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }
std::string option::short_name() const {
  const auto found = std::find_if(names_.begin(), names_.end(), [](const std::string& n) { return n.size() == 2; });
  return found == names_.end() || is_operand() ? "" : *found;
}
const std::string& option::long_name() const {
  const auto found = std::find_if(names_.begin(), names_.end(), [](const std::string& n) { return n.size() != 2; });
  return found == names_.end() ? names_.front() : *found;
}
std::vector<std::string> option::words() const {
  if (shown() == "SCHEDULER") return scheduler_names();
  return shown().find('|') == std::string::npos ? std::vector<std::string>{} : split(shown(), '|');
}
std::string option::take(const std::string& text) {
  if (count_++ > 0 && !repeated_) return "is given twice";
  return value_.take(text);
}

bool command::given(std::string_view name) const {
  return std::any_of(options_.begin(), options_.end(), [&](const option& o) { return o.is_called(name) && o.was_given(); });
}

option* command::find(std::string_view name) {
  for (option& o : options_)
    if (!o.is_operand() && o.is_called(name)) return &o;
  return nullptr;
}

std::string command::unknown(const std::string& name) const {
  std::vector<std::string> known;
  for (const option& o : options_)
    if (!o.is_operand()) known.push_back(o.long_name());
  return "there is no option " + name + did_you_mean(name, known);
}

std::string command::take_option(const std::vector<std::string>& arguments, std::size_t& at) {
  const std::string& word = arguments[at];
  const bool is_long = word.starts_with("--");
  const std::size_t end = is_long ? word.find('=') : std::min<std::size_t>(word.size(), 2);
  const std::string name = word.substr(0, end);
  option* const o = find(name);
  if (o == nullptr) return unknown(name);
  std::string given;
  const bool attached = is_long ? end != std::string::npos : word.size() > 2;
  if (attached) given = word.substr(is_long ? end + 1 : 2);
  if (o->is_flag() && attached) return is_long ? name + " takes no value" : unknown(word);
  if (!o->is_flag() && !o->is_bare() && !attached) {
    if (++at == arguments.size()) return name + " needs a value: " + o->shown();
    given = arguments[at];
  }
  if (o->is_bare() && !attached && at + 1 < arguments.size()) {
    const auto words = o->words();
    if (std::find(words.begin(), words.end(), arguments[at + 1]) != words.end()) given = arguments[++at];
  }
  const std::string fault = o->take(given);
  return fault.empty() ? "" : name + ": " + fault;
}

std::string command::parse(const std::vector<std::string>& arguments) {
  std::vector<option*> operands;
  for (option& o : options_)
    if (o.is_operand()) operands.push_back(&o);
  std::size_t next = 0;
  bool only_operands = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (!only_operands && word == "--") {
      only_operands = true;
    } else if (!only_operands && word.size() > 1 && word.front() == '-') {
      if (std::string fault = take_option(arguments, at); !fault.empty()) return fault;
    } else if (next < operands.size()) {
      option& o = *operands[next];
      if (const std::string fault = o.take(word); !fault.empty()) return o.long_name() + ": " + fault;
      if (!o.is_repeated()) ++next;
    } else {
      return "'" + word + "' is one operand too many";
    }
  }
  for (const option& o : options_) {
    if (o.is_required() && !o.was_given())
      return o.is_operand() ? "a " + o.long_name() + " is missing" : o.long_name() + " is missing";
    if (o.was_given() && !o.needed().empty() && !given(o.needed())) return o.long_name() + " needs " + o.needed();
  }
  return "";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  if (known.empty() || word.empty()) return "";
  const std::vector<std::string_view> views(known.begin(), known.end());
  const memsched::near_word meant = memsched::nearest(word, views);
  const std::size_t far = std::max<std::size_t>(2, word.size() / 3);
  return meant.distance <= far ? "; did you mean '" + std::string(meant.word) + "'?" : "";
}

}  // namespace cli
