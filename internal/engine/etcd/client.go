package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
)

// A healthy member answers within milliseconds.
const (
	requestTimeout = 5 * time.Second
	dialTimeout    = 3 * time.Second
	// reconnectInterval is the longest time between two attempts to connect. The default of the
	// library goes up to two minutes, which would be most of an upgrade.
	reconnectInterval = 500 * time.Millisecond
	maxResponse       = 8 << 20
)

// Client is a client of the member on this host. It connects with the first request, and again
// after the connection broke.
type Client struct {
	config Config
	tls    *tls.Config
	local  *clientv3.Client
	// timeout bounds a request to one member.
	timeout time.Duration
}

// Dial returns a client. It sends no request, so it succeeds while the member is down.
func Dial(config Config) (*Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("cannot connect to etcd: no endpoint")
	}
	secured, err := config.tlsConfig()
	if err != nil {
		return nil, err
	}
	c := &Client{config: config, tls: secured, timeout: requestTimeout}
	if c.local, err = c.connect(config.Endpoints); err != nil {
		return nil, err
	}
	return c, nil
}

// Close closes the connections.
func (c *Client) Close() error { return c.local.Close() }

func (c *Client) connect(endpoints []string) (*clientv3.Client, error) {
	made, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, TLS: c.tls,
		DialTimeout: dialTimeout, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: dialTimeout,
		MaxCallRecvMsgSize: maxResponse, MaxUnaryRetries: 1,
		// The errors have it all. By default the library also logs to standard error, in a format
		// of its own.
		Logger: clientv3.NewCtxClient(context.Background()).GetLogger(),
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: reconnectInterval / 5, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnectInterval},
				MinConnectTimeout: dialTimeout,
			}),
			grpc.WithChainUnaryInterceptor(failFast),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot connect to etcd: %w", err)
	}
	return made, nil
}

// failFast returns why a member is unreachable. The default of the library waits until the
// deadline, and then returns only that. The state of a connection can be as old as
// reconnectInterval, so an error counts only after that. Every request of this package can be
// repeated.
func failFast(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, options ...grpc.CallOption) error {
	options = append(options, grpc.WaitForReady(false))
	for start := time.Now(); ; {
		err := next(ctx, method, request, reply, conn, options...)
		if grpcstatus.Code(err) != codes.Unavailable || time.Since(start) > 2*reconnectInterval || wait(ctx, reconnectInterval/5) != nil {
			return err
		}
	}
}

// wait returns after a time, or with the error of the context.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
