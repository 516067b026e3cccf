"""What goes out to hosts that a caller named: checked before it is connected."""
