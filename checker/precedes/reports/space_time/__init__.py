"""Space-time diagrams, as text and as SVG."""
