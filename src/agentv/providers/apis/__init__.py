"""LLM APIs: one file each, the wire format visible at a glance, over one HTTP transport."""
