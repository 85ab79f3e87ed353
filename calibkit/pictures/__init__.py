"""How predictions are drawn: figures, frames of sliders and of the audit page, colours, texts.

Its parts are loaded when they are asked for: `from calibkit.pictures import plots`.
"""
