"""Trains the network of digits.py and writes digits.safetensors.

    python specs/digits/train.py

Half a minute on one core; the seeds are fixed, so the same versions on the same kind of processor
give the same weights.
"""

import random

import numpy as np
import torch
from digits import WEIGHTS, Digits, split
from safetensors.torch import save_file
from torch.nn import functional

EPOCHS = 60
BATCH = 64
LEARNING_RATE = 3e-3
SHIFT = 1


def shifted(pictures: torch.Tensor) -> torch.Tensor:
    """Each picture moved by up to a pixel, so that there are more of them."""
    padded = functional.pad(pictures, [SHIFT] * 4)
    moved = torch.empty_like(pictures)
    for i in range(len(pictures)):
        y, x = random.randint(0, 2 * SHIFT), random.randint(0, 2 * SHIFT)
        moved[i] = padded[i, :, y : y + 8, x : x + 8]
    return moved


def main() -> None:
    """Trains, tells the accuracy on both halves and writes the weights."""
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    (pictures, digits), test = split()
    x, y = torch.from_numpy(pictures), torch.from_numpy(digits.astype(np.int64))
    network = Digits()
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=1e-2)
    steps = EPOCHS * (1 + (len(x) - 1) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(network(shifted(x[batch])), y[batch]).backward()
            optimizer.step()
            schedule.step()
    network.eval()
    with torch.no_grad():
        for name, (some, right) in {"train": (pictures, digits), "test": test}.items():
            chosen = network(torch.from_numpy(some)).argmax(1).numpy()
            print(f"{name}: {(chosen == right).mean():.4f} of {len(right)}")
    save_file(network.state_dict(), WEIGHTS)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
