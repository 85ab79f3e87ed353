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
CIFAR = {"train": 50_000, "test": 10_000}
DIGITS = {"train": 60_000, "test": 10_000}
MULTI30K = "https://raw.githubusercontent.com/neychev/small_DL_repo/master/datasets/Multi30k"
NOTMNIST = (
    "https://raw.githubusercontent.com/davidflanagan/notMNIST-to-MNIST/"
    "c58c29ff93d7b8c809c449b380a232f9f39909fd"
)
EUROSAT = (
    "https://huggingface.co/datasets/torchgeo/eurosat/resolve/"
    "c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip"
)


def _published(kind: type) -> str:
    return f"torchvision.datasets.{kind.__name__}"


def _one(kind: type[CIFAR10] | type[STL10]) -> tuple[File]:
    """Address and hash as torchvision has them."""
    return (File(kind.url, f"md5:{kind.tgz_md5}", kind.filename),)


def _idx(kind: type[MNIST]) -> tuple[File, ...]:
    return tuple(File(kind.mirrors[0] + name, f"md5:{md5}") for name, md5 in kind.resources)


# name, title, size, licence; reader, samples; where it is published, files
# fmt: off
_ROWS = (
    Source("cifar10", "CIFAR-10", "170 MB", NOT_STATED,
           partial(images.cifar, CIFAR10, "labels"), CIFAR, _published(CIFAR10), _one(CIFAR10)),
    Source("cifar100", "CIFAR-100", "170 MB", NOT_STATED,
           partial(images.cifar, CIFAR100, "fine_labels"),
           CIFAR, _published(CIFAR100), _one(CIFAR100)),
    Source("fashion-mnist", "Fashion-MNIST", "31 MB", "MIT",
           partial(images.mnist, FashionMNIST.classes),
           DIGITS, _published(FashionMNIST), _idx(FashionMNIST)),
    Source("mnist", "MNIST", "12 MB", "CC BY-SA 3.0",
           partial(images.mnist, MNIST.classes), DIGITS, _published(MNIST), _idx(MNIST)),
    Source("notmnist", "notMNIST, letters A to J", "about 22 MB",
           "MIT (the copy in MNIST's format)",
           partial(images.mnist, tuple("ABCDEFGHIJ")), DIGITS,
           "address: repository davidflanagan/notMNIST-to-MNIST; no hash is published",
           tuple(File(f"{NOTMNIST}/{name}", None) for name, _ in MNIST.resources)),
    Source("svhn", "SVHN, cropped digits", "246 MB", "non-commercial use only",
           images.svhn, {"train": 73_257, "test": 26_032}, _published(SVHN),
           tuple(File(url, f"md5:{md5}", name)
                 for url, name, md5 in (SVHN.split_list[which] for which in ("train", "test")))),
    Source("stl10", "STL-10, labelled part", "2.6 GB", NOT_STATED,
           images.stl10, {"train": 5_000, "test": 8_000}, _published(STL10), _one(STL10)),
    Source("eurosat", "EuroSAT, RGB at 32 pixels; a fixed tenth is the test", "94 MB", "MIT",
           partial(images.folders, depth=1, pixels=32), {"train": 24_300, "test": 2_700},
           "torchvision.datasets.EuroSAT",
           (File(EUROSAT, "md5:c8fa014336c82ac7804f0398fcb19387"),)),
    Source("cifar10c", "CIFAR-10-C: 19 corruptions, 5 severities", "2.9 GB", "CC BY 4.0",
           images.corrupted_cifar, {}, "TensorFlow Datasets, url_checksums/cifar10_corrupted.txt",
           (File("https://zenodo.org/record/2535967/files/CIFAR-10-C.tar",
                 "sha256:c72763e101c723b7c507b96205f7e938912a5d587376173b825850cf3cb876a7"),),
           base=("cifar10", "train")),
    Source("cifar10n", "CIFAR-10N: labels by people for CIFAR-10's training images",
           "a few MB", "CC BY-NC 4.0",
           images.human_labels, dict.fromkeys(images.PEOPLE, 50_000),
           "torch-uncertainty, torch_uncertainty/datasets/classification/cifar/cifar_n.py",
           (File("http://www.yliuu.com/web-cifarN/files/CIFAR-N-1.zip",
                 "md5:666bf3cff3a944c245f2b6f62af4b919"),),
           base=("cifar10", "train")),
    Source("tiny-imagenet", "Tiny-ImageNet; its validation images are the test", "248 MB",
           RESEARCH + " (ImageNet's terms)",
           images.tiny_imagenet, {"train": 100_000, "test": 10_000},
           "torch-uncertainty and avalanche, their TinyImageNet classes",
           (File("http://cs231n.stanford.edu/tiny-imagenet-200.zip",
                 "md5:90528d7ca1a48142e341f4ef8d21d0de"),)),
    Source("inaturalist2019", "iNaturalist 2019 at 64 pixels, six groups of species; "
           "a fixed tenth is the test",
           "74 GB", RESEARCH,
           partial(images.folders, depth=1, pixels=64), {},
           "torchvision.datasets.INaturalist; repository visipedia/inat_comp",
           (File(DATASET_URLS["2019"], f"md5:{DATASET_MD5['2019']}"),)),
    Source("20newsgroups", "20 Newsgroups, split by date", "14 MB", NOT_STATED,
           texts.newsgroups, {"train": 11_314, "test": 7_532},
           "scikit-learn, datasets/_twenty_newsgroups.py",
           (File("https://ndownloader.figshare.com/files/5975967",
                 "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                 "20news-bydate.tar.gz"),)),
    Source("sst2", "SST-2: whole sentences of the Stanford Sentiment Treebank, "
           "neutral ones left out",
           "under 1 MB", NOT_STATED,
           texts.sentiment_trees, {"train": 6_920, "validation": 872, "test": 1_821},
           "Flux.jl, src/data/sentiment.jl",
           (File("https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
                 "sha256:5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc"),)),
    Source("trec", "TREC questions, 6 classes", "0.4 MB", NOT_STATED,
           texts.trec, {"train": 5_452, "test": 500},
           "Hugging Face datasets, trec/dataset_infos.json",
           (File("https://cogcomp.seas.upenn.edu/Data/QA/QC/train_5500.label",
                 "sha256:9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3"),
            File("https://cogcomp.seas.upenn.edu/Data/QA/QC/TREC_10.label",
                 "sha256:033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e"))),
    Source("multi30k", "Multi30k, German and English captions", "1.3 MB", RESEARCH,
           texts.multi30k, {"train": 29_000, "validation": 1_014, "test": 1_000},
           "torchtext, datasets/multi30k.py; the test file: pytorch/text issue 1756",
           (File(f"{MULTI30K}/training.tar.gz",
                 "sha256:20140d013d05dd9a72dfde46478663ba05737ce983f478f960c1123c6671be5e"),
            File(f"{MULTI30K}/validation.tar.gz",
                 "sha256:a7aa20e9ebd5ba5adce7909498b94410996040857154dab029851af3a866da8c"),
            File(f"{MULTI30K}/mmt16_task1_test.tar.gz",
                 "sha256:6d1ca1dba99e2c5dd54cae1226ff11c2551e6ce63527ebb072a1f70f72a5cd36"))),
    Source("iwslt14", "IWSLT'14, TED talks, German and English", "about 20 MB", "CC BY-NC-ND 4.0",
           texts.iwslt14, {}, "address: fairseq, prepare-iwslt14.sh; no hash is published",
           (File("http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz", None),)),
)
# fmt: on

SOURCES = {row.name: row for row in _ROWS}
