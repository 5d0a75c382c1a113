// Gives CMake a file to compile with the headers that test programs have precompiled.
