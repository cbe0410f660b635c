"""The stages of ``dse.flows.explore``: space, method, store, the search itself, and what it found."""
