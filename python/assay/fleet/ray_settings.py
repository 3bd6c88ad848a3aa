"""Settings of a Ray cluster that brings jobs to devices, as environment variables."""

SETTINGS = {
    # Without these a driver whose network is cut waits for ever.
    "RAY_grpc_client_keepalive_time_ms": "5000",
    "RAY_grpc_client_keepalive_timeout_ms": "5000",
    # A node that died or was cut off is noticed within 10 s; the head decides by its own settings.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_health_check_timeout_ms": "2000",
    # Ray's default is 15, at which nothing can be measured.
    "RAY_worker_niceness": "0",
}
