"""Methods over samples and populations, and the portfolio of methods."""
