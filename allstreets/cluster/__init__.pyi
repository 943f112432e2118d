from .connect import Cluster as Cluster
from .connect import Node as Node
from .connect import connect as connect
from .crew import Crew as Crew
from .flops import ClusterFlops as ClusterFlops
from .flops import NodeUse as NodeUse
from .lost import WorkerLost as WorkerLost
from .ray_crew import RayCrew as RayCrew
