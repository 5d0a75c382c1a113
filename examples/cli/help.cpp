#include "help.hpp"

#include <algorithm>
#include <vector>

#include "networks/networks.hpp"
#include "schedulers.hpp"

namespace cli {

namespace {

constexpr std::size_t columns = 80;

/// `text` in lines that start at `indent` and end before column 80; the first goes on after `head`.
std::string wrapped(std::string head, std::size_t indent, const std::string& text) {
  std::string all;
  if (head.size() + 2 > indent && !head.empty()) all = head + '\n', head.clear();
  std::string line = head + std::string(indent - std::min(indent, head.size()), ' ');
  std::size_t from = 0;
  bool first = true;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!first && line.size() + 1 + word.size() > columns) all += line + '\n', line = std::string(indent, ' '), first = true;
    line += (first ? "" : " ") + word;
    first = false;
    if (end < text.size() && text[end] == '\n') all += line + '\n', line = std::string(indent, ' '), first = true;
    from = end + 1;
  }
  return all + line + '\n';
}

/// "-o, --output FILE", or an operand's name.
std::string heading(const option& o) {
  if (o.is_operand()) return o.long_name() + (o.is_repeated() ? "..." : "");
  const std::string brief = o.short_name().empty() ? "" : o.short_name() + ", ";
  const std::string behind = o.is_flag() ? "" : o.is_bare() ? "[=" + o.shown() + "]" : " " + o.shown();
  return brief + o.long_name() + behind;
}

std::string about(const option& o) { return o.about() + (o.default_words().empty() ? "" : " [" + o.default_words() + "]"); }

std::string synopsis(const command& c) {
  std::string text = "memsched " + c.name();
  if (std::any_of(c.options().begin(), c.options().end(), [](const option& o) { return !o.is_operand(); }))
    text += " [OPTION]...";
  for (const option& o : c.options()) {
    if (o.is_operand()) text += o.is_required() ? " " + heading(o) : " [" + heading(o) + "]";
    else if (o.is_required()) text += " " + o.long_name() + " " + o.shown();
  }
  return text;
}

std::vector<std::string> groups(const command& c) {
  std::vector<std::string> names;
  for (const option& o : c.options())
    if (!o.is_operand() && std::find(names.begin(), names.end(), o.group()) == names.end()) names.push_back(o.group());
  return names;
}

const char* const exit_statuses[][2] = {
    {"0", "done"},
    {"1", "bad input, with one line on standard error"},
    {"2", "wrong usage"},
    {"3", "a budget or a capacity that is not met, no rewritten model that needs less memory, or no time to verify it"},
    {"130", "interrupted, with the best answer so far"}};

}  // namespace

std::string help(const std::deque<command>& all) {
  std::string text = "usage: memsched COMMAND [OPTION]...\n\n";
  text += wrapped("", 0,
                  "memsched finds the execution order of an operator graph with the smallest peak memory, and proves it.") +
          "\nCommands:\n";
  for (const command& c : all) text += wrapped("  " + c.name(), 14, c.about());
  text += "\nExamples:\n";
  for (const char* name : {"schedule", "compare", "rewrite", "report"})
    for (const command& c : all)
      if (c.name() == name) text += "  " + c.example() + '\n';
  text += "\nExit status:\n";
  for (const auto& [status, meaning] : exit_statuses) text += wrapped(std::string("  ") + status, 8, meaning);
  return text +
         "\n`memsched help COMMAND` shows its options, `memsched help schedulers` the\nschedulers; `memsched --version` "
         "the version.\n";
}

std::string help(const command& c) {
  constexpr std::size_t indent = 26;
  std::string text = wrapped("", 0, "usage: " + synopsis(c)) + "\n" + wrapped("", 0, c.about() + ".") + "\n";
  for (const option& o : c.options())
    if (o.is_operand()) text += wrapped("  " + heading(o), indent, about(o));
  for (const std::string& group : groups(c)) {
    text += '\n' + group + ":\n";
    for (const option& o : c.options())
      if (!o.is_operand() && o.group() == group) text += wrapped("  " + heading(o), indent, about(o));
  }
  if (!c.example().empty()) text += "\nExample:\n  " + c.example() + '\n';
  return text;
}

