"""Taking telemetry in: OTLP over gRPC and HTTP into the journal; recordings from files.

Import from the modules: this package stays light, so that reading recordings does not load the servers.
"""
