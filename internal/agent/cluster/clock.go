package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ServerTime is the API server's time and the host's at the same moment, as well as a header in whole seconds can tell.
func (c *Client) ServerTime(ctx context.Context) (server, host time.Time, err error) {
	use, err := c.current()
	if err != nil {
		return server, host, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, use.refit.Get().AbsPath("/version").URL().String(), http.NoBody)
	if err != nil {
		return server, host, fmt.Errorf("asking the API server for its time: %w", err)
	}
	sent := time.Now()
	answer, err := use.http.Do(request)
	if err = c.after(use, err); err != nil {
		return server, host, fmt.Errorf("asking the API server for its time: %w", err)
	}
	took := time.Since(sent)
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	answer.Body.Close()
	said, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return server, host, fmt.Errorf("reading the API server's time: %w", err)
	}
	return said.Add(time.Second / 2), sent.Add(took / 2), nil // on average it is half a second later than its whole seconds say
}
