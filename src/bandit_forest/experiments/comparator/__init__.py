"""What regret is counted against: a forest that is fitted with full information, and then plays the noisy stream."""
