"""The benchmarks of the speeds that PairLens promises."""
