"""REST and SSE in front of the services: translation only, no rules and no database.

A request passes `http1` (what is HTTP at all), `edge` (request id, Host, limits, errors), `routes`
(which RPC), `body` and `transcode` (its message), `upstream` (the call), and `render`, `sse` or
`respond` (the answer). What is served comes from the descriptors named in `services`.
"""
