"""The gRPC server that both services share.

- server: starting, limits, health, reflection, draining; signals: a process's end
- registry: descriptor + servicer -> handlers; exchange: one call, and the only use of grpc's context
- interceptors: the one list of what surrounds every handler; admission, call: its parts
- status: error class -> code and google.rpc.Status
- checks, messages, strict_json: fields of a request; tokens: page tokens; fingerprint: R1
- logs: structlog to stderr
"""
