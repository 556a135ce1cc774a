"""A protocol model in processes of the operating system, which talk over UDP and record what they do.

`cluster` starts the processes and says when an execution begins and ends; a `member` is one of them, with the `lanes`
of the executions under way in it; `links` repairs what the system loses.
"""
