# SPDX-License-Identifier: MIT
"""Prefixes of the names of tensors that training uses: functions without arguments."""

_DEFAULT, _SPECIFIC = "___default___", "___specific___"

_PLAIN = {
    "reservedGradientPrefix": "Gradient___", "reservedUpdatedVarPrefix": "UpdatedVar___",
    "reservedAcclPrefix": "Accl___", "reservedAccl1Prefix": "Accl1___",
    "reservedAccl2Prefix": "Accl2___", "reservedAccl3Prefix": "Accl3___",
    "reservedStepPrefix": "Step___", "reservedAccumPrefix": "Accum___",
    "reservedCounterPrefix": "Counter___", "reservedAcclToReducePrefix": "AcclIntoReduce___",
    "reservedAcclToUpdatePrefix": "AcclIntoUpdate___",
    "reservedAcclFinalOutPrefix": "AcclOutOfAcclUpdate___",
    "reservedAdamUpdaterPrefix": "AdamUpdater___",
    "reservedAdaptiveUpdaterPrefix": "AdaptiveUpdater___",
    "reservedLambR1SqPrefix": "LambR1Sq___", "reservedLambR2SqPrefix": "LambR2Sq___",
    "reservedFinalReducedGradPrefix": "FinalReducedGradient___",
    "reservedGlobalNormPrefix": "GlobalNorm___",
    "reservedPreviousLossScalingPrefix": "PreviousLossScaling_",
    "reservedLossScalingRatioPrefix": "LossScalingRatio_",
    "reservedLossScaleUpdateFactorPrefix": "lossScaleUpdateFactor",
    "reservedAutomaticLossScaleProxyPrefix": "AutomaticLossScaleProxy___",
    "reservedLossScalingPrefix": "lossScaling_", "reservedRandomSeedPrefix": "randomSeed___",
    "reservedSeedModifierPrefix": "randomSeedModifier___",
    "reservedConstValuePrefix": "ConstValue___", "reservedIndexPrefix": "Index___",
    "reservedInitPrefix": "Init___", "reservedLoopIteratorPrefix": "Iterator___",
    "reservedLoopCondPrefix": "LoopCond___", "reservedRestoredPrefix": "Restored___",
    "reservedStashedPrefix": "Stashed___", "reservedRemoteArgPrefix": "RemoteArg___",
    "reservedAnchorSumPrefix": "anchorSum___", "reservedAnchorFinalPrefix": "anchorFinal___",
    "reservedCycleCountPrefix": "cycleCount___",
}
_VALUES = {
    "ScaledLearningRate0": "scaledLearningRate0",
    "WeightDecayScaleFactor0": "weightDecayScaleFactor0",
    "ScaledLearningRate1": "scaledLearningRate1", "ScaledWeightDecay1": "scaledWeightDecay1",
    "DampeningScaleFactor1": "dampeningScaleFactor1", "ScaledMomentum1": "scaledMomentum1",
    "ScaledLearningRate2": "scaledLearningRate2",
    "DampeningScaleFactor2": "dampeningScaleFactor2", "ScaledMomentum2": "scaledMomentum2",
    "LearningRate": "learningRate", "WeightDecay": "weightDecay", "AdamBeta1": "adamBeta1",
    "AdamBeta2": "adamBeta2", "AdamEps": "adamEps", "AdamGradientScaling": "adamGradientScaling",
    "MaxWeightNorm": "maxWeightNorm", "AdaptiveAlpha": "adaptiveAlpha",
    "AdaptiveMomentum": "adaptiveMomentum", "AdaptiveEps": "adaptiveEps",
    "AdaptiveGradientScaling": "adaptiveGradientScaling",
}

TABLE = dict(_PLAIN)
for _name, _text in _VALUES.items():
    TABLE[f"reservedDefault{_name}Prefix"] = _text + _DEFAULT
    TABLE[f"reservedSpecific{_name}Prefix"] = _text + _SPECIFIC


def _function(name, text):
    def prefix():
        return text
    prefix.__name__ = name
    prefix.__doc__ = f'Returns "{text}".'
    return prefix


NAMES = list(TABLE)
for _name, _text in TABLE.items():
    globals()[_name] = _function(_name, _text)
