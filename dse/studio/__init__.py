"""The live page: one design that people change in a browser, estimated anew at each change.

``design`` and ``edits``: what is changed and how; ``messages``: how it is said; ``session`` and ``journal``: undo, and
what survives a kill; ``estimation``, ``latest``, ``searching``, ``following``: what runs in threads; ``guard`` and
``server``: what a browser may ask for.
"""
