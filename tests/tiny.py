"""A RoBERTa of two small layers and texts that it can learn, made on the spot."""

from pathlib import Path

import numpy as np

TOPICS = {
    "sport": "goal match team player league score coach cup",
    "politics": "vote law party senate court reform budget minister",
    "science": "cell gene virus protein vaccine trial dose lab",
}
FILLER = ["the", "a", "of", "on", "in", "with", "was", "is", "new", "old", "big", "small"]


def topical_texts(n_rows, seed=0):
    """Texts of 3 to 12 words and their topics."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    labels = [names[i] for i in rng.integers(3, size=n_rows)]
    texts = []
    for label in labels:
        words = [*rng.choice(TOPICS[label].split(), rng.integers(2, 6))]
        words += [*rng.choice(FILLER, rng.integers(1, 7))]
        texts.append(" ".join(rng.permutation(words)))
    return texts, labels


def save_tokenizer(folder: Path):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for topic in TOPICS.values() for word in topic.split()} | set(FILLER))
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4}
    vocabulary |= {word: i for i, word in enumerate(words, start=len(vocabulary))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    ).save_pretrained(folder)
    return len(vocabulary)


def save_roberta(folder: Path, head: bool) -> Path:
    """A random RoBERTa in the Hugging Face layout, with its language head or without pooler."""
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM, RobertaModel

    config = RobertaConfig(
        vocab_size=save_tokenizer(folder),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=80,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
        initializer_range=0.1,  # learns in a second
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if head:
            model = RobertaForMaskedLM(config)
        else:
            model = RobertaModel(config, add_pooling_layer=False)
    model.save_pretrained(folder)
    return folder
