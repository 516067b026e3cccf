"""A key belongs to the base_url of its own layer: over layers, through patches, in names and records."""

from dataclasses import replace

import pytest
from stemma.kernel.v1 import config_pb2

from kernel.errors import FailedPrecondition, Invalid
from kernel.generation.credentials import Credentials
from kernel.net.guard import Guard, allowed_hosts
from kernel.prompt.config import (
    MODELS,
    Config,
    ModelConfig,
    PipelineConfig,
    PipelineStage,
    effective,
    patched,
    sources,
    value_at,
    with_models,
    without_endpoints,
    without_keys,
)
from kernel.prompt.config_text import config_from_text, config_text, override_name
from kernel.prompt.record import options_text
from kernel.sealing import Seals
from kernel.wire.config import config, config_pb

A, B = "https://a.example/v1", "https://b.example/v1"


def model(base_url: str | None = None, api_key: str | None = None, **fields: str) -> Config:
    return Config(model=ModelConfig(base_url=base_url, api_key=api_key, **fields))  # type: ignore[arg-type]


def pair(config: Config) -> tuple[str | None, str | None]:
    return config.model.base_url, config.model.api_key


def test_every_model_of_a_configuration_is_known() -> None:
    stages = [f"pipeline.{name}.model" for name in ("director", "narrator", "verifier", "memory")]
    assert list(MODELS) == ["model", *stages]


@pytest.mark.parametrize(
    ("layers", "pairs", "decides"),
    [
        ([model(A, "k"), model()], (A, "k"), "0"),
        ([model(A, "k"), model(name="m")], (A, "k"), "0"),
        ([model(A, "k"), model(B)], (B, None), "1"),
        ([model(A, "k"), model(A)], (A, None), "1"),
        ([model(A, "k"), model(B, "l")], (B, "l"), "1"),
        ([model(A, "k"), model(B), model(name="m")], (B, None), "1"),
        ([model(A, "k"), model(B), model(A)], (A, None), "2"),
        ([model(A, "k"), model("")], ("", None), "1"),
        ([model(A, "k"), model(api_key="")], (A, ""), "1"),
    ],
)
def test_a_layer_with_another_address_has_no_key_from_below(
    layers: list[Config], pairs: tuple[str, str | None], decides: str
) -> None:
    laid = effective(*layers)
    assert pair(laid) == pairs
    assert sources([(str(number), layer) for number, layer in enumerate(layers)])["model.api_key"] == decides
    # In whatever order they are joined.
    assert laid == effective(layers[0], *([layers[2].over(layers[1])] if layers[2:] else layers[1:]))


def test_a_stage_with_an_address_of_its_own_is_not_sent_the_sessions_key() -> None:
    stage = ModelConfig(base_url=B)
    assert stage.over(ModelConfig(base_url=A, api_key="k")).api_key is None


@pytest.mark.parametrize(
    ("given", "paths", "expected"),
    [
        (model(B), ["model.base_url"], (B, None)),
        (model(), ["model.base_url"], (None, None)),
        (model(B), ["model"], (B, None)),
        (model(A), ["model"], (A, "k")),
        (model(A, name="m"), [""], (A, "k")),
        (model(), [""], (None, None)),
        (model(A, ""), [""], (A, "")),
        (model(A, "l"), [""], (A, "l")),
        (model(A, "l"), ["model.api_key"], (A, "l")),
        (model(B, "l"), ["model.api_key"], (B, "l")),
        (model(A), ["model.api_key"], (A, None)),
        (model(api_key=""), ["model.api_key"], (A, "")),
        (model(B, "l"), ["model.base_url", "model.api_key"], (B, "l")),
        (model(name="m"), ["model.name"], (A, "k")),
    ],
)
def test_a_patch_neither_loses_a_key_nor_takes_it_elsewhere(
    given: Config, paths: list[str], expected: tuple[str | None, str | None]
) -> None:
    assert pair(patched(model(A, "k"), given, paths)) == expected


def test_a_key_names_nothing_and_is_in_no_record() -> None:
    keyed = with_models(Config(), lambda path, _: ModelConfig(base_url=A, api_key=f"SECRET {path}"))
    assert override_name(keyed) == override_name(without_keys(keyed))
    assert "SECRET" not in options_text(keyed) + config_text(without_keys(keyed)) + repr(keyed)
    assert config_from_text(config_text(keyed)) == keyed


