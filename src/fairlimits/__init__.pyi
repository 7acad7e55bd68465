from fairlimits.apps.report import Report as Report
from fairlimits.apps.report import report as report
from fairlimits.data import Dataset as Dataset
from fairlimits.data import load_dataset as load_dataset
from fairlimits.data import open_data as open_data
from fairlimits.decorrelation import Decorrelation as Decorrelation
from fairlimits.decorrelation import decorrelate as decorrelate
from fairlimits.errors import FairlimitsError as FairlimitsError
from fairlimits.errors import InfeasibleError as InfeasibleError
from fairlimits.errors import InputError as InputError
from fairlimits.errors import SolverError as SolverError
from fairlimits.estimators import ConstrainedBayesClassifier as ConstrainedBayesClassifier
from fairlimits.estimators import Decorrelator as Decorrelator
from fairlimits.estimators import load as load
from fairlimits.estimators import save as save
from fairlimits.evaluation import Audit as Audit
from fairlimits.evaluation import Scenarios as Scenarios
from fairlimits.evaluation import audit as audit
from fairlimits.evaluation import compare_scenarios as compare_scenarios
from fairlimits.evaluation import evaluate as evaluate
from fairlimits.evaluation import group_rates as group_rates
from fairlimits.law import CellDistribution as CellDistribution
from fairlimits.law import Neighbourhood as Neighbourhood
from fairlimits.law import Outcome as Outcome
from fairlimits.law import discretize as discretize
from fairlimits.law import estimate_outcome as estimate_outcome
from fairlimits.law import merge as merge
from fairlimits.limits import Frontier as Frontier
from fairlimits.limits import Rule as Rule
from fairlimits.limits import Tension as Tension
from fairlimits.limits import frontier as frontier
from fairlimits.limits import solve as solve
from fairlimits.limits import tension as tension
from fairlimits.notions import Evaluation as Evaluation
from fairlimits.notions import GroupRates as GroupRates

__all__: list[str]
__version__: str
