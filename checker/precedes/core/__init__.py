"""The values that everything else uses: formulas, verdicts, executions, diagnostics. It imports no other
package of precedes.
"""
