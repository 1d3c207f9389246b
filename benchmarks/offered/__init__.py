"""Policies that choose among offered actions with features, and how they are played."""
