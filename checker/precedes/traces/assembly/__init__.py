"""From canonical rows, in any order, to batches of whole executions."""
