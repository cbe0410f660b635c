"""The language server: what an editor shows of CAL and XDF files while they are written (docs/editor.md).

``session`` answers questions about places in files, in terms of this package; ``server`` speaks the protocol. All else
knows nothing of the protocol, and runs without the extra ``lsp``.
"""
