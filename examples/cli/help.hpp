// Help, a manual page, and completions of shells, made from the table of options.
#pragma once

#include <deque>
#include <string>

#include "options.hpp"

namespace cli {

/// The help of the program, or of one command; lines of at most 80 columns.
std::string help(const std::deque<command>&);
std::string help(const command&);
/// The schedulers, by name.
std::string help_of_schedulers();

/// A page for man(1), in troff.
std::string manual(const std::deque<command>&);

/// A script for bash, zsh or fish.
std::string completion(const std::deque<command>&, const std::string& shell);

}  // namespace cli
