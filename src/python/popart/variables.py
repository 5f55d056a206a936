# SPDX-License-Identifier: MIT
"""CommGroup, ReplicaGrouping and VariableSettings: replicas that share a value of a weight."""

from .enums import CommGroupType, VariableRetrievalMode
from .errors import popart_exception


class CommGroup:
    """A grouping of replicas by type and size."""

    def __init__(self, *args, **kwargs):
        values = list(args) + [kwargs[k] for k in ("type", "replicaGroupSize", "groupSize")
                               if k in kwargs]
        if len(values) == 1 and isinstance(values[0], ReplicaGrouping):
            self.type, self.replicaGroupSize = values[0]._comm_group()
            return
        self.type = values[0] if values else CommGroupType.All
        self.replicaGroupSize = int(values[1]) if len(values) > 1 else 0
        if not isinstance(self.type, CommGroupType):
            raise TypeError("__init__(): incompatible constructor arguments. The type of a group is "
                            "a CommGroupType")

    def __eq__(self, other):
        return isinstance(other, CommGroup) and (self.type, self.replicaGroupSize) == (
            other.type, other.replicaGroupSize)

    __hash__ = None

    def __repr__(self):
        return f"CommGroup(type={self.type.name}, replicaGroupSize={self.replicaGroupSize})"

    def toReplicaGrouping(self, numReplicas):
        """The same grouping as a ReplicaGrouping."""
        return ReplicaGrouping(numReplicas, *_stride_and_size(self, numReplicas))


def _stride_and_size(group, replicas):
    if group.type == CommGroupType.All:
        return 1, replicas
    if group.type == CommGroupType.Ungrouped or group.replicaGroupSize == 1:
        return 1, 1
    size = group.replicaGroupSize
    if size <= 0 or replicas % size:
        raise popart_exception(f"groups of {size} replicas are not possible with {replicas}")
    if group.type == CommGroupType.Orthogonal:
        return replicas // size, size
    return 1, size


