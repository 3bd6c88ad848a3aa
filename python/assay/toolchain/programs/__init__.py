"""Finished programs: building, manifests, inspection, signatures and inputs."""
