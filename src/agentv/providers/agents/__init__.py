"""Coding agents, run headless: one base, and one small file for each."""
