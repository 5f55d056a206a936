# SPDX-License-Identifier: MIT
"""Optimizers: SGD, Adam and the adaptive family."""

from poprt import _core, _env

from .enums import (AdamMode, AdaptiveMode, DataType, SGDAccumulatorAndMomentum, WeightDecayMode)
from .errors import popart_exception, translated


class OptimizerValue:
    """A number, and whether it is constant."""

    def __init__(self, value=0.0, isConst=None):
        if isinstance(value, tuple):
            value, isConst = value
        self._value, self._const = float(value), True if isConst is None else bool(isConst)

    def val(self):
        """The number."""
        return self._value

    def isConst(self):
        """Whether it is constant."""
        return self._const


class OptimizerValueMap:
    """A value for all weights, and for some of them another one."""

    def __init__(self, core, key):
        self._core = core
        self._key = key

    def getDefault(self):
        """OptimizerValue of weights without values of their own."""
        return OptimizerValue(self._core.get(None, self._key))

    def get(self, weight):
        """OptimizerValue of a weight."""
        return OptimizerValue(self._core.get(weight, self._key))


class ClipNormSettings:
    """Weights whose gradients are clipped together, and the largest norm."""

    def __init__(self, weightIds=(), maxNorm=0.0):
        self.weightIds, self.maxNorm = list(weightIds), float(maxNorm)

    @staticmethod
    def clipWeights(weightIds, maxNorm):
        """Clips the gradients of some weights together."""
        return ClipNormSettings(weightIds, maxNorm)

    @staticmethod
    def clipAllWeights(maxNorm):
        """Clips the gradients of all weights together."""
        return ClipNormSettings((), maxNorm)


def _pair(key, value):
    if isinstance(value, OptimizerValue):
        return value.val(), value.isConst()
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return float(value[0]), bool(value[1])
    raise TypeError(f"{key} is {value!r}; a value of an optimizer is a tuple of a number and "
                    "whether it is constant")


class Optimizer:
    """Base of the optimizers."""

    _READERS = {}

    def __init__(self, kind, values, clip_norm_settings=(), settings=()):
        self._kind = kind
        self._specific = {}
        with translated():
            self._core = _core.Optimizer(_env.environment(), kind)
            for key, value in settings:
                self._core.set_text(key, value)
            for key, value in values.items():
                number, const = _pair(key, value)
                if key == "maxWeightNorm":
                    key = "defaultMaxWeightNorm"
                self._core.set(key, number, const)
            for group in clip_norm_settings:
                self._core.clip(group.weightIds, group.maxNorm)

    def insertSpecific(self, weight, values):
        """Gives a weight values of its own."""
        rows = []
        for key, value in values.items():
            rows.append((key,) + _pair(key, value))
        with translated():
            self._core.insert_specific(weight, rows)
        self._specific[weight] = dict(values)

    def hasSpecific(self, weight=None):
        """Tells whether a weight, or any weight, has values of its own."""
        return bool(self._specific) if weight is None else weight in self._specific

    def setStep(self, *args):
        """Sets the number of updates so far: ``setStep(n)``, ``setStep(weight, n)`` or
        ``setStep({weight: n})``."""
        with translated():
            if len(args) == 2:
                self._core.set_step(args[0], int(args[1]))
            elif isinstance(args[0], dict):
                for weight, step in args[0].items():
                    self._core.set_step(weight, int(step))
            else:
                self._core.set_step(None, int(args[0]))

    def getLossScalingVal(self):
        """The loss scaling."""
        return self._core.get(None, "lossScaling")[0]

    def lossScaling(self):
        """The loss scaling, as an OptimizerValue."""
        return OptimizerValue(self._core.get(None, "lossScaling"))

    def learningRates(self):
        """Learning rates."""
        return OptimizerValueMap(self._core, "learningRate")

    def weightDecays(self):
        """Weight decays."""
        return OptimizerValueMap(self._core, "weightDecay")


def _type(value):
    if not isinstance(value, DataType):
        raise TypeError(f"the type of a state is a DataType, not {value!r}")
    return value.name


