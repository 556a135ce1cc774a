"""What is told of verdicts: figures, sentences, and the formats that other tools read."""
