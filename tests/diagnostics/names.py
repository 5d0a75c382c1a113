#!/usr/bin/env python3
"""Counts the names that a program finds in `memsched` behind <memsched/schedule.hpp>, with the large functions compiled elsewhere.

usage: names.py CLANG INCLUDE MOST

Prints them; ends with 1 where there are more than MOST.
"""
import json
import re
import subprocess
import sys

KINDS = {"CXXRecordDecl", "ClassTemplateDecl", "ConceptDecl", "EnumDecl", "FunctionDecl", "FunctionTemplateDecl", "TypeAliasDecl",
         "TypeAliasTemplateDecl", "TypedefDecl", "UsingDecl", "UsingShadowDecl", "VarDecl", "VarTemplateDecl"}


def names_in(namespace):
    """The names of a namespace's members, with those of its inline namespaces."""
    for child in namespace.get("inner", []):
        name = child.get("name", "")
        if child.get("kind") == "NamespaceDecl":
            if child.get("isInline"):
                yield from names_in(child)
        elif child.get("kind") in KINDS and not child.get("isImplicit") and not re.match(r"operator\b", name):
            yield name


def main(clang, include, most):
    command = [clang, "-std=c++20", "-DMEMSCHED_SEPARATE_COMPILATION", "-I", include, "-x", "c++", "-fsyntax-only",
               "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=memsched", "-"]
    dump = subprocess.run(command, input="#include <memsched/schedule.hpp>\n", stdout=subprocess.PIPE, check=True, text=True).stdout
    decoder, at, names = json.JSONDecoder(), 0, set()
    while (at := dump.find("{", at)) >= 0:
        node, at = decoder.raw_decode(dump, at)
        if node.get("kind") == "NamespaceDecl" and node.get("name") == "memsched":
            names.update(names_in(node))
    names.discard("")
    print(len(names), *sorted(names))
    return len(names) > int(most)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
