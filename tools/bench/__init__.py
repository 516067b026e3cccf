"""`make bench`: one table from one run, ratios beside the targets. See docs/benchmarks.md."""
