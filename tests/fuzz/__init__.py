"""Fuzzers of all that a user, a network or a file can put into ``dse``. ``make fuzz`` runs them for a given time.

``harness`` runs cases in a process of their own, ``targets`` is the table of what is attacked, ``mutations`` and
``hostile`` make inputs, ``behaviour`` says what counts as a fault. ``corpus`` holds inputs that once were faults: they
are run first, and later cases start from them.
"""
