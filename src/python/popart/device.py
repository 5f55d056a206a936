# SPDX-License-Identifier: MIT
"""DeviceManager and DeviceInfo: the processor in the place of IPUs."""

import os

from .enums import (DeviceConnectionType, DeviceSelectionCriterion, DeviceType, SyncPattern)
from .errors import popart_exception


class DeviceInfo:
    """A device. As a context manager it detaches at the end."""

    def __init__(self, device_type, connection=DeviceConnectionType.Always, ipus=1, tiles=0,
                 version="", pattern=SyncPattern.Full):
        self._type, self._connection = device_type, connection
        self._ipus, self._tiles, self._version = ipus, tiles, version
        self._pattern = pattern
        self._attached = False

    type = property(lambda self: self._type, doc="DeviceType.")
    connectionType = property(lambda self: self._connection, doc="DeviceConnectionType.")
    version = property(lambda self: "<unknown-version>", doc="Version of the driver.")
    ipuVersion = property(lambda self: self._version, doc="Version of the IPU, such as ipu2.")
    id = property(lambda self: 0, doc="Number of the device.")
    numIpus = property(lambda self: self._ipus, doc="Number of IPUs.")
    tilesPerIPU = property(lambda self: self._tiles, doc="Tiles of an IPU.")
    tilesPerIpu = property(lambda self: self._tiles, doc="Tiles of an IPU.")
    driverIds = property(lambda self: [0], doc="Numbers of the drivers.")
    isAttached = property(lambda self: self._attached, doc="Whether the device is attached.")
    numWorkerContexts = property(lambda self: 1, doc="Worker threads of a tile.")
    childIds = property(lambda self: [], doc="Numbers of the devices of a group.")

    def attach(self):
        """Attaches the device. Returns True."""
        self._attached = True
        return True

    def detach(self):
        """Detaches the device."""
        self._attached = False

    def tryAttachUntilTimeout(self):
        """Attaches the device. Returns True."""
        return self.attach()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.detach()

    def __repr__(self):
        return (f"Device Type:{self._type.name} Connection Type:{self._connection.name} "
                f"NumIPUs:{self._ipus} Tiles Per IPU:{self._tiles}")

    __str__ = __repr__


def _options(options, known, kind):
    options = {str(k): str(v) for k, v in (options or {}).items()}
    for key in options:
        if key not in known:
            raise popart_exception(f"no option {key!r} of a device of type {kind}; accepted: " +
                                   ", ".join(known))
    return options


def _virtual():
    """Number of virtual IPUs that the environment asks for; None: not stated."""
    text = os.environ.get("POPRT_VIRTUAL_IPUS")
    return int(text) if text else None


class DeviceManager:
    """Makes devices. Those of types Cpu and IpuModel compute on the processor."""

    def __init__(self):
        self._timeout = 0

    def createCpuDevice(self):
        """The processor."""
        return DeviceInfo(DeviceType.Cpu)

    def createIpuModelDevice(self, options):
        """The processor in the place of a modelled IPU. Options: numIPUs, tilesPerIPU,
        compileIPUCode, ipuVersion."""
        given = _options(options, ("numIPUs", "tilesPerIPU", "compileIPUCode", "ipuVersion"),
                         "IpuModel")
        return DeviceInfo(DeviceType.IpuModel, ipus=int(given.get("numIPUs", 1)),
                          tiles=int(given.get("tilesPerIPU", 4)),
                          version=given.get("ipuVersion", "ipu2"))

    def createSimDevice(self, options):
        """The processor in the place of a simulated IPU. Options: numIPUs, tilesPerIPU,
        ipuVersion."""
        given = _options(options, ("numIPUs", "tilesPerIPU", "ipuVersion"), "Sim")
        return DeviceInfo(DeviceType.Sim, ipus=int(given.get("numIPUs", 1)),
                          tiles=int(given.get("tilesPerIPU", 4)),
                          version=given.get("ipuVersion", "ipu2"))

    def createOfflineIPUDevice(self, options):
        """A device for which programs are compiled and exported, but not run. Options: numIPUs,
        tilesPerIPU, ipuVersion, syncPattern, gatewayMode."""
        given = _options(options, ("numIPUs", "tilesPerIPU", "ipuVersion", "syncPattern",
                                   "gatewayMode"), "OfflineIpu")
        return DeviceInfo(DeviceType.OfflineIpu, DeviceConnectionType.Never,
                          int(given.get("numIPUs", 1)), int(given.get("tilesPerIPU", 0)),
                          given.get("ipuVersion", "ipu2"))

    def createOfflineIpuFromDeviceInfo(self, device):
        """An offline device like another device."""
        return DeviceInfo(DeviceType.OfflineIpu, DeviceConnectionType.Never, device.numIpus,
                          device.tilesPerIPU, device.ipuVersion)

    def _acquire(self, ipus):
        virtual = _virtual()
        if ipus == 1 and virtual != 0:
            return DeviceInfo(DeviceType.Ipu, DeviceConnectionType.Always, 1, 1472, "ipu2")
        return None

    def tryAcquireAvailableDevice(self, numIpus=1, tilesPerIpu=0, pattern=SyncPattern.Full,
                                  connectionType=DeviceConnectionType.Always,
                                  selectionCriterion=DeviceSelectionCriterion.First):
        """The processor in the place of one IPU; None for more of them."""
        if connectionType == DeviceConnectionType.Never:
            raise popart_exception("acquire: connection type Never is not supported; use "
                                   "createOfflineIPUDevice")
        return self._acquire(numIpus)

    def acquireAvailableDevice(self, numIpus=1, tilesPerIpu=0, pattern=SyncPattern.Full,
                               connectionType=DeviceConnectionType.Always,
                               selectionCriterion=DeviceSelectionCriterion.First):
        """As tryAcquireAvailableDevice, but raises if there is no device."""
        device = self.tryAcquireAvailableDevice(numIpus, tilesPerIpu, pattern, connectionType,
                                                selectionCriterion)
        if device is None:
            raise popart_exception(f"failed to acquire a device with {numIpus} IPUs: the processor "
                                   "stands in for one IPU")
        return device

    def tryAcquireDeviceById(self, id, pattern=SyncPattern.Full,
                             connectionType=DeviceConnectionType.Always):
        """The device of a number; None if there is none."""
        return self._acquire(1) if id == 0 else None

    def acquireDeviceById(self, id, pattern=SyncPattern.Full,
                          connectionType=DeviceConnectionType.Always):
        """As tryAcquireDeviceById, but raises if there is no device."""
        device = self.tryAcquireDeviceById(id, pattern, connectionType)
        if device is None:
            raise popart_exception(f"failed to acquire device {id}: there is no such device")
        return device

    def enumerateDevices(self, pattern=SyncPattern.Full, numIpus=1, deviceType=DeviceType.Ipu,
                         connectionType=DeviceConnectionType.Always, tilesPerIPU=0):
        """Lists devices. IPUs exist if POPRT_VIRTUAL_IPUS states their number."""
        if deviceType == DeviceType.Cpu:
            return [DeviceInfo(DeviceType.Cpu)]
        count = _virtual() or 0
        if deviceType != DeviceType.Ipu or numIpus > 1:
            return []
        return [DeviceInfo(DeviceType.Ipu, connectionType, 1, 1472, "ipu2") for _ in range(count)]

    def setOnDemandAttachTimeout(self, attachTimeout):
        """Sets how long attaching waits; the processor never lets it wait."""
        self._timeout = int(attachTimeout)
