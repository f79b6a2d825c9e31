package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// server listens somewhere and returns where.
func server(t *testing.T) (host, port string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	host, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

func TestTry(t *testing.T) {
	host, port := server(t)
	failures := 2
	for name, c := range map[string]struct {
		look func(ctx context.Context, name string) ([]string, error)
		port string
		says string // empty: all is well
	}{
		"all is well": {func(context.Context, string) ([]string, error) { return []string{host}, nil }, port, ""},
		"DNS comes a little later": {func(context.Context, string) ([]string, error) {
			if failures--; failures >= 0 {
				return nil, errors.New("no such host")
			}
			return []string{host}, nil
		}, port, ""},
		"DNS does not answer": {func(ctx context.Context, _ string) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, port, "DNS does not tell where kubernetes.default.svc is: context deadline exceeded"},
		"DNS does not know": {func(context.Context, string) ([]string, error) { return nil, nil }, port, "DNS knows no address of kubernetes.default.svc"},
		"nobody listens":    {func(context.Context, string) ([]string, error) { return []string{host}, nil }, "1", "kubernetes.default.svc is not reached: dial tcp 127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			tried := trial{name: "kubernetes.default.svc", port: c.port, within: 300 * time.Millisecond, each: 100 * time.Millisecond, pause: 10 * time.Millisecond, look: c.look}
			_, err := tried.run(t.Context())
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q in it", err, c.says)
			}
		})
	}
}
