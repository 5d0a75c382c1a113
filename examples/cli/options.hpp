// The one table of what the program takes: the parser, --help, the manual page and completions read it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memsched/base/bytes.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

class session;

/// The text after an option, or an operand: how it is shown, and who takes it.
struct value {
  std::string shown{};                                    ///< FILE, SIZE...; "a|b|c" for words of a list; empty for a flag
  std::function<std::string(const std::string&)> take{};  ///< gives what is wrong with a text; empty where nothing is
};

value text(std::string& into, const std::string& shown);
value texts(std::vector<std::string>& into, const std::string& shown);  ///< each time a further one
value file(std::string& into);
value graph(std::string& into);
/// One of some words, as "a|b|c".
value choice(const std::string& words, std::function<void(const std::string&)> take);
value choice(const std::string& words, std::string& into);
value number(std::function<void(std::uint64_t)> take, std::uint64_t least = 0, std::uint64_t most = UINT64_MAX);
template <class T>
value number(T& into, std::uint64_t least = 0, std::uint64_t most = UINT64_MAX) {
  return number([&into](std::uint64_t n) { into = static_cast<T>(n); }, least, most);
}
/// 262144, 256K, 256KiB, 1.5M, 2GB: K, M and G are powers of 1024, kB, MB and GB of 1000.
value size(memsched::bytes& into);
/// Seconds, and "none" as -1.
value duration(double& into);
/// A scheduler's name; of an alias the name that it stands for.
value scheduler(std::string& into);
value flag(bool& into);
value flag(std::function<void()> set);

/// Reads the text of a size into `into`, in bytes. Returns the fault of the text; empty if there is none.
std::string read_size(const std::string& text, memsched::bytes& into);

/// An option, or an operand, which has a name without dashes.
class option {
 public:
  option(const std::string& names, value what, std::string about, std::string group);

  option& required() { return required_ = true, *this; }
  option& repeated() { return repeated_ = true, *this; }
  /// The text may be left out, which is the empty text; after it stands "=" and a text, or one of its words.
  option& may_be_bare() { return bare_ = true, *this; }
  /// Without it, in words.
  option& by_default(std::string words) { return default_ = std::move(words), *this; }
  /// Only with another option.
  option& needs(const std::string& other) { return needs_ = other, *this; }

  bool is_operand() const { return names_.front().front() != '-'; }
  bool is_flag() const { return value_.shown.empty(); }
  bool is_called(std::string_view name) const;
  bool was_given() const { return count_ > 0; }
  /// The short name, or nothing; the long one, or an operand's name.
  std::string short_name() const;
  const std::string& long_name() const;
  /// The words that it takes; none where any text will do.
  std::vector<std::string> words() const;

  const std::string& shown() const { return value_.shown; }
  const std::string& about() const { return about_; }
  const std::string& group() const { return group_; }
  const std::string& default_words() const { return default_; }
  bool is_required() const { return required_; }
  bool is_repeated() const { return repeated_; }
  bool is_bare() const { return bare_; }
  const std::string& needed() const { return needs_; }

  /// Gives what is wrong with a text.
  std::string take(const std::string& text);

 private:
  std::vector<std::string> names_;  ///< the first long one is shown; others are taken, too
  value value_;
  std::string about_, group_, default_{}, needs_{};
  bool required_ = false, repeated_ = false, bare_ = false;
  unsigned count_ = 0;
};

/// A command: its options in groups, an example, and what it does.
class command {
 public:
  command(std::string name, std::string about, std::string example)
      : name_(std::move(name)), about_(std::move(about)), example_(std::move(example)) {}

  /// Options that are added from here on belong to this group.
  command& in(std::string group) { return group_ = std::move(group), *this; }
  /// `names`: "-o,--output", or the name of an operand. References stay good.
  option& add(const std::string& names, value what, std::string about) {
    return options_.emplace_back(names, std::move(what), std::move(about), group_);
  }
  command& runs(std::function<int(const command&, session&)> what) { return run_ = std::move(what), *this; }

  const std::string& name() const { return name_; }
  const std::string& about() const { return about_; }
  const std::string& example() const { return example_; }
  const std::deque<option>& options() const { return options_; }
  bool given(std::string_view option) const;
  int run(session& here) const { return run_(*this, here); }

  /// Takes the arguments; gives what is wrong with them, in one line.
  std::string parse(const std::vector<std::string>& arguments);

 private:
  option* find(std::string_view name);
  std::string unknown(const std::string& name) const;
  std::string take_option(const std::vector<std::string>& arguments, std::size_t& at);

  std::string name_, about_, example_, group_{"Options"};
  std::deque<option> options_;
  std::function<int(const command&, session&)> run_;
};

std::vector<std::string> scheduler_names();

/// "; did you mean 'X'?" where one of the known words is near, else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace cli
