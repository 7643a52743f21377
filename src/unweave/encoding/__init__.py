"""`encode` computes the codes of a data set with a model and writes them to a file."""

from unweave.encoding.encode import encode
from unweave.encoding.encoded import Encoded, EncodingError, read_encoded

__all__ = ["Encoded", "EncodingError", "encode", "read_encoded"]
