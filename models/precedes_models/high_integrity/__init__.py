"""High integrity multicast."""
