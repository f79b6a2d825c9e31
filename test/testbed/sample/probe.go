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

// The reasons are a closed list next to "http NNN". An error's own text is never
// kept: it may carry a URL or a header, and would not add up to counts.
const (
	reasonConnectTimeout = "connect timeout" // no connection, TLS included, in time
	reasonAnswerTimeout  = "answer timeout"  // connected, but no whole answer in time
	reasonRefused        = "connection refused"
	reasonReset          = "connection reset"
	reasonUnreachable    = "unreachable"
	reasonClosed         = "closed before the answer"
	reasonTLS            = "tls"
	reasonName           = "name not resolved"
	reasonOther          = "other"
)

// probe asks once and returns why that failed, or nothing when the answer was
// good. It returns soon after its context ends.
type probe func(ctx context.Context) (reason string)

// get is the probe that GETs an URL and reads the whole answer.
func get(rt http.RoundTripper, url string) probe {
	client := &http.Client{
		Transport: rt,
		// A redirect is not the workload's answer.
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
			return reasonAnswerTimeout
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
		return 0, fmt.Errorf("make a request: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("get: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	return resp.StatusCode, nil
}

// reasonOf sorts an error into the list of reasons.
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
		return reasonConnectTimeout // the dial's or the handshake's own limit was the first to end
	default:
		return reasonOther
	}
}
