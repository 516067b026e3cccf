"""A program to supervise: logs an error, says where it would listen, and waits; without data it ends."""

import os
import signal

if not os.path.exists(os.environ["STEMMA_DATA"]):
    raise SystemExit("no data")
print('{"level": "error", "event": "unexpected error", "exception": "Traceback\\n  line\\nKeyError"}')
print("conversation_service listening on", os.environ["STEMMA_CONVERSATION"], flush=True)
signal.pause()
