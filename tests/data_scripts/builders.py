"""Tiny files in the true format of each dataset, with what a reader should find in them."""

import dataclasses
import gzip
import io
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pooch
import scipy.io
import torch
from PIL import Image

from data_scripts.images import PEOPLE
from data_scripts.registry import SOURCES

GREY = np.random.default_rng(0)


def pixels(*shape):
    return GREY.integers(0, 256, shape, dtype=np.uint8)


def sha256(path):
    return f"sha256:{pooch.file_hash(path)}"


def files_in(root):
    return [path for path in root.rglob("*") if path.is_file()]


def trusting(name, files, **changes):
    """The row of the registry, with the hashes of the given files in place of the published."""
    source = SOURCES[name]
    changed = tuple(dataclasses.replace(f, hash=sha256(files[f.name])) for f in source.files)
    return dataclasses.replace(source, **({"files": changed, "sizes": {}} | changes))


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


class Command:
    """What a pickle must not be able to do: print words when it is read."""

    def __reduce__(self):
        return (print, ("this must never be printed",))


def cifar(folder, name, home, wanted, meta, names, splits):
    """CIFAR's pickles; splits: the batches of each, by name, with their labels."""
    members, expected = {f"{home}/readme.html": b"<html></html>"}, {}
    for split, batches in splits.items():
        x = {batch: pixels(len(labels), 3072) for batch, labels in batches.items()}
        for batch, labels in batches.items():
            members[f"{home}/{batch}"] = pickle.dumps({"data": x[batch], wanted: labels}, 2)
        rows = np.concatenate([*x.values()]).reshape(-1, 3, 32, 32)
        expected[split] = rows, [y for labels in batches.values() for y in labels]
    members[f"{home}/{meta}"] = pickle.dumps({names: [f"class {k}" for k in range(100)]}, 2)
    return {name: tar(folder / name, members)}, expected


def cifar10(folder):
    train = {f"data_batch_{b + 1}": [b, 9] for b in range(5)}
    splits = {"train": train, "test": {"test_batch": [5, 9]}}
    parts = ("cifar-10-batches-py", "labels", "batches.meta", "label_names")
    return cifar(folder, "cifar-10-python.tar.gz", *parts, splits)


def cifar100(folder):
    splits = {"train": {"train": [99, 0, 1, 2, 5, 6]}, "test": {"test": [3, 4]}}
    parts = ("cifar-100-python", "fine_labels", "meta", "fine_label_names")
    return cifar(folder, "cifar-100-python.tar.gz", *parts, splits)


def idx(array):
    head = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def mnist(folder):
    files, expected = {}, {}
    for split, prefix, n in (("train", "train", 5), ("test", "t10k", 3)):
        images, labels = pixels(n, 28, 28), np.arange(n, dtype=np.uint8)
        for what, array in (("images-idx3", images), ("labels-idx1", labels)):
            name = f"{prefix}-{what}-ubyte.gz"
            files[name] = folder / name
            files[name].write_bytes(gzip.compress(idx(array), 1))
        expected[split] = images[:, None], labels.tolist()
    return files, expected


def svhn(folder):
    files, expected = {}, {}
    for split, n in (("train", 4), ("test", 3)):
        images, name = pixels(n, 3, 32, 32), f"{split}_32x32.mat"
        files[name] = folder / name
        labels = np.array([10, 1, 9, 5][:n])  # the digit 0 is called 10
        stored = {"X": images.transpose(2, 3, 1, 0), "y": labels.astype(np.uint8)[:, None]}
        scipy.io.savemat(files[name], stored, do_compression=True)
        expected[split] = images, [0, 1, 9, 5][:n]
    return files, expected


def stl10(folder):
    members, expected = {}, {}
    for split, n in (("train", 3), ("test", 2)):
        images = pixels(n, 3, 96, 96)
        members[f"stl10_binary/{split}_X.bin"] = images.transpose(0, 1, 3, 2).tobytes()  # columns
        members[f"stl10_binary/{split}_y.bin"] = bytes(range(1, n + 1))
        expected[split] = images, list(range(n))
    members["stl10_binary/unlabeled_X.bin"] = b""
    names = "airplane bird car cat deer dog horse monkey ship truck"
    members["stl10_binary/class_names.txt"] = names.replace(" ", "\n").encode() + b"\n"
    return {"stl10_binary.tar.gz": tar(folder / "stl10_binary.tar.gz", members)}, expected


def picture(array, kind):
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, kind)
    return stream.getvalue()


