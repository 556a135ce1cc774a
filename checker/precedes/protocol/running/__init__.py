"""What runs of a protocol share, whether they are simulated or real: an entity, a network with faults, chance."""