class SGD(Optimizer):
    """Stochastic gradient descent. ``values`` maps names such as "defaultLearningRate" to tuples of
    a number and whether it is constant."""

    def __init__(self, *args, clip_norm_settings=(),
                 accumulatorAndMomentum=SGDAccumulatorAndMomentum.Combined,
                 accumType=DataType.UNDEFINED, accl1Type=DataType.UNDEFINED, debugContext="sgd",
                 **kwargs):
        names = ["defaultLearningRate", "defaultWeightDecay", "defaultMomentum",
                 "defaultDampening", "defaultVelocityScaling", "lossScaling", "nesterov"]
        args = list(args)
        if args and isinstance(args[0], dict):
            values = args.pop(0)
            if args:
                clip_norm_settings = args.pop(0)
            if args:
                accumulatorAndMomentum = args.pop(0)
        else:
            values = dict(zip(names, args))
            values.update({name: kwargs.pop(name) for name in names if name in kwargs})
        for key in ("pyd", "values"):
            if key in kwargs:
                values = kwargs.pop(key)
        if kwargs:
            raise TypeError("__init__(): incompatible constructor arguments: " + ", ".join(kwargs))
        super().__init__("sgd", values, clip_norm_settings,
                         [("accumulatorAndMomentum", accumulatorAndMomentum.name),
                          ("accumType", _type(accumType)), ("accl1Type", _type(accl1Type))])

    def momentums(self):
        """Momenta."""
        return OptimizerValueMap(self._core, "momentum")

    def dampenings(self):
        """Dampenings."""
        return OptimizerValueMap(self._core, "dampening")

    def velocityScalings(self):
        """Velocity scalings."""
        return OptimizerValueMap(self._core, "velocityScaling")

    def nesterov(self):
        """Whether momentum is Nesterov's."""
        return OptimizerValueMap(self._core, "nesterov")


class ConstSGD(SGD):
    """Stochastic gradient descent with constant values."""

    def __init__(self, learning_rate, weight_decay=0.0, loss_scaling=1.0, clip_norm_settings=(),
                 **kwargs):
        learning_rate = kwargs.pop("learningRate", learning_rate)
        weight_decay = kwargs.pop("weightDecay", weight_decay)
        loss_scaling = kwargs.pop("lossScaling", loss_scaling)
        if kwargs:
            raise TypeError("__init__(): incompatible constructor arguments: " + ", ".join(kwargs))
        super().__init__({"defaultLearningRate": (learning_rate, True),
                          "defaultWeightDecay": (weight_decay, True),
                          "lossScaling": (loss_scaling, True)},
                         clip_norm_settings=clip_norm_settings)

    def insertSpecific(self, weight, values):
        """Raises: all values are those of all weights."""
        raise popart_exception("ConstSGD has no values of single weights; use SGD")


_ADAM = {AdamMode.Adam: "adam", AdamMode.AdamNoBias: "adam_no_bias", AdamMode.AdaMax: "adamax",
         AdamMode.Lamb: "lamb", AdamMode.LambNoBias: "lamb_no_bias"}
_ADAPTIVE = {AdaptiveMode.AdaGrad: "adagrad", AdaptiveMode.RMSProp: "rmsprop",
             AdaptiveMode.CenteredRMSProp: "centered_rmsprop", AdaptiveMode.AdaDelta: "adadelta"}


class Adam(Optimizer):
    """Adam, AdaMax and Lamb."""

    def __init__(self, values, mode=AdamMode.Adam, weight_decay_mode=WeightDecayMode.Decay,
                 accum_type=DataType.UNDEFINED, accl1_type=DataType.FLOAT,
                 accl2_type=DataType.FLOAT, clip_norm_settings=(), scaled_optimizer_state=False,
                 debugContext="adam"):
        super().__init__(_ADAM[mode], values, clip_norm_settings,
                         [("weightDecayMode", weight_decay_mode.name),
                          ("accumType", _type(accum_type)), ("accl1Type", _type(accl1_type)),
                          ("accl2Type", _type(accl2_type)),
                          ("scaledOptimizerState", "true" if scaled_optimizer_state else "false")])

    def beta1s(self):
        """Decay rates of the first moment."""
        return OptimizerValueMap(self._core, "beta1")

    def beta2s(self):
        """Decay rates of the second moment."""
        return OptimizerValueMap(self._core, "beta2")

    def epss(self):
        """Numbers that are added to the denominators."""
        return OptimizerValueMap(self._core, "eps")

    def maxWeightNorms(self):
        """Largest norms of weights, of Lamb."""
        return OptimizerValueMap(self._core, "maxWeightNorm")


class Adaptive(Optimizer):
    """AdaGrad, RMSProp, CenteredRMSProp and AdaDelta."""

    def __init__(self, values, mode=AdaptiveMode.RMSProp, weight_decay_mode=WeightDecayMode.Decay,
                 accum_type=DataType.UNDEFINED, accl1_type=DataType.FLOAT,
                 accl2_type=DataType.FLOAT, accl3_type=DataType.UNDEFINED,
                 rmsprop_tf_variant=False, debugContext="adaptive"):
        settings = [("weightDecayMode", weight_decay_mode.name), ("accumType", _type(accum_type)),
                    ("accl1Type", _type(accl1_type)), ("accl2Type", _type(accl2_type)),
                    ("accl3Type", _type(accl3_type))]
        if rmsprop_tf_variant:
            settings.append(("rmspropTfVariant", "true"))
        super().__init__(_ADAPTIVE[mode], values, (), settings)

    def alphas(self):
        """Decay rates."""
        return OptimizerValueMap(self._core, "alpha")

    def momentums(self):
        """Momenta."""
        return OptimizerValueMap(self._core, "momentum")

    def epss(self):
        """Numbers that are added to the denominators."""
        return OptimizerValueMap(self._core, "eps")
