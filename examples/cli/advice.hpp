// The rewritten networks that a person would choose among.
#pragma once

#include <functional>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/fit.hpp>
#include <string>
#include <vector>

namespace cli {

/// A network, and the command that makes it: `memsched rewrite`, with this budget or, where that is 0, with none.
struct pick {
  memsched::fit_point cost;
  memsched::bytes budget = 0;
};

struct advice {
  memsched::fitted found;   ///< the smallest peak; its front and steps are those of all searches
  std::vector<pick> picks;  ///< at most 8 below the peak of the given network; peaks fall, operators or products grow
};

/// A word as a POSIX shell takes it.
std::string shell_word(const std::string&);
/// A size as the command line takes it: 1048576 -> "1M".
std::string size_word(memsched::bytes);
/// The command that makes a pick of a model, for a POSIX shell.
std::string command_of(const std::string& model, const pick&);

/// Sees each network that a search found, without an error.
using see_network = std::function<void(const memsched::fitted&)>;

/// Looks for the network with the smallest peak: first by cuts of what is live at the peak alone, then by even cuts of every
/// tensor. Cuts at the peak alone need far fewer operators for most peaks. Half of the time is for each. `f.budget` is not
/// looked at. An error of either search is that of `found`.
memsched::fitted fit_widely(const memsched::network&, memsched::fit_options f, const memsched::options& limits,
                            const see_network& see = {});

/// The same, and picks of its front: each is searched for anew with its peak as the budget, in a third of the time.
/// A budget of `f` is the first of them.
advice advise(const memsched::network&, const memsched::fit_options& f, const memsched::options& limits,
              const see_network& see = {});

/// Searches with less and less to spend, down to a sixteenth of `f.max_extra_macs`: fewer stripes need fewer operators.
void search_cheaper(const memsched::network&, memsched::fit_options f, const memsched::options& limits,
                    const see_network& see);

}  // namespace cli
