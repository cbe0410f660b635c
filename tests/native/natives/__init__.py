"""The native functions in C++ against those in Python."""
