"""The datasets, one row each. No address and no hash stands here that is not published somewhere.

`evidence` says where. A file whose hash could not be confirmed has None: the dataset is listed as
unverified, and the first fetch records what it saw.
"""

from __future__ import annotations

from functools import partial

from torchvision.datasets import CIFAR10, CIFAR100, MNIST, STL10, SVHN, FashionMNIST
from torchvision.datasets.inaturalist import DATASET_MD5, DATASET_URLS

from data_scripts import images, texts
from data_scripts.source import File, Source

NOT_STATED = "not stated"
RESEARCH = "non-commercial research and teaching"
_CIFAR10_SIZES = {"train": 50_000, "test": 10_000}
_MNIST_SIZES = {"train": 60_000, "test": 10_000}
_MULTI30K = "https://raw.githubusercontent.com/neychev/small_DL_repo/master/datasets/Multi30k"
_NOTMNIST = (
    "https://raw.githubusercontent.com/davidflanagan/notMNIST-to-MNIST/"
    "c58c29ff93d7b8c809c449b380a232f9f39909fd"
)
_EUROSAT = (
    "https://huggingface.co/datasets/torchgeo/eurosat/resolve/"
    "c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip"
)


def _cifar(name: str, title: str, published: type[CIFAR10], labels: str) -> Source:
    """Address, hash and layout are torchvision's; so are the names of the batches."""
    meta = (published.meta["filename"], published.meta["key"])
    train, test = (
        [file for file, _ in part] for part in (published.train_list, published.test_list)
    )
    return Source(
        name=name,
        title=title,
        files=(File(published.url, f"md5:{published.tgz_md5}", published.filename),),
        parse=partial(images.cifar, train=train, test=test[0], labels=labels, meta=meta),
        licence=NOT_STATED,
        evidence=f"torchvision.datasets.{published.__name__}",
        size="170 MB",
        sizes=_CIFAR10_SIZES,
    )


def _mnist(name: str, title: str, published: type[MNIST], licence: str, size: str) -> Source:
    files = tuple(File(published.mirrors[0] + f, f"md5:{md5}") for f, md5 in published.resources)
    return Source(
        name=name,
        title=title,
        files=files,
        parse=partial(images.mnist, classes=published.classes),
        licence=licence,
        evidence=f"torchvision.datasets.{published.__name__}",
        size=size,
        sizes=_MNIST_SIZES,
    )


