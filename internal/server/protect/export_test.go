package protect

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// HandlerWithin protects a handler, for tests with clients that take longer than a timeout.
func HandlerWithin(next http.Handler, timeout time.Duration) http.Handler {
	return handler(next, []string{"127.0.0.1"}, slog.New(slog.DiscardHandler), timeouts{body: timeout, piece: timeout})
}

// ClientOf identifies the client with an address.
func ClientOf(ctx context.Context, address string) string {
	return Client(WithClient(ctx, &http.Request{RemoteAddr: address}))
}
