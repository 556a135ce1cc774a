"""The functions and reports behind `import precedes`. Import them from there: where they stand may change."""
