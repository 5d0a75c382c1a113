// Models as text that every solver reads: CPLEX's LP and free MPS.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <memsched/ilp/milp.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

inline std::string number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

/// "+ 2 x" and so on, lines no longer than readers take.
class lp_sum {
 public:
  explicit lp_sum(std::string& out) : out_(out) {}
  void add(double factor, const std::string& name) {
    if (length_ > 100) out_ += "\n  ", length_ = 0;
    std::string text = factor < 0 ? " - " : " + ";
    if (std::abs(factor) != 1) text.append(number(std::abs(factor))).append(" ");
    out_ += text.append(name);
    length_ += text.size();
  }

 private:
  std::string& out_;
  std::size_t length_ = 0;
};

}  // namespace detail

/// The model in LP format. A row with two sides becomes two rows, the second named with a suffix "_".
inline std::string to_lp(const milp_model& m) {
  using detail::number;
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_row = m.matrix;
  std::string out = "Minimize\n obj:";
  detail::lp_sum objective(out);
  for (std::size_t c = 0; c < m.columns.size(); ++c)
    if (m.objective[c] != 0) objective.add(m.objective[c], m.columns[c]);
  out += "\nSubject To\n";
  for (int r = 0; r < by_row.rows(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    const auto write = [&](const char* suffix, const char* relation, double side) {
      out += " " + m.rows[i] + suffix + ":";
      detail::lp_sum sum(out);
      for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(by_row, r); it; ++it)
        sum.add(it.value(), m.columns[static_cast<std::size_t>(it.col())]);
      out += relation + number(side) + "\n";
    };
    const double low = m.row_lower[i], high = m.row_upper[i];
    if (low == high) {
      write("", " = ", low);
      continue;
    }
    if (low > -unbounded) write("", " >= ", low);
    if (high < unbounded) write(low > -unbounded ? "_" : "", " <= ", high);
  }
  out += "Bounds\n";
  std::string binaries, generals;
  for (std::size_t c = 0; c < m.columns.size(); ++c) {
    const bool binary = m.integral[c] && m.lower[c] == 0 && m.upper[c] == 1;
    if (binary) binaries += " " + m.columns[c] + "\n";
    else if (m.integral[c]) generals += " " + m.columns[c] + "\n";
    if (binary) continue;
    out += " " + (m.lower[c] == -unbounded ? "-inf" : number(m.lower[c])) + " <= " + m.columns[c] +
           " <= " + (m.upper[c] == unbounded ? "+inf" : number(m.upper[c])) + "\n";
  }
  if (!generals.empty()) out += "Generals\n" + generals;
  if (!binaries.empty()) out += "Binaries\n" + binaries;
  return out + "End\n";
}

/// The model in free MPS format, which its first line says: else Cbc takes short names for columns of the fixed one.
inline std::string to_mps(const milp_model& m) {
  using detail::number;
  std::string out = "NAME memsched FREE\nROWS\n N obj\n", right, ranges;
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    const double low = m.row_lower[r], high = m.row_upper[r];
    out += (low == high ? " E " : low > -unbounded ? " G " : " L ") + m.rows[r] + "\n";
    if (const double side = low > -unbounded ? low : high; side != 0)
      right += " RHS " + m.rows[r] + " " + number(side) + "\n";
    if (low != high && low > -unbounded && high < unbounded)
      ranges += " RANGE " + m.rows[r] + " " + number(high - low) + "\n";
  }
  out += "COLUMNS\n";
  bool integral = false;
  std::size_t markers = 0;
  const auto mark = [&](bool now) {
    if (now != integral) out += " MARKER" + std::to_string(markers++) + " 'MARKER' '" + (now ? "INTORG" : "INTEND") + "'\n";
    integral = now;
  };
  for (std::size_t c = 0; c < m.columns.size(); ++c) {
    mark(m.integral[c]);
    // A column without entries still has to be named.
    if (m.objective[c] != 0 || m.matrix.col(static_cast<Eigen::Index>(c)).nonZeros() == 0)
      out += " " + m.columns[c] + " obj " + number(m.objective[c]) + "\n";
    for (Eigen::SparseMatrix<double>::InnerIterator it(m.matrix, static_cast<Eigen::Index>(c)); it; ++it)
      out += " " + m.columns[c] + " " + m.rows[static_cast<std::size_t>(it.row())] + " " + number(it.value()) + "\n";
  }
  mark(false);
  out += "RHS\n" + right;
  if (!ranges.empty()) out += "RANGES\n" + ranges;
  out += "BOUNDS\n";
  for (std::size_t c = 0; c < m.columns.size(); ++c) {
    const std::string of = " BND " + m.columns[c];
    if (m.lower[c] == -unbounded) out += " MI" + of + "\n";
    else if (m.lower[c] != 0) out += " LO" + of + " " + number(m.lower[c]) + "\n";
    if (m.upper[c] < unbounded) out += " UP" + of + " " + number(m.upper[c]) + "\n";
    else if (m.integral[c]) out += " PL" + of + "\n";
  }
  return out + "ENDATA\n";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
