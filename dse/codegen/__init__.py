"""Layer 3: text for a target: one emitter core, a table of spellings for each target."""