def test_a_file_has_neither_endpoints_nor_keys() -> None:
    keyed = with_models(
        Config("be brief"), lambda path, _: ModelConfig("openai", base_url=A, api_key="SECRET")
    )
    bare = with_models(Config("be brief"), lambda path, _: ModelConfig("openai"))
    assert without_endpoints(keyed) == bare == without_endpoints(bare)


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ({"api_key": "k"}, "api_key"),
        *(
            ({"base_url": A, "api_key": key}, "api_key")
            for key in ("a b", "k\r\nX: y", "k\n", "é", "k" * 4_097)
        ),
        *(({"base_url": A + more}, "base_url") for more in ("?key=x", "#x", "x" * 2_048, "\n", "\\")),
    ],
)
def test_what_is_no_endpoint_is_refused_by_its_field(model: dict[str, str], field: str) -> None:
    for given, path in [
        ({"model": model}, "c.model"),
        ({"pipeline": {"memory": {"model": model}}}, "c.pipeline.memory.model"),
    ]:
        with pytest.raises(Invalid) as caught:
            config(config_pb2.Config(**given), "c")
        assert [violation.field for violation in caught.value.violations] == [f"{path}.{field}"]
        assert not any(value in str(caught.value) for value in model.values() if len(value) > 1)


def test_an_endpoint_goes_in_and_out_without_its_key() -> None:
    for given in (model(A, "k"), model(A), model("", "")):
        message = config_pb2.Config(model={"base_url": given.model.base_url, "api_key": given.model.api_key})
        assert config(message, "c") == given
        shown = config_pb(given).model
        assert (shown.base_url, shown.HasField("api_key")) == (given.model.base_url, False)
        assert shown.HasField("api_key_set") is bool(given.model.api_key)


# --- sealing -----------------------------------------------------------------------------------

KEY = bytes(range(32))
CREDENTIALS = Credentials(Guard(allowed_hosts("localhost")), Seals([KEY]))


def test_keys_of_all_models_are_sealed_and_open_for_their_address_in_their_tenant() -> None:
    stage = PipelineStage(model=ModelConfig(base_url=B, api_key="sk-b"))
    given = replace(model(A, "sk-a"), pipeline=PipelineConfig(director=stage))
    stored = CREDENTIALS.admitted(given, "config", "t")
    assert "sk-" not in config_text(stored)
    assert without_keys(stored) == without_keys(given)
    for path, key in [("model", "sk-a"), ("pipeline.director.model", "sk-b")]:
        kept = value_at(stored, path)
        assert CREDENTIALS.key(kept, "t") == key
        with pytest.raises(FailedPrecondition, match="set it again"):
            CREDENTIALS.key(kept, "other")
        # However it got there.
        assert CREDENTIALS.key(replace(kept, base_url="https://c.example/v1"), "t") == ""
        assert CREDENTIALS.key(replace(kept, base_url=kept.base_url + "/"), "t") == ""


def test_a_key_of_a_server_key_that_is_gone_has_to_be_set_again() -> None:
    stored = CREDENTIALS.admitted(model(A, "sk-a"), "config", "t")
    rotated = Credentials(Guard(), Seals([bytes(32), KEY]))
    assert rotated.key(stored.model, "t") == "sk-a"
    with pytest.raises(FailedPrecondition) as caught:
        Credentials(Guard(), Seals([bytes(32)])).key(stored.model, "t")
    assert caught.value.reason == "SECRET_UNREADABLE"


def test_no_key_is_no_key() -> None:
    for api_key in (None, ""):
        stored = CREDENTIALS.admitted(model(A, api_key), "config", "t")
        assert stored == model(A, api_key)
        assert CREDENTIALS.key(stored.model, "t") == ""


def test_an_address_that_may_not_be_asked_is_refused_when_it_is_given_and_when_it_is_used() -> None:
    inside = "http://127.0.0.1/v1"
    with pytest.raises(Invalid) as caught:
        CREDENTIALS.admitted(model(inside), "overrides", "t")
    assert [violation.field for violation in caught.value.violations] == ["overrides.model.base_url"]
    with pytest.raises(Invalid) as caught:
        CREDENTIALS.key(model(inside).model, "t")
    assert CREDENTIALS.key(model("http://localhost:1/v1").model, "t") == ""
