// A graph, and certificates for it, as a second checker reads them (both.py).
#pragma once

#include <iostream>
#include <string>
#include <vector>

#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/check_certificate.hpp>

using certificate_json = nlohmann::ordered_json;

/// Prints a graph with an order of it and its optimum on one line, and then certificates for it.
class proof_case {
 public:
  proof_case(const memsched::problem_draft& draft, const memsched::schedule_graph& g, const memsched::memory_model& model,
             const std::vector<memsched::op_id>& order, memsched::bytes optimum)
      : graph_(g) {
    std::string text = write_json(draft);
    for (char& c : text)
      if (c == '\n') c = ' ';
    const certificate_json rest{{"firing", model.default_firing == memsched::firing::cbp ? "cbp" : "pbc"},
                                {"inplace", model.in_place},
                                {"order", order},
                                {"peak", peak_of(g, order)},
                                {"optimum", optimum}};
    std::cout << "{\"graph\":" << text << ',' << rest.dump().substr(1) << '\n';
  }
  const memsched::schedule_graph& graph() const { return graph_; }

  /// Prints a certificate for the graph, with whether the library accepts it, on one line.
  void print(const std::string& kind, const certificate_json& c) const {
    const std::string text = c.dump();
    const auto read = memsched::read_certificate(nlohmann::json::parse(text));
    const bool accepted = read && check_certificate(graph_, *read).empty();
    std::cout << "{\"kind\":\"" << kind << "\",\"accepted\":" << (accepted ? "true" : "false") << ",\"certificate\":" << text
              << "}\n";
  }
  void print(const std::string& kind, const memsched::certificate& c) const { print(kind, write_certificate(c)); }

 private:
  const memsched::schedule_graph& graph_;
};
