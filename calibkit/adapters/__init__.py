"""The package in the forms of others: nothing is imported before it is asked for.

`calibkit.adapters.classifier` is an estimator of scikit-learn, `calibkit.adapters.streaming` a
metric of torchmetrics (`pip install "calibkit[torchmetrics]"`).
"""
