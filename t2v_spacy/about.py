__title__ = "t2v_spacy"
__version__ = "0.1.0"
