"""Addresses for the package's metadata, read from the environment when a distribution is built.

Only who releases the package knows them, so none is written down here: the release workflow sets UNWEAVE_REPO_URL to
the address of its own repository, and UNWEAVE_CONTACT and UNWEAVE_SITE_URL to variables of the repository.
"""

import os

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """The authors with their e-mail address, and the links, as far as they are known."""

    def update(self, metadata: dict) -> None:
        """Add authors and URLs to the metadata."""
        repository, site, contact = (
            os.environ.get(f"UNWEAVE_{name}", "").rstrip("/") for name in ("REPO_URL", "SITE_URL", "CONTACT")
        )
        metadata["authors"] = [{"name": "The unweave developers"} | ({"email": contact} if contact else {})]
        links = {"Documentation": site}
        if repository:
            changes = f"{repository}/blob/main/CHANGELOG.md"
            links |= {"Source": repository, "Issues": f"{repository}/issues", "Changelog": changes}
        metadata["urls"] = {name: link for name, link in links.items() if link}
