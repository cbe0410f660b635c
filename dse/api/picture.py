"""A picture that a notebook shows and a file keeps."""

import os
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.files import write_whole


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """An SVG picture. A notebook shows it; ``save`` writes it to a file, which any browser opens."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} characters of SVG; .save('NAME.svg') writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file and return its path.

        Raises ``OptionError`` where it cannot be written, or the name is that of another kind of picture.
        """
        place = Path(path)
        if place.suffix.lower() not in ("", ".svg"):
            raise OptionError(f"'{place}' is to be {place.suffix[1:]}, and pictures are SVG", expected="a name in .svg")
        try:
            write_whole(place, self.svg)
        except OSError as cause:
            raise OptionError(
                f"cannot write the picture '{place}': {cause.strerror or cause}", expected="choose another place"
            ) from cause
        return place
