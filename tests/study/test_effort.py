"""What experiments would cost: operations by hand, sizes of the datasets, the command."""

import pytest
import torch
from study import effort
from study.effort import IMAGES, Effort, Images
from study.photographs import NETWORKS
from torch.utils.flop_counter import FlopCounterMode

from calibkit.__main__ import main
from data_scripts.registry import SOURCES


def test_operations_are_those_of_a_true_pass():
    images = Images(3, 32, 10, 0)
    model = NETWORKS["ResNet-8"](3, 10)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(1, 3, 32, 32))
    told, layers = effort.operations("ResNet-8", images)
    assert told == counter.get_total_flops()
    assert layers == sum(1 for module in model.modules() if not list(module.children()))


def test_the_papers_network_has_the_published_number_of_operations():
    told, _ = effort.operations("ResNet-110", Images(3, 32, 10, 0))
    assert told / 2 == pytest.approx(255e6, rel=0.02)  # multiplications and additions in one


@pytest.mark.parametrize("name", [name for name in IMAGES if SOURCES[name].sizes])
def test_images_are_as_many_as_are_prepared(name):
    assert IMAGES[name].train == SOURCES[name].sizes["train"]


def test_an_experiment_is_its_values_seeds_epochs_and_images():
    each, layers = effort.operations("ResNet-50", IMAGES["eurosat"])
    made = effort.effort("noise", "paper", dataset="eurosat", seeds=2)
    seen = (24_300 - 5_000) * 160
    assert made.runs == 10
    assert made.operations == pytest.approx(10 * 3 * each * seen)
    assert made.calls == pytest.approx(10 * 3 * layers * seen / 128)
    assert Effort(1, 7.2e16, 1.8e8).hours() == pytest.approx(1 + 1)


def test_values_that_are_networks_count_as_themselves():
    small, large = (
        effort.operations(name, IMAGES["cifar100"]) for name in ("LeNet-5", "ResNet-110")
    )
    made = effort.effort("depth", "paper", dataset="cifar100", seeds=1)
    assert made.operations == pytest.approx((small[0] + large[0]) * 3 * 45_000 * 160)


def test_one_network_for_all_severities_is_trained_once():
    assert effort.effort("shift", "paper", seeds=1).runs == 1


def test_the_command_trains_nothing_and_needs_no_data(capsys, tmp_path):
    words = ["reproduce", "focal", "--scale", "paper", "--dataset", "tiny-imagenet", "--estimate"]
    assert main([*words, "--root", str(tmp_path)]) == 0
    assert "focal at scale paper: 25 trainings" in capsys.readouterr().out
    assert main(["reproduce", "focal", "--dataset", "moon", "--estimate"]) == 2
    assert "dataset must be one of" in capsys.readouterr().err
    assert main(["reproduce", "text", "--dataset", "trec", "--estimate"]) == 2
    assert "must be an experiment on photographs" in capsys.readouterr().err
