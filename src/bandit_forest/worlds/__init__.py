"""Streams of contexts and rewards to play with and measure on."""
