"""The setting `drafts` names sources; values without a meaning are refused."""

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.draft_config import DraftConfig, DraftSetting
from intaglio.engine.errors import ConfigError


def test_sources_are_read_in_order() -> None:
    assert DraftConfig().sources is None
    assert DraftConfig(drafts="off").sources == ()
    named = DraftConfig(drafts="rows,document,model:/a/b:c").sources
    assert named == (
        DraftSetting("rows", ""),
        DraftSetting("document", ""),
        DraftSetting("model", "/a/b:c"),
    )
    assert DraftConfig(drafts="replay:0.5/0.4").sources == (DraftSetting("replay", "0.5/0.4"),)
    loaded = EngineConfig.load({"model": "/m"}, {"INTAGLIO_ENGINE_DRAFTS": "likely"})
    assert loaded.drafting.sources == (DraftSetting("likely", ""),)


@pytest.mark.parametrize(
    "drafts",
    [
        *("", "on", "document,", "document,document", "auto,rows", "off,rows", "document, rows"),
        *("model", "model:", "document:3", "replay", "replay:0.5,document"),
    ],
)
def test_what_no_source_is_called_is_refused(drafts: str) -> None:
    with pytest.raises(ConfigError) as refused:
        DraftConfig(drafts=drafts)
    assert refused.value.where == "drafts"
    assert "document" in refused.value.hint
