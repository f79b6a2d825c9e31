package apiserver

import (
	"context"
	"testing"
)

// Dex finds the binary of Dex, an OpenID Connect issuer, in the testbed's cache, or builds it.
func Dex(tb testing.TB) string {
	tb.Helper()
	from, err := cached(tb)
	if err != nil {
		tb.Fatal(err)
	}
	binary, err := from.Dex(context.WithoutCancel(tb.Context()))
	if err != nil {
		tb.Fatalf("building Dex: %v", err)
	}
	return binary
}
