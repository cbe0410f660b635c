"""Layer 2: the program: types, IR, network; its printed form and its verifier."""
