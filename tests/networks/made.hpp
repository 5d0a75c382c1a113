// Generated networks by name.
#pragma once

#include <memsched/graph/problem.hpp>
#include <networks/networks.hpp>
#include <string>

/// The network of a name that exists.
inline memsched::problem_draft made(const std::string& name) { return networks::make(name).value(); }
