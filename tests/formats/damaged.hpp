// Readers of typed networks on files with some bytes changed.
#pragma once

#include <catch2/catch.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/network/check.hpp>
#include <random>
#include <string>

/// Reads `rounds` copies of a file with one to three bytes changed, to any value or by a little: each gives an error with a
/// message, or a network that holds. Returns the number of copies that gave a network.
template <class Read>
int networks_of_damaged(const std::string& file, unsigned seed, int rounds, Read read) {
  std::mt19937 random(seed);
  int sound = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = file;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      char& c = damaged[random() % damaged.size()];
      c = static_cast<char>(random() % 2 == 0 ? random() % 256 : static_cast<unsigned char>(c) + random() % 5);
    }
    const auto net = read(damaged);
    if (!net) {
      CHECK(!net.error().message.empty());
      continue;
    }
    ++sound;
    CHECK(check_network(*net).message.empty());
    CHECK(lower(*net));
  }
  return sound;
}
