// memsched: schedules operator graphs from files.
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "declare.hpp"
#include "help.hpp"
#include "session.hpp"
#include "text.hpp"

namespace {

using cli::command;

/// All commands, in the order of the help.
std::deque<command> all_commands() {
  std::deque<command> all;
  for (const auto declare :
       {cli::declare_schedule, cli::declare_report, cli::declare_rewrite, cli::declare_reorder, cli::declare_compare,
        cli::declare_inspect, cli::declare_explain, cli::declare_diff, cli::declare_plan, cli::declare_traffic,
        cli::declare_recompute, cli::declare_sample, cli::declare_batch, cli::declare_verify, cli::declare_networks})
    all.push_back(declare());
  return all;
}

/// The commands that tell of others.
void add_pages(std::deque<command>& all) {
  static std::string topic, shell;
  command help("help", "Show the options of a command, or the schedulers", "memsched help schedule");
  help.add("COMMAND", cli::text(topic, "COMMAND"), "a command, or schedulers");
  help.runs([&all](const command&, cli::session&) -> int {
    if (topic == "schedulers") return cli::print(cli::help_of_schedulers()), cli::done;
    if (topic.empty()) return cli::print(cli::help(all)), cli::done;
    std::vector<std::string> names{"schedulers"};
    for (const command& c : all) {
      if (c.name() == topic) return cli::print(cli::help(c)), cli::done;
      names.push_back(c.name());
    }
    std::fprintf(stderr, "memsched: there is no command '%s'%s\n", topic.c_str(), cli::did_you_mean(topic, names).c_str());
    return cli::wrong_usage;
  });
  command completion("completion", "Print what makes a shell complete this program's words",
                     "memsched completion bash > ~/.local/share/bash-completion/completions/memsched");
  completion.add("SHELL", cli::choice("bash|zsh|fish", shell), "bash, zsh or fish").required();
  completion.runs([&all](const command&, cli::session&) { return cli::print(cli::completion(all, shell)), cli::done; });
  command man("man", "Print the manual page", "memsched man | man -l -");
  man.runs([&all](const command&, cli::session&) { return cli::print(cli::manual(all)), cli::done; });
  all.push_back(std::move(help)), all.push_back(std::move(completion)), all.push_back(std::move(man));
}

int wrong_command(const std::deque<command>& all, const std::string& word) {
  std::vector<std::string> names{"--help", "--version"};
  for (const command& c : all) names.push_back(c.name());
  std::fprintf(stderr, "memsched: there is no %s %s%s (`memsched help` lists them)\n",
               word.starts_with("-") ? "option" : "command", word.c_str(), cli::did_you_mean(word, names).c_str());
  return cli::wrong_usage;
}

int run(const std::vector<std::string>& words) {
  std::deque<command> all = all_commands();
  add_pages(all);
  bool wants_help = false;
  for (command& c : all) {
    c.in("Also");
    c.add("-q,--quiet", cli::flag(cli::be_quiet), "neither progress nor notes on standard error");
    c.add("-h,--help", cli::flag(wants_help), "show this");
  }
  if (words.empty()) {
    std::fputs(cli::help(all).c_str(), stderr);
    return cli::wrong_usage;
  }
  if (words[0] == "--help" || words[0] == "-h") return cli::print(cli::help(all)), cli::done;
  if (words[0] == "--version" || words[0] == "-V") return cli::print("memsched " MEMSCHED_VERSION_STRING "\n"), cli::done;
  command* asked = nullptr;
  for (command& c : all)
    if (c.name() == words[0]) asked = &c;
  if (asked == nullptr) return wrong_command(all, words[0]);

  const std::string fault = asked->parse({words.begin() + 1, words.end()});
  if (wants_help) return cli::print(cli::help(*asked)), cli::done;
  if (!fault.empty()) return cli::misuse(*asked, fault);

  cli::session here;
  const int status = asked->run(here);
  cli::clear_progress();
  if (status != cli::bad_input && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return cli::report({memsched::error_code::bad_input, "standard output: cannot be written whole", {}, {}});
  return here.interrupted() && status != cli::bad_input ? cli::interrupted : status;
}

}  // namespace

int main(int argc, char** argv) {
  const auto give_up = [](const char* reason) {
    cli::clear_progress();
    return cli::report({memsched::error_code::bad_input, reason, {}, {}});
  };
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large for the system is an error of writing, which tidies up
#endif
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return give_up("out of memory");
  } catch (const std::exception& e) {
    return give_up(e.what());
  }
}
