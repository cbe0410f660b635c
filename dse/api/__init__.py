"""Layer 9: the Python API, all of which ``import dse`` has; see docs/python.md.

    p = dse.load("network.xdf", input="picture.jpg")
    p.estimate("P0:a,b P1:c", buffers=512)
    p.explore(budget="30s").best

A thin layer over ``dse.flows``: what a user gives becomes options, what comes back gets names, tables and pictures.
Errors are the ``DseError`` that the command line prints.
"""
