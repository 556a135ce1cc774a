"""Jobs of these tests run in processes that are prepared."""

from tests.warm_processes import warm_processes

__all__ = ["warm_processes"]
