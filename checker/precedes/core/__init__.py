"""What everything else is built on: formulas, verdicts, executions, diagnostics. It imports nothing else."""
