"""JupyterLab and the exported pages, driven through Chromium: `make test-browser`."""
