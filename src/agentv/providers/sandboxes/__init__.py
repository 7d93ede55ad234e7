"""Sandboxes for agents: what the author may ask for, and what each kind makes of a command."""
