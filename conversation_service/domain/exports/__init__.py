"""A session's tree, written in each format: `write.export` is the way in."""
