from .played import Amounts as Amounts
from .played import Moment as Moment
from .played import PlayedAction as PlayedAction
from .played import PlayedHand as PlayedHand
from .reading import HandFiles as HandFiles
from .reading import Skipped as Skipped
from .reading import read_hands as read_hands
from .reading import read_text as read_text
