"""VGF files on a Vulkan driver for CPUs, with Arm's emulation of the extensions that they need."""
