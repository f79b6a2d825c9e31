package sample

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
)

// The reasons are a closed list, plus "http NNN". Error texts are never kept: they may contain a
// URL or a header, and cannot be counted.
const (
	reasonConnectTimeout  = "connect timeout"  // no connection, including TLS, in time
	reasonResponseTimeout = "response timeout" // connected, but no complete response in time
	reasonRefused         = "connection refused"
	reasonReset           = "connection reset"
	reasonUnreachable     = "unreachable"
	reasonClosed          = "closed before the response"
	reasonTLS             = "tls"
	reasonName            = "name not resolved"
	reasonOther           = "other"
)

// probe sends one request and returns why it failed, or an empty string. It returns soon after its
// context ends.
type probe func(ctx context.Context) (reason string)

// get returns a probe that GETs a URL and reads the whole response.
func get(rt http.RoundTripper, url string) probe {
	client := &http.Client{
		Transport: rt,
		// A redirect is not a response of the workload.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) string {
		var connected atomic.Bool
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
		})
		status, err := readAll(traced, client, url)
		switch {
		case err == nil && status == http.StatusOK:
			return ""
		case err == nil:
			return fmt.Sprintf("http %d", status)
		case ctx.Err() != nil && connected.Load():
			return reasonResponseTimeout
		case ctx.Err() != nil:
			return reasonConnectTimeout
		default:
			return reasonOf(err)
		}
	}
}

func readAll(ctx context.Context, client *http.Client, url string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("create request: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("get: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, fmt.Errorf("read response: %w", err)
	}
	return resp.StatusCode, nil
}

// reasonOf maps an error to a reason.
func reasonOf(err error) string {
	var (
		name    *net.DNSError
		verify  *tls.CertificateVerificationError
		alert   tls.AlertError
		timeout net.Error
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return reasonRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return reasonReset
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return reasonUnreachable
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return reasonClosed
	case errors.As(err, &name):
		return reasonName
	case errors.As(err, &verify), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return reasonTLS
	case errors.As(err, &timeout) && timeout.Timeout():
		return reasonConnectTimeout // the timeout of the dial or handshake expired first
	default:
		return reasonOther
	}
}
