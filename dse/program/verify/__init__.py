"""The verifier of the IR: the rules that ``dse.program.ir`` and ``dse.program.explicit`` promise, checked on an actor.

``actors.verify`` checks what front ends make, ``explicit.verify_explicit`` what backends print. Both are for tests, on
entry and exit of each pass; a finding is an error in this program, never in a user's.
"""