class ReplicaGrouping:
    """Groups of replicas: those of a group are ``stride`` apart."""

    def __init__(self, numReplicas, stride=None, groupSize=None):
        if stride is None:
            stride, groupSize = 1, numReplicas
        if numReplicas < 1 or stride < 1 or groupSize < 1 or numReplicas % (stride * groupSize) \
                or (groupSize == 1 and stride != 1):
            raise popart_exception(f"groups of {groupSize} replicas, {stride} apart, are not "
                                   f"possible with {numReplicas}")
        self._replicas, self._stride, self._size = numReplicas, stride, groupSize

    def getNumReplicas(self):
        """Number of replicas."""
        return self._replicas

    def getStride(self):
        """Distance of the replicas of a group."""
        return self._stride

    def getGroupSize(self):
        """Replicas of a group."""
        return self._size

    def getNumGroups(self):
        """Number of groups."""
        return self._replicas // self._size

    def getGroupAt(self, replica):
        """Group of a replica."""
        return replica % self._stride + self._stride * (replica // (self._stride * self._size))

    def getReplicaAt(self, group, index=0):
        """Replica of a group."""
        return (group // self._stride * self._stride * self._size + group % self._stride +
                index * self._stride)

    def getReplicasAt(self, group):
        """Replicas of a group."""
        return [self.getReplicaAt(group, index) for index in range(self._size)]

    def getIndexInGroupAt(self, replica):
        """Index of a replica in its group."""
        return (replica - self.getReplicaAt(self.getGroupAt(replica))) // self._stride

    def getTranspose(self):
        """The grouping that has a replica of each group in every group."""
        if self._stride == 1:
            size = self.getNumGroups()
            return ReplicaGrouping(self._replicas, self._size if size > 1 else 1, size)
        if self._stride * self._size == self._replicas:
            return ReplicaGrouping(self._replicas, 1, self._stride)
        raise popart_exception(f"{self!r} has no transpose")

    def _comm_group(self):
        if self._size == 1:
            return CommGroupType.Ungrouped, 0
        if self._size == self._replicas:
            return CommGroupType.All, 0
        if self._stride == self.getNumGroups():
            return CommGroupType.Orthogonal, self._size
        if self._stride == 1:
            return CommGroupType.Consecutive, self._size
        raise popart_exception(f"{self!r} is not a CommGroup")

    def __eq__(self, other):
        return isinstance(other, ReplicaGrouping) and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        return (f"ReplicaGrouping(numReplicas={self._replicas}, stride={self._stride}, "
                f"groupSize={self._size})")


class VariableSettings:
    """How replicas share a weight, and how it is read: ``VariableSettings([domain][, mode])`` or
    ``(stride, groupSize[, mode])``."""

    def __init__(self, *args, **kwargs):
        values = list(args) + list(kwargs.values())
        group, mode, numbers = None, VariableRetrievalMode.OnePerGroup, []
        for value in values:
            if isinstance(value, CommGroup):
                group = value
            elif isinstance(value, VariableRetrievalMode):
                mode = value
            elif isinstance(value, int):
                numbers.append(value)
            else:
                raise TypeError("__init__(): incompatible constructor arguments. Settings are a "
                                "CommGroup and a VariableRetrievalMode, or a stride and a size")
        self._stride = None
        if numbers:
            stride, size = numbers
            self._stride = stride
            if size == 1:
                group = CommGroup(CommGroupType.Ungrouped, 0)
            elif stride == 1:
                group = CommGroup(CommGroupType.Consecutive, size)
            else:
                group = CommGroup(CommGroupType.Orthogonal, size)
        self._group = group if group is not None else CommGroup(CommGroupType.All, 0)
        self._mode = mode
        self.verify()

    def verify(self):
        """Raises if the settings are impossible."""
        if self._group.type in (CommGroupType.Consecutive, CommGroupType.Orthogonal) and \
                self._group.replicaGroupSize < 1:
            raise popart_exception(f"a group of {self._group.replicaGroupSize} replicas; accepted: "
                                   "from 1")

    def getSharedVariableDomain(self):
        """CommGroup of the replicas that share a value."""
        return self._group

    def getRetrievalMode(self):
        """VariableRetrievalMode."""
        return self._mode

    def getReplicaGrouping(self, numReplicas):
        """The groups of a number of replicas."""
        return ReplicaGrouping(numReplicas, *_stride_and_size(self._group, numReplicas))

    def getGroupCount(self, numReplicas):
        """Number of groups."""
        return self.getReplicaGrouping(numReplicas).getNumGroups()

    def getStride(self, numReplicas):
        """Distance of the replicas of a group."""
        return self.getReplicaGrouping(numReplicas).getStride()

    def getGroupSize(self):
        """Size of a group, as it was given."""
        return self._group.replicaGroupSize

    def getRealGroupSize(self, numReplicas):
        """Replicas of a group."""
        return self.getReplicaGrouping(numReplicas).getGroupSize()

    def getGroupRepresentative(self, group):
        """First replica of a group."""
        if self._group.type == CommGroupType.All:
            return 0
        if self._group.type == CommGroupType.Consecutive:
            return self._group.replicaGroupSize * group
        return group

    def numReplicasReturningVariable(self, numReplicas):
        """Number of values that reading the weight returns."""
        if self._mode == VariableRetrievalMode.AllReplicas:
            return numReplicas
        if self._mode == VariableRetrievalMode.AllReduceReplicas:
            raise popart_exception("the retrieval mode AllReduceReplicas is not supported")
        return self.getGroupCount(numReplicas)

    def shapeOnHost(self, shape, numReplicas):
        """Shape on the host of a shape on a replica."""
        count = self.getGroupCount(numReplicas)
        return ([count] if count > 1 else []) + list(shape)

    def shapeOnReplica(self, shape, numReplicas, name=""):
        """Shape on a replica of a shape on the host."""
        count = self.getGroupCount(numReplicas)
        shape = list(shape)
        if count == 1:
            return shape
        if not shape or shape[0] != count:
            raise popart_exception(f"{name}: the first dimension of {shape} is not the number of "
                                   f"groups, {count}")
        return shape[1:]

    def groups(self, numReplicas):
        """Lists of the replicas of each group."""
        grouping = self.getReplicaGrouping(numReplicas)
        return [grouping.getReplicasAt(g) for g in range(grouping.getNumGroups())]

    def __eq__(self, other):
        return isinstance(other, VariableSettings) and (self._group, self._mode) == (
            other._group, other._mode)

    __hash__ = None

    def __repr__(self):
        return f"VariableSettings({self._group!r}, {self._mode})"
