// Any solver program that reads LP or MPS files and writes its solution to a file. Needs Eigen and POSIX.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/ilp/milp.hpp>
#include <memsched/ilp/milp_text.hpp>

extern char** environ;

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Runs `command` on a model in a directory of its own under the system's temporary one, and reads its solution file.
/// In the words of the command {model}, {solution}, {options} and {seconds} stand for the files and the time limit; the
/// program is looked for in PATH. Its output is discarded. It is killed some seconds after its
/// time is over, or at the caller's wish. The file holds nothing beside a solution: only a solution that is
/// said to be optimal has a bound, so a program must not call a nearly optimal one optimal. A start is not passed on; a
/// cut-off is, as an upper bound of the objective's variable.
struct external_solver {
  enum class file : unsigned char { lp, mps };
  /// The format of solution files.
  enum class form : unsigned char {
    names,    ///< a line that says "optimal" or "infeasible", the first but for "Model status"; lines "NAME VALUE"
              ///< (HiGHS, Gurobi, SCIP)
    numbers,  ///< GLPK's: "s mip ROWS COLUMNS STATUS OBJECTIVE", then "j COLUMN VALUE", or, if no variable is integral,
              ///< "s bas ROWS COLUMNS PRIMAL DUAL OBJECTIVE" and "j COLUMN STATUS VALUE"; columns counted as in MPS files
    table,    ///< Cbc's: "Optimal - objective value ...", then lines "COLUMN NAME VALUE COST"
  };

  std::vector<std::string> command;
  file input = file::lp;
  form output = form::names;
  std::string options{};  ///< the text of the file {options}

  static external_solver highs(std::string program = "highs") {
    return {{std::move(program), "--time_limit", "{seconds}", "--options_file", "{options}", "--solution_file", "{solution}",
             "{model}"},
            file::lp,
            form::names,
            "mip_rel_gap = 0\n"};
  }
  static external_solver gurobi(std::string program = "gurobi_cl") {
    return {{std::move(program), "TimeLimit={seconds}", "MIPGap=0", "ResultFile={solution}", "{model}"}};
  }
  static external_solver scip(std::string program = "scip") {
    return {{std::move(program), "-c", "set limits time {seconds}", "-c", "read {model}", "-c", "optimize", "-c",
             "write solution {solution}", "-c", "quit"}};
  }
  static external_solver glpk(std::string program = "glpsol") {
    return {{std::move(program), "--freemps", "{model}", "--tmlim", "{seconds}", "--write", "{solution}"},
            file::mps,
            form::numbers};
  }
  static external_solver cbc_program(std::string program = "cbc") {
    return {{std::move(program), "{model}", "timeMode", "elapsed", "sec", "{seconds}", "solve", "solution", "{solution}"},
            file::mps,
            form::table};
  }

  milp_answer operator()(const milp_model& m, const milp_request& r) const;
};

