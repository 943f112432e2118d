from .pio_script import PioTree as PioTree
from .pio_script import read_pio_script as read_pio_script
