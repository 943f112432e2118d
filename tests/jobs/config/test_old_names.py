"""The table of old names: it is complete, leads to keys that exist, and stands in the docs."""

import re
from pathlib import Path

from allstreets.jobs import LoopConfig, PostflopModelConfig, SpotConfig
from allstreets.jobs.config.model import ALIASES, OLD_VALUES, choices
from allstreets.jobs.config.whole_game import PreflopConfig, UnifiedConfig

DOCS = Path(__file__).parents[3] / "docs" / "training.md"
SECTIONS = (UnifiedConfig, PreflopConfig, PostflopModelConfig, SpotConfig, LoopConfig)


def test_old_names_lead_to_keys_and_are_none_themselves() -> None:
    known = {key for section in SECTIONS for key in section.named_fields()}
    assert {old.new for old in ALIASES.values()} <= known
    assert not known & set(ALIASES)


def test_old_values_lead_to_values_and_are_none_themselves() -> None:
    for key, values in OLD_VALUES.items():
        known = {
            choice for section in SECTIONS for choice in choices(section.named_fields().get(key))
        }
        assert set(values.values()) <= known
        assert not set(values) & known


def test_the_docs_have_every_old_name() -> None:
    section = DOCS.read_text().partition("\n## Old names\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(.+?)` \| `(.+?)` \|", section, re.MULTILINE))
    names = {name: old.new for name, old in ALIASES.items()}
    values = {
        f"{key}: {old}": f"{key}: {new}"
        for key, renamed in OLD_VALUES.items()
        for old, new in renamed.items()
    }
    assert rows == names | values
