# SPDX-License-Identifier: MIT
"""PopEF files: the package popef, popef.c of the extension."""
import io
import os
import tempfile
import unittest

import numpy as np

import popef
import poprt

DIGITS = os.path.join(os.environ["FIXTURES"], "digits", "model.onnx")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.popef")

    def executable(self):
        executable = poprt.compiler.Compiler.compile(DIGITS, None)
        executable.append_opaque_blobs("mine", "text")
        executable.save(self.path)
        return executable

    def test_blobs_of_an_executable(self):
        self.executable()
        reader = popef.Reader()
        reader.parseFile(self.path)
        metadata, = reader.metadata()
        executable, = reader.executables()
        opaque, = reader.opaqueBlobs()
        self.assertEqual(metadata.executable(), executable.name())
        self.assertEqual((opaque.name(), opaque.executable(), opaque.data()),
                         ("mine", executable.name(), b"text"))
        self.assertGreater(len(executable.executable()), 100)
        self.assertEqual((metadata.ipuVersion(), metadata.numIpus(), metadata.isInference()),
                         (2, 1, True))
        self.assertEqual(metadata.programFlow().main(), [5])
        image = metadata.anchors()[0]
        self.assertEqual((image.name(), image.handle(), image.type(), image.programs()),
                         ("image", "h2d_image", popef.TensorType.INPUT, [5]))
        self.assertFalse(image.isPerReplica())
        self.assertEqual(image.tensorInfo().shape(), [-1, 1, 8, 8])
        self.assertEqual(image.tensorInfo().dataType(), popef.DataType.F32)
        with self.assertRaises(popef.Error):
            image.tensorInfo().sizeInBytes()
        tensors = {tensor.name(): tensor for tensor in reader.tensors()}
        anchors = {anchor.name() for anchor in metadata.anchors()}
        self.assertLessEqual(set(tensors), anchors)
        for tensor in tensors.values():
            info = tensor.info().tensorInfo()
            array = tensor.data()
            self.assertEqual(array.nbytes, info.sizeInBytes())
            self.assertEqual(array.dtype, popef.popefTypeToNumpyDType(info.dataType()))

    def test_streams_and_models(self):
        self.executable()
        with open(self.path, "rb") as file:
            data = file.read()
        reader = popef.Reader()
        reader.parseStream(io.BytesIO(data))
        with self.assertRaises(TypeError):
            reader.parseStream(io.StringIO("text"))
        model = popef.ModelBuilder(reader).createModel()
        self.assertEqual(model.to_bytes(), data)
        self.assertEqual(model.executable().name(), model.metadata().executable())
        self.assertEqual(len(model.opaqueBlobs()), 1)
        self.assertEqual(len(model.tensors()), len(reader.tensors()))
        named = popef.ModelBuilder(self.path).createModel(model.executable().name())
        self.assertEqual(named.metadata(), model.metadata())
        self.assertEqual(named.to_bytes(), data)
        with self.assertRaisesRegex(popef.Error, "no executable of this name"):
            popef.ModelBuilder(reader).createModel("other")
        reader.parseFile(self.path)
        with self.assertRaisesRegex(popef.Error, "several"):
            popef.ModelBuilder(reader).createModel()
        with self.assertRaisesRegex(popef.Error, "0 executables"):
            popef.ModelBuilder([]).createModel()

    def metadata(self):
        metadata = popef.Metadata()
        metadata.setExecutable("program")
        metadata.setNumIpus(4)
        metadata.setIsInference(False)
        metadata.setEngineOptions([popef.Option("a", "b")])
        metadata.setProgramFlow(popef.ProgramFlow([0], [5], [7]))
        metadata.setProgramsMap({5: "Program"})
        anchor = popef.Anchor("x", "h2d_x")
        anchor.setType(popef.TensorType.INPUT)
        anchor.setTensorInfo(popef.TensorInfo([2, 3], popef.DataType.S16))
        metadata.setAnchors([anchor])
        return metadata

    def test_what_is_written_is_read(self):
        numbers = np.arange(6, dtype=np.int16).reshape(2, 3)
        info = popef.TensorInfo([2, 3], popef.numpyDTypeToPopefType(np.int16))
        self.assertEqual(info.sizeInBytes(), 12)
        with popef.Writer(self.path) as writer:
            writer.write(self.metadata())
            blob = writer.createExecutable("program")
            blob.write(b"code")
            blob.stream.write(b" and more", 4)
            writer.createOpaqueBlob("note", "program").write(b"")
            writer.createTensorData(popef.TensorDataInfo("x", info)).write(numbers)
            feed = writer.createFeedData(popef.FeedDataInfo("x", info, 2))
            feed.write(numbers)
            feed.write(numbers.tobytes())
        reader = popef.Reader()
        reader.parseFile(self.path)
        self.assertEqual(reader.metadata(), [self.metadata()])
        self.assertEqual(reader.executables()[0].executable(), b"code and")
        self.assertEqual(reader.opaqueBlobs()[0].data(), b"")
        np.testing.assert_array_equal(reader.tensors()[0].data(), numbers)
        self.assertEqual(reader.feeds()[0].info(), popef.FeedDataInfo("x", info, 2))
        np.testing.assert_array_equal(reader.feeds()[0].data(), np.stack([numbers, numbers]))
        model = popef.ModelBuilder(reader).createModel()
        self.assertEqual((len(model.tensors()), len(model.feeds())), (1, 1))

    def test_wrong_use_of_a_writer(self):
        stream = io.BytesIO()
        writer = popef.Writer(stream)
        info = popef.TensorDataInfo("x", popef.TensorInfo([2], popef.DataType.F32))
        first = writer.createTensorData(info)
        first.write(np.zeros(2, np.float32))
        writer.createOpaqueBlob("a", "b")
        with self.assertRaisesRegex(popef.Error, "complete"):
            first.write(b"more")
        writer.createTensorData(info).write(b"123")
        with self.assertRaisesRegex(popef.Error, "needs 8"):
            writer.close()
        with self.assertRaisesRegex(popef.Error, "closed"):
            writer.createOpaqueBlob("a", "b")
        other = popef.Writer(io.BytesIO())
        with self.assertRaises(popef.Error):
            other.createExecutable("")
        with self.assertRaises(NotImplementedError):
            other.createExecutable("a", True)
        with self.assertRaises(TypeError):
            other.write(3)

    def test_other_files_are_refused(self):
        reader = popef.Reader()
        with self.assertRaises(popef.Error):
            reader.parseFile(DIGITS)
        with self.assertRaises(popef.Error):
            reader.parseFile("no such file")
        self.assertEqual(reader.metadata(), [])

    def test_records_check_types(self):
        with self.assertRaises(TypeError):
            popef.Metadata().setExecutable(3)
        with self.assertRaises(TypeError):
            popef.Metadata().setIsPOD(3)
        with self.assertRaises(ValueError):
            popef.Anchor().setType(7)
        with self.assertRaises(TypeError):
            popef.Option("a", "b", "c")
        with self.assertRaises(ValueError):
            popef.numpyDTypeToPopefType("complex64")
        for data_type in popef.DataType:
            dtype = popef.popefTypeToNumpyDType(data_type)
            if data_type.name not in ("F8", "F8143", "F8152"):
                self.assertEqual(popef.numpyDTypeToPopefType(dtype), data_type)
        self.assertIn("name='a'", repr(popef.Option("a", "b")))


if __name__ == "__main__":
    unittest.main()
