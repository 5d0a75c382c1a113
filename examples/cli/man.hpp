// The manual page and completions for shells, made from the program's own help.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cli {

/// The page for man(1), as troff.
std::string manual(const CLI::App&);

/// What a shell (bash, zsh or fish) reads to complete commands, options and file names.
std::string completion(const CLI::App&, const std::string& shell);

}  // namespace cli