_ROWS = (
    _cifar("cifar10", "CIFAR-10", CIFAR10, "labels"),
    _cifar("cifar100", "CIFAR-100", CIFAR100, "fine_labels"),
    _mnist("fashion-mnist", "Fashion-MNIST", FashionMNIST, "MIT", "31 MB"),
    _mnist("mnist", "MNIST", MNIST, "CC BY-SA 3.0", "12 MB"),
    Source(
        name="notmnist",
        title="notMNIST, letters A to J",
        files=tuple(File(f"{_NOTMNIST}/{name}", None) for name, _ in MNIST.resources),
        parse=partial(images.mnist, classes=tuple("ABCDEFGHIJ")),
        licence="MIT (the copy in MNIST's format)",
        evidence="address: repository davidflanagan/notMNIST-to-MNIST; no hash is published",
        size="about 22 MB",
        sizes=_MNIST_SIZES,
    ),
    Source(
        name="svhn",
        title="SVHN, cropped digits",
        files=tuple(
            File(url, f"md5:{md5}", name)
            for url, name, md5 in (SVHN.split_list[which] for which in ("train", "test"))
        ),
        parse=images.svhn,
        licence="non-commercial use only",
        evidence="torchvision.datasets.SVHN",
        size="246 MB",
        sizes={"train": 73_257, "test": 26_032},
    ),
    Source(
        name="stl10",
        title="STL-10, labelled part",
        files=(File(STL10.url, f"md5:{STL10.tgz_md5}", STL10.filename),),
        parse=images.stl10,
        licence=NOT_STATED,
        evidence="torchvision.datasets.STL10",
        size="2.6 GB",
        sizes={"train": 5_000, "test": 8_000},
    ),
    Source(
        name="eurosat",
        title="EuroSAT, RGB at 32 pixels; a fixed tenth is the test",
        files=(File(_EUROSAT, "md5:c8fa014336c82ac7804f0398fcb19387"),),
        parse=partial(images.folders, depth=1, pixels=32),
        licence="MIT",
        evidence="torchvision.datasets.EuroSAT",
        size="94 MB",
        sizes={"train": 24_300, "test": 2_700},
    ),
    Source(
        name="cifar10c",
        title="CIFAR-10-C: 19 corruptions, 5 severities",
        files=(
            File(
                "https://zenodo.org/record/2535967/files/CIFAR-10-C.tar",
                "sha256:c72763e101c723b7c507b96205f7e938912a5d587376173b825850cf3cb876a7",
            ),
        ),
        parse=images.corrupted_cifar,
        licence="CC BY 4.0",
        evidence="TensorFlow Datasets, url_checksums/cifar10_corrupted.txt",
        size="2.9 GB",
        base=("cifar10", "train"),
    ),
    Source(
        name="cifar10n",
        title="CIFAR-10N: labels by people for CIFAR-10's training images",
        files=(
            File(
                "http://www.yliuu.com/web-cifarN/files/CIFAR-N-1.zip",
                "md5:666bf3cff3a944c245f2b6f62af4b919",
            ),
        ),
        parse=images.human_labels,
        licence="CC BY-NC 4.0",
        evidence="torch-uncertainty, torch_uncertainty/datasets/classification/cifar/cifar_n.py",
        size="a few MB",
        sizes=dict.fromkeys(images.PEOPLE, 50_000),
        base=("cifar10", "train"),
    ),
    Source(
        name="tiny-imagenet",
        title="Tiny-ImageNet; its validation images are the test",
        files=(
            File(
                "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
                "md5:90528d7ca1a48142e341f4ef8d21d0de",
            ),
        ),
        parse=images.tiny_imagenet,
        licence=RESEARCH + " (ImageNet's terms)",
        evidence="torch-uncertainty and avalanche, their TinyImageNet classes",
        size="248 MB",
        sizes={"train": 100_000, "test": 10_000},
    ),
    Source(
        name="inaturalist2019",
        title="iNaturalist 2019 at 64 pixels, six groups of species; a fixed tenth is the test",
        files=(File(DATASET_URLS["2019"], f"md5:{DATASET_MD5['2019']}"),),
        parse=partial(images.folders, depth=1, pixels=64),
        licence=RESEARCH,
        evidence="torchvision.datasets.INaturalist; repository visipedia/inat_comp",
        size="74 GB",
    ),
    Source(
        name="20newsgroups",
        title="20 Newsgroups, split by date",
        files=(
            File(
                "https://ndownloader.figshare.com/files/5975967",
                "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                "20news-bydate.tar.gz",
            ),
        ),
        parse=texts.newsgroups,
        licence=NOT_STATED,
        evidence="scikit-learn, datasets/_twenty_newsgroups.py",
        size="14 MB",
        sizes={"train": 11_314, "test": 7_532},
    ),
    Source(
        name="sst2",
        title="SST-2: whole sentences of the Stanford Sentiment Treebank, neutral ones left out",
        files=(
            File(
                "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
                "sha256:5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
            ),
        ),
        parse=texts.sentiment_trees,
        licence=NOT_STATED,
        evidence="Flux.jl, src/data/sentiment.jl",
        size="under 1 MB",
        sizes={"train": 6_920, "validation": 872, "test": 1_821},
    ),
    Source(
        name="trec",
        title="TREC questions, 6 classes",
        files=(
            File(
                "https://cogcomp.seas.upenn.edu/Data/QA/QC/train_5500.label",
                "sha256:9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
            ),
            File(
                "https://cogcomp.seas.upenn.edu/Data/QA/QC/TREC_10.label",
                "sha256:033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
            ),
        ),
        parse=texts.trec,
        licence=NOT_STATED,
        evidence="Hugging Face datasets, trec/dataset_infos.json",
        size="0.4 MB",
        sizes={"train": 5_452, "test": 500},
    ),
    Source(
        name="multi30k",
        title="Multi30k, German and English captions",
        files=(
            File(
                f"{_MULTI30K}/training.tar.gz",
                "sha256:20140d013d05dd9a72dfde46478663ba05737ce983f478f960c1123c6671be5e",
            ),
            File(
                f"{_MULTI30K}/validation.tar.gz",
                "sha256:a7aa20e9ebd5ba5adce7909498b94410996040857154dab029851af3a866da8c",
            ),
            File(
                f"{_MULTI30K}/mmt16_task1_test.tar.gz",
                "sha256:6d1ca1dba99e2c5dd54cae1226ff11c2551e6ce63527ebb072a1f70f72a5cd36",
            ),
        ),
        parse=partial(
            texts.aligned,
            archives_of={
                "train": "training.tar.gz",
                "validation": "validation.tar.gz",
                "test": "mmt16_task1_test.tar.gz",
            },
            prefix={"train": "train", "validation": "val", "test": "test"},
            languages=("de", "en"),
        ),
        licence=RESEARCH,
        evidence="torchtext, datasets/multi30k.py; the test file: pytorch/text issue 1756",
        size="1.3 MB",
        sizes={"train": 29_000, "validation": 1_014, "test": 1_000},
    ),
    Source(
        name="iwslt14",
        title="IWSLT'14, TED talks, German and English",
        files=(File("http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz", None),),
        parse=texts.iwslt14,
        licence="CC BY-NC-ND 4.0",
        evidence="address: fairseq, prepare-iwslt14.sh; no hash is published",
        size="about 20 MB",
    ),
)

SOURCES = {row.name: row for row in _ROWS}
