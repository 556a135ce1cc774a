"""One layout for .prec files as people write them: words stay, and what is between them is decided."""
