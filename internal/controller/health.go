package controller

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// serveHealth serves the probes until the context ends. The server outlives the managers: a manager
// that could not be set up would keep the port, and the next one could not listen.
func serveHealth(ctx context.Context, address string, handler http.Handler) error {
	if address == "" || address == noAddress {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot serve health probes: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // it returns when it is closed
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}

// healthHandler answers probes: /healthz fails while a controller is wedged, so that the kubelet
// restarts the process; /readyz succeeds as long as the process runs, whether it leads or not.
func healthHandler(alive func() error, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := alive(); err != nil {
			log.ErrorContext(r.Context(), "Liveness probe failed", "error", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	return mux
}
