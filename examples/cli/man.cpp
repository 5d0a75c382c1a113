#include "man.hpp"

#include <CLI/CLI.hpp>
#include <vector>

namespace cli {

namespace {

std::vector<const CLI::App*> commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* c) { return !c->get_name().empty(); });
}
std::vector<const CLI::Option*> options(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

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

/// "-o, --output FILE", or the name of what has its place.
std::string heading(const CLI::Option& o) {
  std::string text;
  for (const std::string& s : o.get_snames()) text += (text.empty() ? "-" : ", -") + s;
  for (const std::string& l : o.get_lnames()) text += (text.empty() ? "--" : ", --") + l;
  if (text.empty()) return o.get_name(true);
  return o.get_expected_max() > 0 ? text + ' ' + o.get_type_name() : text;
}

std::string listed(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* o : options(command)) {
    text += ".TP\n.B " + plain(heading(*o)) + "\n";
    std::string about = plain(o->get_description());
    for (std::size_t at = 0; (at = about.find("\n  ", at)) != about.npos;) about.replace(at, 3, "\n.br\n");
    text += about;
    if (!o->get_default_str().empty()) text += " [" + plain(o->get_default_str()) + "]";
    text += '\n';
  }
  return text;
}

/// Text within single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text.substr(0, text.find('\n'))) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

std::string long_options(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* o : options(command))
    for (const std::string& l : o->get_lnames()) words += " --" + l;
  return words;
}

std::string for_bash(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* c : commands(app)) {
    names += ' ' + c->get_name();
    cases += "    " + c->get_name() + ") words='" + long_options(*c).substr(1) + "' ;;\n";
  }
  return "_memsched() {\n  local words cur=${COMP_WORDS[COMP_CWORD]}\n  COMPREPLY=()\n  case ${COMP_WORDS[1]} in\n" + cases +
         "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then words='" + names.substr(1) + long_options(app) +
         "'; fi\n  case $cur in\n    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "    *) if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "       else COMPREPLY=($(compgen -f -- \"$cur\")); fi ;;\n  esac\n}\ncomplete -o filenames -F _memsched "
         "memsched\n";
}

std::string for_fish(const CLI::App& app) {
  std::string text;
  for (const CLI::App* c : commands(app)) {
    text += "complete -c memsched -n __fish_use_subcommand -f -a " + c->get_name() + " -d " + quoted(c->get_description()) +
            '\n';
    for (const CLI::Option* o : options(*c))
      for (const std::string& l : o->get_lnames())
        text += "complete -c memsched -n '__fish_seen_subcommand_from " + c->get_name() + "' -l " + l +
                (o->get_expected_max() > 0 ? " -r" : "") + " -d " + quoted(o->get_description()) + '\n';
  }
  return text;
}

/// A description within a specification of _arguments.
std::string described(const std::string& text) {
  std::string out;
  for (char c : text.substr(0, text.find('\n'))) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string for_zsh(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* c : commands(app)) {
    names += "    " + quoted(c->get_name() + ":" + c->get_description()) + "\n";
    cases += "    " + c->get_name() + ") _arguments";
    for (const CLI::Option* o : options(*c))
      for (const std::string& l : o->get_lnames())
        cases += " \\\n      " + quoted("--" + l + "[" + described(o->get_description()) + "]" +
                                        (o->get_expected_max() > 0 ? ":value:_files" : ""));
    cases += " '*:file:_files' ;;\n";
  }
  return "#compdef memsched\n_memsched() {\n  local -a names=(\n" + names +
         "  )\n  if (( CURRENT == 2 )); then _describe command names; return; fi\n  local command=$words[2]\n"
         "  shift words; (( CURRENT-- ))\n  case $command in\n" +
         cases +
         "  esac\n}\nif [ \"$funcstack[1]\" = _memsched ]; then _memsched \"$@\"; else compdef _memsched memsched; fi\n";
}

}  // namespace

std::string manual(const CLI::App& app) {
  std::string text =
      ".TH MEMSCHED 1\n.SH NAME\nmemsched \\- operator orders of smallest peak memory, with proof\n.SH SYNOPSIS\n";
  for (const CLI::App* c : commands(app)) text += ".B memsched " + c->get_name() + "\n[options]\n.br\n";
  text += ".SH DESCRIPTION\n.nf\n" + plain(app.get_description()) + "\n.fi\n.SH COMMANDS\n";
  for (const CLI::App* c : commands(app))
    text += ".SS " + plain(c->get_name()) + "\n" + plain(c->get_description()) + ".\n" + listed(*c);
  return text;
}

std::string completion(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? for_bash(app) : shell == "zsh" ? for_zsh(app) : for_fish(app);
}

}  // namespace cli
