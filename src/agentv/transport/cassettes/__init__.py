"""Exchanges at the two borders, recorded in a folder and replayed from it."""
