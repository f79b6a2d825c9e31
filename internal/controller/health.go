package controller

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// serveHealth says that the process is alive, until the context ends. It outlives the managers: one of them that could not be set up would keep the port until
// its memory is collected, and the next one would wait for that.
func serveHealth(ctx context.Context, address string) error {
	if address == "" || address == noAddress {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for questions about health: %w", err)
	}
	alive := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	answers := http.NewServeMux()
	for _, path := range []string{"/healthz", "/readyz"} {
		answers.HandleFunc(path, alive)
	}
	server := &http.Server{Handler: answers, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}
