"""Schedulers with a client in Python, for `assay run --executor` and `assay work`.

`postgres` is the side of the driver and `postgres_worker` that of a device, on Procrastinate and
PostgreSQL; `ray` and `ray_worker` are the same on a Ray cluster, where `ray_broker` keeps the jobs.
`objects` keeps files in an object store that speaks S3. Each is a program that `assay`
starts; docs/contracts/fleet.md has their lines.
"""
