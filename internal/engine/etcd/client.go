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

// A member that is well answers within milliseconds.
const (
	askTimeout  = 5 * time.Second
	dialTimeout = 3 * time.Second
	// quickly is how soon a connection is tried again. The library's own default goes up to two minutes, which would be most of an upgrade's time.
	quickly     = 500 * time.Millisecond
	maxResponse = 8 << 20
)

// Client asks the member on this host. It connects when it asks, and again when the connection broke.
type Client struct {
	config Config
	tls    *tls.Config
	local  *clientv3.Client
	// patience is how long a member may take to answer.
	patience time.Duration
}

// Dial makes a client. It asks nothing yet, so it also works while the member is away.
func Dial(config Config) (*Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("no endpoint of etcd is given")
	}
	secured, err := config.tlsConfig()
	if err != nil {
		return nil, err
	}
	c := &Client{config: config, tls: secured, patience: askTimeout}
	if c.local, err = c.connect(config.Endpoints); err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the connections.
func (c *Client) Close() error { return c.local.Close() }

func (c *Client) connect(endpoints []string) (*clientv3.Client, error) {
	made, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, TLS: c.tls,
		DialTimeout: dialTimeout, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: dialTimeout,
		MaxCallRecvMsgSize: maxResponse, MaxUnaryRetries: 1,
		// What went wrong is in the errors. By default the library also writes to standard error, in a format of its own.
		Logger: clientv3.NewCtxClient(context.Background()).GetLogger(),
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: quickly / 5, Multiplier: 1.6, Jitter: 0.2, MaxDelay: quickly},
				MinConnectTimeout: dialTimeout,
			}),
			grpc.WithChainUnaryInterceptor(failSoon),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd: %w", err)
	}
	return made, nil
}

// failSoon says why a member cannot be reached. The library's default waits for it until the time is over, and then says only that. What is known of a
// connection can be as old as it takes until it is tried again, so a failure counts after that. Everything that is asked here can be asked twice.
func failSoon(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, options ...grpc.CallOption) error {
	options = append(options, grpc.WaitForReady(false))
	for began := time.Now(); ; {
		err := next(ctx, method, request, reply, conn, options...)
		if grpcstatus.Code(err) != codes.Unavailable || time.Since(began) > 2*quickly || wait(ctx, quickly/5) != nil {
			return err
		}
	}
}

// wait returns after a while, or with the context's error.
func wait(ctx context.Context, while time.Duration) error {
	timer := time.NewTimer(while)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