std::string help_of_schedulers() {
  std::string text = "Schedulers, for --scheduler:\n\n";
  for (const named_scheduler& s : schedulers())
    text += wrapped("  " + s.name, 20, (s.alias.empty() ? "" : "or " + s.alias + ": ") + s.about);
  return text;
}

namespace {

/// Text for troff: no line is taken for a request, and no character for an escape.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') out += "\\e";
    else if (text[i] == '-') out += "\\-";
    else out += text[i];
  }
  return out;
}

std::string paragraphs(const command& c) {
  std::string text = ".SS " + plain(c.name()) + "\n.B " + plain(synopsis(c)) + "\n.PP\n" + plain(c.about()) + ".\n";
  const auto entry = [&](const option& o) { text += ".TP\n.B " + plain(heading(o)) + "\n" + plain(about(o)) + '\n'; };
  for (const option& o : c.options())
    if (o.is_operand()) entry(o);
  for (const std::string& group : groups(c)) {
    text += ".PP\n.I " + plain(group) + ":\n";
    for (const option& o : c.options())
      if (!o.is_operand() && o.group() == group) entry(o);
  }
  return text;
}

}  // namespace

std::string manual(const std::deque<command>& all) {
  std::string text =
      ".TH MEMSCHED 1\n.SH NAME\nmemsched \\- operator orders of smallest peak memory, with proof\n.SH SYNOPSIS\n";
  for (const command& c : all) text += ".B " + plain(synopsis(c)) + "\n.br\n";
  text +=
      ".SH DESCRIPTION\nmemsched finds the execution order of an operator graph with the smallest peak memory, proves how\n"
      "close to the optimum it is, and rewrites networks that need less memory than any order gives.\n.SH COMMANDS\n";
  for (const command& c : all) text += paragraphs(c);
  text += ".SH SCHEDULERS\n";
  for (const named_scheduler& s : schedulers()) text += ".TP\n.B " + plain(s.name) + "\n" + plain(s.about) + '\n';
  text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exit_statuses) text += std::string(".TP\n.B ") + status + "\n" + meaning + '\n';
  text +=
      ".SH FILES\nGraphs are .json, .onnx and .tflite files, and SDF3's .xml files of synchronous dataflow. An output's name\n"
      "must not end as the name of another format. A command that writes several files writes all or none.\n"
      ".SH EXAMPLES\n";
  for (const command& c : all)
    if (!c.example().empty()) text += ".TP\n" + plain(c.about()) + "\n.B " + plain(c.example()) + '\n';
  return text + ".SH SEE ALSO\n.BR dot (1),\n.BR jq (1),\n.BR parallel (1)\n";
}

