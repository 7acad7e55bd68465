"""Generators by name, the bootstrap, and the neural ones with and without their extra."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from table_of_people import people, same

import fairlimits as fl
from fairlimits.errors import InputError, MissingExtraError
from fairlimits.law.generators import (
    GENERATORS,
    PAPER_EPOCHS,
    BootstrapGenerator,
    CartGenerator,
    CtganGenerator,
    Generator,
    ctgan,
    make_generator,
)

needs_ctgan = pytest.mark.skipif(
    importlib.util.find_spec("ctgan") is None, reason="the extra fairlimits[ctgan] is not installed"
)


def test_every_generator_has_its_name_and_the_protocol() -> None:
    for name in GENERATORS:
        made = make_generator(name)
        assert isinstance(made, Generator)
        assert made.name == name


def test_settings_reach_the_generator() -> None:
    assert make_generator("cart", min_leaf=7) == CartGenerator(min_leaf=7)
    assert make_generator("tvae", epochs=3, batch_size=50) == CtganGenerator("tvae", 3, 50)
    assert make_generator("ctgan").epochs == PAPER_EPOCHS == 400  # type: ignore[attr-defined]
    own = CartGenerator(9)
    assert make_generator(own) is own


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="cart, bootstrap, ctgan, tvae"):
        make_generator("gan")
    with pytest.raises(InputError, match="does not take epochs; it takes min_leaf and smooth"):
        make_generator("cart", epochs=3)
    with pytest.raises(InputError, match="does not take network; it takes epochs and batch_size"):
        make_generator("ctgan", network="tvae")
    with pytest.raises(InputError, match="it takes no settings"):
        make_generator("bootstrap", epochs=3)
    with pytest.raises(InputError, match="'cart', 'bootstrap'"):
        make_generator(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="made already"):
        make_generator(CartGenerator(), min_leaf=3)


def test_bootstrap_draws_rows_by_weight() -> None:
    data = people(400, weighted=True)
    rows = BootstrapGenerator().fit(data).sample(20_000, 1)
    assert rows.weight is None
    assert rows.schema == data.schema
    real = np.average(data.label, weights=data.weight)
    assert rows.label.mean() == pytest.approx(real, abs=0.02)
    assert data.weight is not None
    assert np.isin(rows.columns["pay"], data.columns["pay"][data.weight > 0]).all()
    assert same(rows, BootstrapGenerator().fit(data).sample(20_000, 1))
    with pytest.raises(InputError, match=r"\.fit"):
        BootstrapGenerator().sample(3)


@pytest.mark.parametrize("name", ["ctgan", "tvae"])
def test_missing_extra_names_the_install_line_and_the_licence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> None:
        raise ModuleNotFoundError(package)

    monkeypatch.setattr(ctgan, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"BUSL-1\.1.*pip install 'fairlimits\[ctgan\]'"):
        make_generator(name).fit(people(50))


def test_neural_settings_are_checked() -> None:
    for epochs in (0, 1.5, True, "3"):
        with pytest.raises(InputError, match="epochs"):
            CtganGenerator(epochs=epochs)  # type: ignore[arg-type]
    for size in (64, 0, 100.0):
        with pytest.raises(InputError, match="multiple of 10"):
            CtganGenerator(batch_size=size)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="network"):
        CtganGenerator("gan")  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True])
def test_layout_gives_back_what_it_was_given(weighted: bool) -> None:
    data = people(300, weighted=weighted)
    layout = ctgan._Layout.of(data)
    matrix = layout.matrix(data)
    assert np.isfinite(matrix).all()
    assert set(layout.fill) == {"age"}
    assert layout.whole == {"age"}
    assert len(layout.discrete) == 2 + 2 + 1
    assert same(layout.dataset(matrix), data)


def test_neural_generators_refuse_to_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pickle"):
        CtganGenerator().save(tmp_path / "g")
    with pytest.raises(InputError, match=r"\.fit"):
        CtganGenerator().sample(5)


@needs_ctgan
@pytest.mark.filterwarnings("default")  # the packages behind it warn of things of their own
@pytest.mark.parametrize("name", ["ctgan", "tvae"])
def test_neural_generators_for_real(name: str) -> None:
    data = people(400, towns=5, weighted=True)
    told = []
    fitted = make_generator(name, epochs=2, batch_size=100).fit(data, 0, lambda done, words: told.append((done, words)))
    assert told == [(0.5, "epoch 1 of 2"), (1.0, "epoch 2 of 2")]
    rows = fitted.sample(250, 1)
    assert rows.schema == data.schema
    assert rows.n_rows == 250
    assert same(rows, fitted.sample(250, 1))
    assert same(rows, make_generator(name, epochs=2, batch_size=100).fit(data, 0).sample(250, 1))
    assert same(fl.Dataset.read_like(data.schema, rows.to_frame().append_column("w", [[1.0] * 250])), rows)
