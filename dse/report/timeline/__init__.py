"""Timelines for Perfetto (ui.perfetto.dev): the firings of a run on its cores, tokens as flows, how full FIFOs are."""
