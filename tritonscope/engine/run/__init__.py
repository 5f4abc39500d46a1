"""Running kernels. All of it runs in the child, and needs PyTorch as well as Triton."""
