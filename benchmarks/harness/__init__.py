"""The harness: cells, rounds, and whatever keeps them safe."""
