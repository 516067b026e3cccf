"""Envoy's configuration as a front door, of Python values."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

_CALLS = {"stemma.conversation.v1.": "conversation", "stemma.draft.v1.": "draft"}
# With the ports on which they listen.
CLUSTERS = {"conversation": 50051, "draft": 50052, "gateway": 8080}
_TYPE = "type.googleapis.com/envoy"
_ROUTER = "envoy.filters.http.router"
_TRANSCODER = "envoy.filters.http.grpc_json_transcoder"
# Seconds for a whole answer; streams have none.
_NO_LIMIT = "0s"


def config(services: Sequence[str]) -> dict[str, Any]:
    """Envoy's whole configuration."""
    return {
        "admin": {"address": _address("127.0.0.1", 9901)},
        "static_resources": {
            "listeners": [_listener(services)],
            "clusters": [_cluster(name, port) for name, port in CLUSTERS.items()],
        },
    }


def elsewhere(
    config: Mapping[str, Any], listen: str, endpoints: Mapping[str, Sequence[str]], descriptors: str
) -> dict[str, Any]:
    """The configuration with other places, and nothing else changed: where it listens, `host:port`; the
    addresses behind each cluster; the file of the descriptors. Envoy's own pages get any free port."""
    changed: Any = copy.deepcopy(dict(config))
    changed["admin"]["address"] = _address("127.0.0.1", 0)
    [listener] = changed["static_resources"]["listeners"]
    listener["address"] = _parsed(listen)
    for one in listener["filter_chains"][0]["filters"][0]["typed_config"]["http_filters"]:
        if "proto_descriptor" in one["typed_config"]:
            one["typed_config"]["proto_descriptor"] = descriptors
    for cluster in changed["static_resources"]["clusters"]:
        several = [{"endpoint": {"address": _parsed(address)}} for address in endpoints[cluster["name"]]]
        cluster["load_assignment"]["endpoints"] = [{"lb_endpoints": several}]
    return dict(changed)


def _parsed(address: str) -> dict[str, Any]:
    host, _, port = address.rpartition(":")
    return _address(host, int(port))


def _typed(name: str, **fields: Any) -> dict[str, Any]:
    return {"@type": f"{_TYPE}.{name}", **fields}


def _address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}


def _listener(services: Sequence[str]) -> dict[str, Any]:
    manager = _typed(
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="front",
        codec_type="AUTO",
        use_remote_address=True,
        preserve_external_request_id=True,
        # What the services' own guards say of a path, they say of the path as it came.
        normalize_path=False,
        path_with_escaped_slashes_action="REJECT_REQUEST",
        stream_idle_timeout="3600s",
        request_headers_timeout="10s",
        # Time for the calls under way when Envoy itself is replaced.
        drain_timeout="10s",
        http2_protocol_options={"max_concurrent_streams": 1000},
        route_config={"name": "front", "virtual_hosts": [_host()]},
        http_filters=[
            {"name": _TRANSCODER, "typed_config": _transcoder(services)},
            {"name": _ROUTER, "typed_config": _typed("extensions.filters.http.router.v3.Router")},
        ],
    )
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
    return {"name": "front", "address": _address("0.0.0.0", 8443), "filter_chains": [chain]}


def _host() -> dict[str, Any]:
    events = {
        "match": {
            "prefix": "/",
            "headers": [{"name": "accept", "string_match": {"contains": "text/event-stream"}}],
        },
        "route": {"cluster": "gateway", "timeout": _NO_LIMIT},
        # Events with ids to resume by: the gateway's work. Nothing to transcode.
        "typed_per_filter_config": {_TRANSCODER: _off()},
    }
    calls = [_calls(prefix, cluster) for prefix, cluster in _CALLS.items()]
    rest = {"match": {"prefix": "/"}, "route": {"cluster": "gateway", "timeout": _NO_LIMIT}}
    return {"name": "all", "domains": ["*"], "routes": [events, *calls, rest]}


def _calls(prefix: str, cluster: str) -> dict[str, Any]:
    # Every write carries a request_id, so that a repeat is answered and not done again (R1): what a
    # replica that stops or is away refused can be sent to another.
    retry = {
        "retry_on": "connect-failure,refused-stream,unavailable",
        "num_retries": 3,
        "per_try_idle_timeout": "60s",
        "retry_back_off": {"base_interval": "0.1s", "max_interval": "1s"},
        "retry_host_predicate": [
            {
                "name": "envoy.retry_host_predicates.previous_hosts",
                "typed_config": _typed("extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"),
            }
        ],
        "host_selection_retry_max_attempts": "3",
    }
    route = {
        "cluster": cluster,
        "timeout": _NO_LIMIT,
        "max_stream_duration": {"grpc_timeout_header_max": "0s"},
    }
    return {"match": {"prefix": f"/{prefix}"}, "route": {**route, "retry_policy": retry}}


def _transcoder(services: Sequence[str]) -> dict[str, Any]:
    return _typed(
        "extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder",
        proto_descriptor="/etc/envoy/descriptors.binpb",
        services=list(services),
        # As the gateway: zero values are printed, names are lowerCamelCase, enums are words.
        print_options={"always_print_primitive_fields": True},
        convert_grpc_status=True,
        # A REST answer that is not gRPC's own, as the console, is the gateway's.
        request_validation_options={
            "reject_unknown_query_parameters": True,
            "reject_binding_body_field_collisions": True,
        },
        max_request_body_size=6 * 1024 * 1024,
        max_response_body_size=16 * 1024 * 1024,
    )


def _off() -> dict[str, Any]:
    return _typed(
        "extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder",
        proto_descriptor_bin="",
        services=[],
    )


def _cluster(name: str, port: int) -> dict[str, Any]:
    protocol: dict[str, Any] = {"explicit_http_config": {"http2_protocol_options": {}}}
    check: dict[str, Any] = {"grpc_health_check": {}}
    if name == "gateway":
        protocol = {"explicit_http_config": {"http_protocol_options": {}}}
        check = {"http_health_check": {"path": "/readyz", "host": "localhost"}}
    endpoint = {"endpoint": {"address": _address(name, port)}}
    return {
        "name": name,
        # Every replica that the name stands for; asked again each second.
        "type": "STRICT_DNS",
        "dns_refresh_rate": "1s",
        "connect_timeout": "1s",
        "lb_policy": "LEAST_REQUEST",
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": _typed(
                "extensions.upstreams.http.v3.HttpProtocolOptions", **protocol
            )
        },
        # A replica that stops says NOT_SERVING first, and gets no new call from then on.
        "health_checks": [
            {
                "timeout": "1s",
                "interval": "1s",
                "no_traffic_interval": "1s",
                "unhealthy_threshold": 2,
                "healthy_threshold": 1,
                **check,
            }
        ],
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
