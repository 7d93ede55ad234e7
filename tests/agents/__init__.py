"""Real coding agents in tests: which, how they are installed, and a stage to run them on."""
