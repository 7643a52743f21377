"""The ladder of identifiability: how far every factor can be got back from the codes, by which kind of map."""

from unweave.identifiability.rungs import Ladder as Ladder
from unweave.identifiability.rungs import LadderRow as LadderRow
from unweave.identifiability.rungs import complete_ladder as complete_ladder
from unweave.identifiability.rungs import ladder as ladder
from unweave.identifiability.rungs import quick_ladder as quick_ladder
