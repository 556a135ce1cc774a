"""The Spark engine: files or DataFrames in, partial reports or verdict rows out. The one place that imports
pyspark.
"""