namespace {

/// Text within single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

std::vector<std::string> option_names(const command& c) {
  std::vector<std::string> names;
  for (const option& o : c.options())
    if (!o.is_operand()) names.push_back(o.long_name());
  return names;
}

std::vector<std::string> command_names(const std::deque<command>& all) {
  std::vector<std::string> names;
  for (const command& c : all) names.push_back(c.name());
  return names;
}

std::vector<std::string> builtins() {
  std::vector<std::string> names;
  for (const auto& n : networks::all()) names.push_back("builtin:" + n.name);
  return names;
}

/// The words that the first operand may be; none for files.
std::vector<std::string> operand_words(const command& c) {
  for (const option& o : c.options())
    if (o.is_operand()) return o.shown() == "GRAPH" ? builtins() : o.words();
  return {};
}

std::string for_bash(const std::deque<command>& all) {
  std::string of_values, of_operands, of_options;
  for (const command& c : all) {
    for (const option& o : c.options())
      if (const auto words = o.words(); !o.is_operand() && !words.empty())
        of_values += "    " + c.name() + ":" + o.long_name() + ") values=" + quoted(joined(words)) + " ;;\n";
    of_options += "    " + c.name() + ") options=" + quoted(joined(option_names(c))) + " ;;\n";
    of_operands += "    " + c.name() + ") operands=" + quoted(joined(operand_words(c))) + " ;;\n";
  }
  // A colon ends a word of readline's: "builtin:swi" is three.
  return "_memsched() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
         "  local options= values= operands=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W " +
         quoted(joined(command_names(all)) + " --help --version") +
         " -- \"$cur\"))\n    return\n  fi\n"
         "  if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  case $command:$prev in\n" +
         of_values + "  esac\n  case $command in\n" + of_options + "  esac\n  case $command in\n" + of_operands +
         "  esac\n"
         "  if [ -n \"$values\" ]; then COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
         "  elif [ \"$cur\" = : ] && [ \"$prev\" = builtin ]; then COMPREPLY=($(compgen -W \"${operands//builtin:/}\"))\n"
         "  elif [ \"$prev\" = : ]; then COMPREPLY=($(compgen -W \"${operands//builtin:/}\" -- \"$cur\"))\n"
         "  else\n"
         "    case $cur in\n"
         "      -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
         "      ?*) COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\") $(compgen -f -- \"$cur\")) ;;\n"
         "      *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
         "    esac\n"
         "  fi\n}\ncomplete -o filenames -F _memsched memsched\n";
}

std::string for_fish(const std::deque<command>& all) {
  std::string text;
  for (const command& c : all) {
    const std::string here = "complete -c memsched -n '__fish_seen_subcommand_from " + c.name() + "'";
    text += "complete -c memsched -n __fish_use_subcommand -f -a " + c.name() + " -d " + quoted(c.about()) + '\n';
    if (const auto words = operand_words(c); !words.empty()) text += here + " -a " + quoted(joined(words)) + '\n';
    for (const option& o : c.options()) {
      if (o.is_operand()) continue;
      const auto words = o.words();
      const std::string takes = o.is_flag() || o.is_bare() ? "" : words.empty() ? " -r" : " -x -a " + quoted(joined(words));
      text += here + " -l " + o.long_name().substr(2) + takes + " -d " + quoted(o.about()) + '\n';
    }
  }
  return text;
}

/// A description within a specification of _arguments.
std::string described(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string for_zsh(const std::deque<command>& all) {
  std::string names, cases;
  for (const command& c : all) {
    names += "    " + quoted(c.name() + ":" + c.about()) + "\n";
    cases += "    " + c.name() + ") _arguments";
    for (const option& o : c.options()) {
      if (o.is_operand()) continue;
      const auto words = o.words();
      const std::string values = words.empty() ? "_files" : "(" + joined(words) + ")";
      const std::string takes = o.is_flag() || o.is_bare() ? "" : ":value:" + values;
      cases +=
          " \\\n      " + quoted((o.is_repeated() ? "*" : "") + o.long_name() + "[" + described(o.about()) + "]" + takes);
    }
    std::string names_of_operands = described(joined(operand_words(c)));
    const bool graphs = names_of_operands.starts_with("builtin");
    cases += " \\\n      " +
             quoted(names_of_operands.empty() ? "*:file:_files"
                    : graphs ? "*:graph: _alternative \"networks:network:(" + names_of_operands + ")\" \"files:file:_files\""
                             : "*:value:(" + names_of_operands + ")") +
             " ;;\n";
  }
  return "#compdef memsched\n_memsched() {\n  local -a names=(\n" + names +
         "  )\n  if (( CURRENT == 2 )); then _describe command names; return; fi\n  local command=$words[2]\n"
         "  shift words; (( CURRENT-- ))\n  case $command in\n" +
         cases +
         "  esac\n}\nif [ \"$funcstack[1]\" = _memsched ]; then _memsched \"$@\"; else compdef _memsched memsched; fi\n";
}

}  // namespace

std::string completion(const std::deque<command>& all, const std::string& shell) {
  return shell == "bash" ? for_bash(all) : shell == "zsh" ? for_zsh(all) : for_fish(all);
}

}  // namespace cli
