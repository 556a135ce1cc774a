"""From the text of a file to its syntax tree: lexer, LALR tables, tree builder."""
