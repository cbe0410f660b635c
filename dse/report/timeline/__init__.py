"""Timelines for Perfetto (ui.perfetto.dev): all firings of a run on the cores, tokens as flows, filling of the FIFOs."""
