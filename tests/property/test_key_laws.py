from hypothesis import given
from hypothesis import strategies as st

from rtch.keys import KeyParts, NamedDigest, diff_states, explain, state_rows
from rtch.models.vocab import StageName

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
named = st.builds(NamedDigest, name=text, digest=text)
limits = st.sampled_from(["", "{}", '{"a":null}', '{"a":{}}', '{"a":1}', '{"a":2}', '{"a":[1]}'])
parts = st.builds(
    KeyParts,
    stage=st.sampled_from(StageName),
    logic=text,
    inputs=st.lists(named, max_size=4).map(tuple),
    limits=limits,
    state=text,
)
paths = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
tokens = st.text(st.sampled_from("0123456789abcdef:"), max_size=6)


def content(parts: KeyParts) -> tuple[object, ...]:
    return parts.stage, parts.logic, tuple(one.digest for one in parts.inputs), parts.limits, parts.state


@given(parts, parts)
def test_keys_are_equal_exactly_when_their_content_is(one: KeyParts, other: KeyParts) -> None:
    assert (one.key == other.key) == (content(one) == content(other))


@given(parts, st.sampled_from(["logic", "state", "limits"]), text)
def test_any_change_of_a_part_changes_the_key(one: KeyParts, field: str, more: str) -> None:
    other = one.model_copy(update={field: getattr(one, field) + more})
    assert (other.key == one.key) == (more == "")


@given(parts, text, text)
def test_text_does_not_move_between_neighbours(one: KeyParts, left: str, right: str) -> None:
    joined = one.model_copy(update={"inputs": (NamedDigest(name="", digest=left + right),)})
    split = one.model_copy(update={"inputs": (NamedDigest(name="", digest=left), NamedDigest(name="", digest=right))})
    moved = one.model_copy(update={"logic": one.logic + left, "state": right})
    back = one.model_copy(update={"logic": one.logic, "state": left + right})
    assert joined.key != split.key
    assert (moved.key == back.key) == (left == "")


@given(parts, st.permutations(range(4)))
def test_the_order_of_inputs_counts(one: KeyParts, order: list[int]) -> None:
    inputs = tuple(NamedDigest(name="", digest=str(place)) for place in range(4))
    other = one.model_copy(update={"inputs": tuple(inputs[place] for place in order)})
    assert (other.key == one.model_copy(update={"inputs": inputs}).key) == (list(order) == [0, 1, 2, 3])


@given(parts, parts)
def test_different_keys_of_a_stage_are_always_told_in_words(one: KeyParts, other: KeyParts) -> None:
    other = other.model_copy(update={"stage": one.stage})
    assert bool(explain(one, other)) == (one.key != other.key)


@given(parts)
def test_parts_survive_storing(one: KeyParts) -> None:
    assert KeyParts.parse(one.canonical()) == one


@given(st.dictionaries(paths, tokens, max_size=6), st.dictionaries(paths, tokens, max_size=6))
def test_state_rows_lose_nothing(before: dict[str, str], after: dict[str, str]) -> None:
    diff = diff_states(state_rows(before.items()), state_rows(after.items()))
    assert set(diff.added) == after.keys() - before.keys()
    assert set(diff.removed) == before.keys() - after.keys()
    assert set(diff.changed) == {path for path in before.keys() & after.keys() if before[path] != after[path]}
    assert diff.total == len(after)
