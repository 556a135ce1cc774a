"""The dynamic cluster: members stop and recover."""