def flat(level, size):
    """One colour, which neither JPEG nor shrinking changes by more than a grey level."""
    return np.full((size, size, 3), level, dtype=np.uint8)


def eurosat(folder):
    members = {
        f"2750/{name}/{name}_{i}.jpg": picture(flat(20 * k + i, 64), "JPEG")
        for k, name in enumerate(("AnnualCrop", "Forest", "River"))
        for i in range(1, 8)
    }
    return {"EuroSAT.zip": zipped(folder / "EuroSAT.zip", members)}, None


def inaturalist2019(folder):
    members = {
        f"train_val2019/{name}/{species}/{i:032x}.jpg": picture(
            flat(30 * k + i, 200)[:, :130], "JPEG"
        )
        for k, (name, species) in enumerate((("Birds", 7), ("Fungi", 3), ("Birds", 8)))
        for i in range(5)
    }
    return {"train_val2019.tar.gz": tar(folder / "train_val2019.tar.gz", members)}, None


def tiny_imagenet(folder):
    wnids = ["n02124075", "n04067472"]
    members = {
        "wnids.txt": "\n".join(wnids).encode(),
        "words.txt": b"n00001740\tentity\nn04067472\treel\nn02124075\tEgyptian cat\n",
        "val/val_annotations.txt": (
            b"val_0.JPEG\tn04067472\t0\t32\t44\t62\nval_1.JPEG\tn02124075\t5\t5\t5\t5\n"
        ),
        "val/images/val_0.JPEG": picture(flat(10, 64), "JPEG"),
        "val/images/val_1.JPEG": picture(flat(11, 64)[:, :, 0], "JPEG"),  # some are grey
        "test/images/test_0.JPEG": picture(flat(99, 64), "JPEG"),
    }
    for k, wnid in enumerate(wnids):
        members[f"train/{wnid}/{wnid}_boxes.txt"] = b"\n"
        for i in range(3):
            members[f"train/{wnid}/images/{wnid}_{i}.JPEG"] = picture(flat(50 * k + i, 64), "JPEG")
    members = {f"tiny-imagenet-200/{name}": content for name, content in members.items()}
    seen = np.stack([flat(v, 64).transpose(2, 0, 1) for v in (0, 1, 2, 50, 51, 52, 10, 11)])
    expected = {"train": (seen[:6], [0] * 3 + [1] * 3), "test": (seen[6:], [1, 0])}
    return {"tiny-imagenet-200.zip": zipped(folder / "tiny-imagenet-200.zip", members)}, expected


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def cifar10c(folder):
    images, labels = {n: pixels(10, 32, 32, 3) for n in ("fog", "shot_noise")}, np.arange(10) % 2
    members = {f"CIFAR-10-C/{name}.npy": npy(x) for name, x in images.items()}
    members |= {"CIFAR-10-C/labels.npy": npy(labels.astype(np.uint8)), "CIFAR-10-C/README.txt": b""}
    expected = {
        f"{name}-{s + 1}": (x[2 * s : 2 * s + 2].transpose(0, 3, 1, 2), [0, 1])
        for name, x in images.items()
        for s in range(5)
    }
    return {"CIFAR-10-C.tar": tar(folder / "CIFAR-10-C.tar", members, "w")}, expected


def human_labels_zip(folder, labels):
    stream = io.BytesIO()
    torch.save(labels, stream)
    content = stream.getvalue()
    members = {"CIFAR-N/CIFAR-10_human.pt": content, "CIFAR-N/CIFAR-100_human.pt": b"other"}
    return {"CIFAR-N-1.zip": zipped(folder / "CIFAR-N-1.zip", members)}


def cifar10n(folder):
    clean = np.array([0, 9, 1, 9, 2, 9, 3, 9, 4, 9])  # the labels that `cifar10` writes
    labels = {key: (clean + k) % 10 for k, key in enumerate(PEOPLE.values())}
    expected = {ours: (None, labels[key].tolist()) for ours, key in PEOPLE.items()}
    return human_labels_zip(folder, labels), expected


def newsgroups(folder):
    posts = {
        "20news-bydate-train/sci.space/60862": b"From: a@b\n\nThe moon \xe9.\n",
        "20news-bydate-train/alt.atheism/49960": b"From: c@d\n\nNo.\n",
        "20news-bydate-test/sci.space/61000": b"Mars\r\n",
    }
    files = {"20news-bydate.tar.gz": tar(folder / "20news-bydate.tar.gz", posts)}
    train = ["From: c@d\n\nNo.\n", "From: a@b\n\nThe moon é.\n"]
    return files, {
        "train": ({"text": train}, [0, 1]), "test": ({"text": ["Mars\r\n"]}, [1])
    }  # fmt: skip


