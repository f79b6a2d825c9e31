package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// server listens on a free port and returns its address.
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
		lookup func(ctx context.Context, name string) ([]string, error)
		port   string
		want   string // empty for success
	}{
		"success": {func(context.Context, string) ([]string, error) { return []string{host}, nil }, port, ""},
		"DNS available later": {func(context.Context, string) ([]string, error) {
			if failures--; failures >= 0 {
				return nil, errors.New("no such host")
			}
			return []string{host}, nil
		}, port, ""},
		"DNS does not respond": {func(ctx context.Context, _ string) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, port, "cannot resolve kubernetes.default.svc: context deadline exceeded"},
		"no DNS record": {func(context.Context, string) ([]string, error) { return nil, nil }, port, "DNS has no address for kubernetes.default.svc"},
		"no listener":   {func(context.Context, string) ([]string, error) { return []string{host}, nil }, "1", "cannot reach kubernetes.default.svc: dial tcp 127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			tried := trial{name: "kubernetes.default.svc", port: c.port, within: 300 * time.Millisecond, each: 100 * time.Millisecond, pause: 10 * time.Millisecond, lookup: c.lookup}
			if c.want == "" { // it ends earlier, unless the machine is busy
				tried.within, tried.each = time.Minute, 10*time.Second
			}
			_, err := tried.run(t.Context())
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}
