"""Row groups of a columnar file, judged from their integers: the only place that reads columns lazily."""
