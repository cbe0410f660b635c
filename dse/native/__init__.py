"""Networks as native programs: the C++ project of a network, how it is built, kept, run and read."""