namespace detail {

/// A directory that goes with its contents.
class scratch_directory {
 public:
  scratch_directory() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "memsched-XXXXXX").string();
    if (!error && mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~scratch_directory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  bool made() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Runs a program to its end, its input and output nowhere. An error message, or an empty one.
inline std::string run_program(const std::vector<std::string>& words, double seconds, const std::stop_token& stop,
                               bool& killed) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return "cannot run '" + words[0] + "': " + std::strerror(error);

  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  int status = 0;
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return "lost '" + words[0] + "': " + std::strerror(errno);
    constexpr double grace = 5;
    if (!killed &&
        (stop.stop_requested() || std::chrono::duration<double>(clock::now() - start).count() > seconds + grace)) {
      kill(child, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(pause);
  }
  if (killed) return {};
  if (WIFSIGNALED(status)) return "'" + words[0] + "' was ended by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 127) return "cannot run '" + words[0] + "'";
  if (WEXITSTATUS(status) != 0) return "'" + words[0] + "' ended with status " + std::to_string(WEXITSTATUS(status));
  return {};
}

/// Reads the text of a solution file of a model.
inline milp_answer read_solution(const std::string& text, const milp_model& m, external_solver::form form) {
  milp_answer answer;
  std::unordered_map<std::string, std::size_t> column;
  for (std::size_t c = 0; c < m.columns.size(); ++c) column.emplace(m.columns[c], c);
  std::vector<double> x(m.columns.size(), 0);
  std::size_t found = 0;
  bool optimal = false, infeasible = false, has_status = false, basic = false;
  const auto note = [&](std::size_t c, const std::string& value) {
    char* end = nullptr;
    const double v = std::strtod(value.c_str(), &end);
    if (c < x.size() && end != value.c_str() && std::isfinite(v)) x[c] = v, ++found;
  };
  const auto note_name = [&](const std::string& name, const std::string& value) {
    if (const auto at = column.find(name); at != column.end()) note(at->second, value);
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (words.empty()) continue;
    if (words.size() >= 2 && form == external_solver::form::names) note_name(words[0], words[1]);
    if (words.size() >= 3 && form == external_solver::form::table) note_name(words[1], words[2]);
    if (form == external_solver::form::numbers) {
      if (words.size() >= 6 && words[0] == "s") {
        basic = words[1] == "bas";
        optimal = basic ? words[4] == "f" && words[5] == "f" : words[4] == "o";
        infeasible = words[4] == "n";
      }
      const std::size_t value = basic ? 3 : 2;
      if (words.size() > value && words[0] == "j") note(std::strtoul(words[1].c_str(), nullptr, 10) - 1, words[value]);
      continue;
    }
    if (has_status) continue;
    for (char& c : line) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    has_status = line.find("model status") == std::string::npos;
    if (line.find("infeasible") != std::string::npos) infeasible = true;
    else if (line.find("optimal") != std::string::npos) optimal = true;
  }
  if (infeasible) return answer.status = milp_status::infeasible, answer;
  if (found > 0) answer.x = std::move(x);
  answer.status = optimal && found > 0 ? milp_status::optimal : milp_status::limit;
  if (answer.status == milp_status::optimal) {
    answer.bound = 0;
    for (std::size_t c = 0; c < answer.x.size(); ++c) answer.bound += m.objective[c] * answer.x[c];
  }
  return answer;
}

}  // namespace detail

inline milp_answer external_solver::operator()(const milp_model& m, const milp_request& r) const {
  milp_answer answer;
  const auto failed = [&](std::string why) { return answer.message = std::move(why), answer; };
  if (command.empty()) return failed("no command was given");
  if (r.seconds <= 0) return answer.status = milp_status::limit, answer;
  const detail::scratch_directory directory;
  if (!directory.made()) return failed("cannot make a temporary directory");
  const std::string model = directory.file(input == file::lp ? "model.lp" : "model.mps");
  const std::string solution = directory.file("solution.txt"), settings = directory.file("options.txt");
  for (const auto& [path, text] :
       {std::pair(model, input == file::lp ? to_lp(m) : to_mps(m)), std::pair(settings, options)}) {
    std::ofstream out(path);
    if (!(out << text).flush()) return failed("cannot write " + path);
  }
  const double seconds = std::min(r.seconds, 1e9);
  std::vector<std::string> words = command;
  for (std::string& w : words)
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"{model}", model},
                                     {"{solution}", solution},
                                     {"{options}", settings},
                                     {"{seconds}", std::to_string(static_cast<long>(std::ceil(seconds)))}})
      if (const auto at = w.find(key); at != std::string::npos) w.replace(at, key.size(), value);
  bool killed = false;
  if (std::string why = detail::run_program(words, seconds, r.stop, killed); !why.empty()) return failed(std::move(why));
  std::ifstream in(solution);
  if (!in) {
    if (killed) return answer.status = milp_status::limit, answer;
    return failed("'" + command[0] + "' wrote no solution file");
  }
  return detail::read_solution({std::istreambuf_iterator<char>(in), {}}, m, output);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
