"""Patches of a configuration: the document that they are for, names in either spelling, and keys."""

import json
from typing import Any

import pytest

from kernel.errors import Invalid
from kernel.prompt.config import Config, MemoryPolicy, ModelConfig, Tool
from kernel.wire.config_patch import config_from, document, patch_of, patched

LAYER = Config(
    "Be kind.",
    ModelConfig(temperature=0.5, seed=2**53 + 1, base_url="http://models.example/v1", api_key="sealed"),
    tools=(Tool("look", side_effect=1),),
    memory_policy=MemoryPolicy(mode=3, kinds=(1,)),
    greetings=("Hello.",),
    variables_json='{"big":9007199254740993}',
)


def after(*operations: dict[str, Any]) -> Config:
    return patched(LAYER, patch_of(json.dumps(operations), "field"), "config", lambda config: config)


def test_the_document_has_the_schemas_names_and_what_can_be_added_to() -> None:
    found = document(LAYER)
    assert found["model"] == {
        "temperature": 0.5,
        "seed": 2**53 + 1,
        "stop": [],
        "baseUrl": "http://models.example/v1",
    }
    assert found["memoryPolicy"] == {"mode": "MEMORY_MODE_AUTO", "kinds": ["MEMORY_KIND_FACT"]}
    assert found["pipeline"]["director"] == {"model": {"stop": []}, "tools": [], "budget": {}}
    assert found["tools"][0]["sideEffect"] == "TOOL_SIDE_EFFECT_NONE"
    assert "sealed" not in repr(found)
    assert document(Config())["greetings"] == []


def test_a_document_is_the_configuration() -> None:
    assert after({"op": "test", "path": "/systemPrompt", "value": "Be kind."}) == LAYER
    assert config_from(document(Config()), "config") == Config()


@pytest.mark.parametrize("path", ["/model/topP", "/model/top_p"])
def test_either_spelling(path: str) -> None:
    assert after({"op": "add", "path": path, "value": 0.25}).model.top_p == 0.25
    whole = after({"op": "replace", "path": "/memory_policy", "value": {"min_importance": 0.5}})
    assert whole.memory_policy == MemoryPolicy(min_importance=0.5)
    tools = after({"op": "replace", "path": "/tools/0/side_effect", "value": "TOOL_SIDE_EFFECT_SANDBOX"})
    assert tools.tools == (Tool("look", side_effect=2),)


def test_a_key_stays_with_its_address_and_no_patch_brings_one() -> None:
    assert after({"op": "add", "path": "/model/temperature", "value": 1}).model.api_key == "sealed"
    elsewhere = after({"op": "replace", "path": "/model/baseUrl", "value": "http://other.example/v1"})
    assert elsewhere.model.api_key is None
    for operation in (
        {"op": "add", "path": "/model/apiKey", "value": "k"},
        {"op": "add", "path": "/model/api_key", "value": "k"},
        {"op": "add", "path": "/model", "value": {"api_key": "k"}},
        {"op": "add", "path": "", "value": {"pipeline": {"director": {"model": {"apiKey": "k"}}}}},
        {"op": "copy", "from": "/model/apiKey", "path": "/systemPrompt"},
    ):
        with pytest.raises(Invalid):
            patch_of(json.dumps([operation]), "field")


@pytest.mark.parametrize(
    ("found", "field"),
    [
        ([], "config"),
        ({"x": 1}, "config"),
        ({"model": 1}, "config.model"),
        ({"model": {"x": 1}}, "config.model"),
        ({"model": {"temperature": "warm"}}, "config.model.temperature"),
        ({"model": {"seed": 1.5}}, "config.model.seed"),
        ({"model": {"seed": 2**63}}, "config.model.seed"),
        ({"greetings": "Hello."}, "config.greetings"),
        ({"greetings": [None]}, "config.greetings"),
        ({"tools": [{"name": "a", "x": 1}]}, "config.tools"),
        ({"pipeline": {"director": {"enabled": 1}}}, "config.pipeline.director.enabled"),
        ({"model": {"apiKeySet": True}}, "config.model"),
        ({"systemPrompt": "\0"}, "config.system_prompt"),
    ],
)
def test_what_is_no_configuration_is_named_by_its_path(found: Any, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        config_from(found, "config")
    assert field in [violation.field for violation in caught.value.violations]
