from .connect import Cluster as Cluster
from .connect import Node as Node
from .connect import connect as connect
