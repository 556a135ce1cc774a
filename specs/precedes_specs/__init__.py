"""The standard library of predicates, services and broker profiles, written in the language itself."""