def sst2(folder):
    good = b"(3 (2 The) (4 (3 best) (2 (2 -LRB-) (2 film))))\n"
    bad, neutral = b"(0 (1 Dull) (2 .))\n", b"(2 (2 A) (2 film))\n"
    members = {"trees/train.txt": good + neutral + bad, "trees/dev.txt": bad}
    members["trees/test.txt"] = good
    files = {"trainDevTestTrees_PTB.zip": zipped(folder / "trainDevTestTrees_PTB.zip", members)}
    return files, {
        "train": ({"text": ["The best ( film", "Dull ."]}, [1, 0]),
        "validation": ({"text": ["Dull ."]}, [0]),
        "test": ({"text": ["The best ( film"]}, [1]),
    }


def trec(folder):
    files = {name: folder / name for name in ("train_5500.label", "TREC_10.label")}
    files["train_5500.label"].write_bytes(
        b"DESC:manner How did serfdom develop ?\nENTY:animal What is a \xf0og ?\x85yes\n"
    )
    files["TREC_10.label"].write_bytes(b"NUM:dist How far is it from Denver to Aspen ?\n")
    train = ["How did serfdom develop ?", "What is a ðog ?\x85yes"]
    return files, {
        "train": ({"text": train}, [1, 2]),
        "test": ({"text": ["How far is it from Denver to Aspen ?"]}, [5]),
    }


def multi30k(folder):
    parts = {"training": "train", "validation": "val", "mmt16_task1_test": "test"}
    texts = {"de": "Ein Hund.\nZwei Hunde über Gras.\n\n", "en": "A dog.\nTwo dogs on grass.\n\n"}
    files = {
        f"{name}.tar.gz": tar(
            folder / f"{name}.tar.gz", {f"./{p}.{lang}": t.encode() for lang, t in texts.items()}
        )
        for name, p in parts.items()
    }
    columns = {"de": ["Ein Hund.", "Zwei Hunde über Gras."], "en": ["A dog.", "Two dogs on grass."]}
    return files, dict.fromkeys(("train", "validation", "test"), (columns, None))


def iwslt14(folder):
    def train(lang):
        head = f"<url>http://ted/{lang}</url>\n<keywords>a, b</keywords>\n<speaker>S</speaker>\n"
        head += f"<talkid>1</talkid>\n<title>{lang} title</title>\n"
        return head + "".join(f" {lang} sentence {i} \n" for i in range(2, 47))

    def talk(lang, name):
        head = '<?xml version="1.0"?>\n<mteval>\n<doc docid="1">\n<title>t</title>\n'
        return f'{head}<seg id="1"> {lang} {name} &amp; more </seg>\n</doc></mteval>\n'

    talks = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
    members = {}
    for lang in ("de", "en"):
        members[f"de-en/train.tags.de-en.{lang}"] = train(lang).encode()
        for name in talks:
            members[f"de-en/IWSLT14.{name}.de-en.{lang}.xml"] = talk(lang, name).encode()
    rows = {k: [f"{k} title", *(f"{k} sentence {i}" for i in range(2, 47))] for k in ("de", "en")}
    parts = {
        "train": {k: [*v[:22], *v[23:45]] for k, v in rows.items()},
        "validation": {k: [v[22], v[45]] for k, v in rows.items()},
        "test": {k: [f"{k} {name} & more" for name in talks] for k in rows},
    }
    expected = {split: (columns, None) for split, columns in parts.items()}
    return {"de-en.tgz": tar(folder / "de-en.tgz", members)}, expected


BUILDERS = {
    "cifar10": cifar10, "cifar100": cifar100, "cifar10c": cifar10c, "cifar10n": cifar10n,
    **dict.fromkeys(("mnist", "fashion-mnist", "notmnist"), mnist), "svhn": svhn, "stl10": stl10,
    "eurosat": eurosat, "tiny-imagenet": tiny_imagenet, "inaturalist2019": inaturalist2019,
    "20newsgroups": newsgroups, "sst2": sst2, "trec": trec, "multi30k": multi30k,
    "iwslt14": iwslt14,
}  # fmt: skip


def published(name, home, **changes):
    """A dataset's files in their true format: its row, the files, what is in them."""
    folder = home / "published" / name
    folder.mkdir(parents=True)
    files, expected = BUILDERS[name](folder)
    return trusting(name, files, **changes), files, expected
