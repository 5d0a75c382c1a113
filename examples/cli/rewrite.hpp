// Networks of model files, and what rewriting makes of them.
#pragma once

#include <cstddef>
#include <memsched/base/bytes.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/search/options.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"

namespace cli {

/// The network of a model file or of builtin:NAME, with what its operators compute.
memsched::result<memsched::network> read_network(const std::string& path, const reading&);

/// The options of `fit` that a request sets; an error if its limit of extra multiply-accumulates is not valid.
memsched::result<memsched::fit_options> fit_options_of(const rewriting&, const memsched::network&, memsched::bytes budget);

/// The problem that a network lowers to, as a graph file has it.
memsched::problem_draft draft_of(const memsched::network&);

/// The graph that a network lowers to; its operators in the network's order.
memsched::result<loaded> load_network(memsched::network, const std::string& name);

/// The rewritten network that `schedule --rewrite` schedules; `limits` bounds the search for it.
memsched::result<loaded> load_rewritten(const std::string& path, const reading&, const rewriting&,
                                        const memsched::options& limits);

/// Lists the operators of the network to rewrite that are not understood, for people; empty if all are. The second lists them
/// as JSON: kind, reason and number of operators.
std::string not_understood(const memsched::network& first);
nlohmann::ordered_json not_understood_json(const memsched::network& first);

/// The graph of a result that holds a rewritten network, checked against the model: that it computes the same, in as many
/// operators and multiply-accumulates as it says. `path`: of the result; `found` then says so for people.
memsched::result<loaded> checked_rewrite(const std::string& model, const reading&, const nlohmann::json& result,
                                         const std::string& path, std::string& found);

}  // namespace cli
