package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ServerTime returns the API server's time and the host's at the same moment, to the precision of a
// header in whole seconds.
func (c *Client) ServerTime(ctx context.Context) (server, host time.Time, err error) {
	use, err := c.current()
	if err != nil {
		return server, host, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, use.refit.Get().AbsPath("/version").URL().String(), http.NoBody)
	if err != nil {
		return server, host, fmt.Errorf("cannot get the API server's time: %w", err)
	}
	sent := time.Now()
	response, err := use.http.Do(request)
	if err = c.after(use, err); err != nil {
		return server, host, fmt.Errorf("cannot get the API server's time: %w", err)
	}
	took := time.Since(sent)
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	response.Body.Close()
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return server, host, fmt.Errorf("cannot parse the API server's time: %w", err)
	}
	// The header truncates to whole seconds: on average, half a second is missing.
	return date.Add(time.Second / 2), sent.Add(took / 2), nil
}
