"""The blocks of notebooks/your_model.md, run as they stand, and the callback in a real trainer."""

import re
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from calibkit import metrics

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notebooks" / "your_model.md").read_text(encoding="utf-8")
EVERY = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
BLOCKS = [block for block in EVERY if "transformers" not in block]


@pytest.fixture(scope="module")
def done():
    """What the blocks leave behind when they are run in their order."""
    names = {}
    for block in BLOCKS:
        exec(compile(block, "your_model.md", "exec"), names)
    return names


def test_every_way_gives_the_same_number(done):
    expected = metrics.ece(done["probs"], done["labels"])
    assert done["whole"].measures()["ece"] == pytest.approx(expected, abs=1e-12)
    assert done["metric"].compute()["ece"].item() == pytest.approx(expected, abs=1e-12)
    assert done["diagram"].error() == pytest.approx(expected, abs=1e-12)


def test_weights_matter_and_maps_and_loaders_are_read(done):
    probs, labels, weights = done["probs"], done["labels"], done["weights"]
    gap = metrics.signed_gap(probs, labels)
    assert metrics.signed_gap(probs, labels, weights=weights) != pytest.approx(gap, abs=1e-3)
    assert done["scaler"].temperature > 1
    assert len(done["top"].confidence) == 2 * 7 * 8
    assert torch.equal(done["own"].inputs, done["train"].inputs)
    assert len(done["again"].history) == 2
    assert done["model"].calibrator_.temperature > 1


def test_the_page_is_linked_and_names_what_exists(done):
    assert "notebooks/your_model.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`metrics\.(\w+)", PAGE):
        assert hasattr(metrics, name), name
    for name in ("debiased_ece", "corp", "risk_coverage", "aurc"):
        with pytest.raises(TypeError, match="weights"):
            getattr(metrics, name)(done["probs"], done["labels"], weights=done["weights"])


def test_a_trainer_logs_the_calibration_of_every_epoch(done, tmp_path):
    lightning = done["lightning"]

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = torch.nn.Linear(64, 10)

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

        def validation_step(self, batch, _):
            return {"logits": self.network(batch[0]), "labels": batch[1]}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    inputs, labels = done["train"].inputs.flatten(1), done["train"].labels
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=100)
    module = Module()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    options = quiet | {"enable_model_summary": False, "default_root_dir": tmp_path}
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", callbacks=[done["Calibration"]()], **options
    )
    trainer.fit(module, loader, loader)
    probs = module.network(inputs).softmax(1)
    logged = trainer.callback_metrics
    assert logged["val_ece"].item() == pytest.approx(metrics.ece(probs, labels), abs=1e-6)
    assert logged["val_nll"].item() == pytest.approx(metrics.nll(probs, labels), abs=1e-5)
    assert logged["val_samples"] == len(labels)
