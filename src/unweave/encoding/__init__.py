"""From a model and a data set to a file of codes: `encode`."""

from unweave.encoding.encode import encode
from unweave.encoding.encoded import Encoded, EncodingError, read_encoded

__all__ = ["Encoded", "EncodingError", "encode", "read_encoded"]
