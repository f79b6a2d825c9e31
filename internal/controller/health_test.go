package controller

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
)

func TestProbesAreAnsweredUntilTheContextEnds(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	handler := healthHandler(func() error { return nil }, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := serveHealth(ctx, address, handler); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 404} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s is answered with %d, want %d", path, answer.StatusCode, want)
		}
	}
	if err := serveHealth(ctx, address, handler); err == nil {
		t.Error("a port that is taken was taken again")
	}
}
