// Mixed integer linear programs as data, and the concept of a solver. Needs Eigen.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/SparseCore>

#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Minimize objective * x under row_lower <= matrix * x <= row_upper and lower <= x <= upper, x integral where said so.
struct milp_model {
  Eigen::SparseMatrix<double> matrix;  ///< a row per constraint, a column per variable; column by column
  std::vector<double> objective, lower, upper;
  std::vector<double> row_lower, row_upper;
  std::vector<bool> integral;
  std::vector<std::string> columns, rows;  ///< names, each unique

  std::size_t variables() const { return columns.size(); }
};

/// Collects columns and rows of a model.
class milp_builder {
 public:
  struct term {
    index_t column;
    double factor;
  };

  /// A variable; its column.
  index_t column(std::string name, double lower, double upper, bool integral, double cost = 0) {
    model_.columns.push_back(std::move(name));
    model_.lower.push_back(lower);
    model_.upper.push_back(upper);
    model_.integral.push_back(integral);
    model_.objective.push_back(cost);
    return static_cast<index_t>(model_.columns.size() - 1);
  }
  /// lower <= sum of terms <= upper. A column may be named more than once.
  void row(std::string name, double lower, double upper, const std::vector<term>& terms) {
    const int r = static_cast<int>(model_.rows.size());
    for (const term& t : terms) entries_.emplace_back(r, static_cast<int>(t.column), t.factor);
    model_.rows.push_back(std::move(name));
    model_.row_lower.push_back(lower);
    model_.row_upper.push_back(upper);
  }
  std::size_t columns() const { return model_.columns.size(); }

  milp_model build() && {
    model_.matrix.resize(static_cast<Eigen::Index>(model_.rows.size()), static_cast<Eigen::Index>(model_.columns.size()));
    model_.matrix.setFromTriplets(entries_.begin(), entries_.end());
    model_.matrix.prune(0.0);
    return std::move(model_);
  }

 private:
  milp_model model_;
  std::vector<Eigen::Triplet<double>> entries_;
};

/// A request to a solver beside the model.
struct milp_request {
  std::vector<double> start{};  ///< a solution to begin with; empty for none
  double cutoff = unbounded;    ///< worse solutions are of no use
  double gap = 0;               ///< a solution so near to the bound is good enough
  double seconds = unbounded;
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();  ///< of branch and bound
  unsigned threads = 1;
  std::stop_token stop{};
};

enum class milp_status : unsigned char {
  optimal,     ///< x is within the gap of the best
  infeasible,  ///< nothing is feasible and within the cut-off
  limit,       ///< stopped; x, if there is one, is the best so far
  failed,      ///< no answer, for the reason in `message`
};

struct milp_answer {
  milp_status status = milp_status::failed;
  std::vector<double> x{};    ///< empty if none was found
  double bound = -unbounded;  ///< no feasible solution within the cut-off costs less
  std::uint64_t nodes = 0;    ///< of branch and bound, if known
  std::string message{};      ///< one line, for `failed`
};

/// A function from a model and a request to an answer.
template <class S>
concept milp_solver = requires(const S& s, const milp_model& m, const milp_request& r) {
  { s(m, r) } -> std::same_as<milp_answer>;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
