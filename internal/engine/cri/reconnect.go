package cri

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// reconnect has short intervals: the runtime is on this host, and a step waits for it.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 5 * time.Second,
}
