"""What to do where a cell needs another first: a sentence under every NameError of `calibkit lab`.

A lesson opens with the outputs of a finished run, so that it looks as if it had been run; whoever
begins with an exercise meets a NameError. An IPython extension adds the remedy to it.
"""

from __future__ import annotations

from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpec, KernelSpecManager

REMEDY = (
    "Were the cells above run since this notebook was opened? "
    "If not: menu Run > Run All Above Selected Cell, then this cell."
)


class Kernels(KernelSpecManager):
    """The kernels of Jupyter, of which this Python's own loads the extension."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        spec = super().get_kernel_spec(kernel_name)
        if kernel_name == NATIVE_KERNEL_NAME:
            spec.argv = [*spec.argv, f"--IPKernelApp.extra_extensions={__name__}"]
        return spec


def load_ipython_extension(shell) -> None:
    """Let every NameError end with the remedy."""
    shell.set_custom_exc((NameError,), _show)


def _show(shell, kind, error, trace, tb_offset=None) -> None:
    if kind is NameError:  # and not UnboundLocalError, which is a mistake inside of a function
        error.add_note(REMEDY)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
