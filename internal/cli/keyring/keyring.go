package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	// service is the name of Refit in the keyring.
	service = "refit"
	// noteAfter is the time after which the user learns what the command waits for: a locked
	// keyring shows a dialog, possibly behind other windows.
	noteAfter = 2 * time.Second
	timeout   = time.Minute
)

// Keyring stores secrets by their name.
type Keyring struct {
	Get func(ctx context.Context, name string) (secret string, found bool, err error)
	Set func(ctx context.Context, name, secret string) error
}

// OfUser returns the keyring of the user, or nil if there is none. It writes to notes what it waits
// for.
func OfUser(getenv func(string) string, notes io.Writer) *Keyring {
	if !available(getenv) {
		return nil
	}
	return &Keyring{
		Get: func(ctx context.Context, name string) (secret string, found bool, err error) {
			secret, err = bounded(ctx, notes, func() (string, error) { return keyring.Get(service, name) })
			if errors.Is(err, keyring.ErrNotFound) {
				return "", false, nil
			}
			return secret, err == nil, err
		},
		Set: func(ctx context.Context, name, secret string) error {
			_, err := bounded(ctx, notes, func() (string, error) { return "", keyring.Set(service, name, secret) })
			return err
		},
	}
}

// bounded calls a function that has no context. The process ends before the call if it hangs.
func bounded(ctx context.Context, notes io.Writer, call func() (string, error)) (string, error) {
	type result struct {
		secret string
		err    error
	}
	done := make(chan result, 1)
	go func() {
		secret, err := call()
		done <- result{secret, err}
	}()
	late, ended := time.After(noteAfter), time.After(timeout)
	for {
		select {
		case r := <-done:
			return r.secret, r.err
		case <-late:
			fmt.Fprintf(notes, "Waiting up to %s for your keyring: it may ask to be unlocked\n", timeout)
		case <-ended:
			return "", fmt.Errorf("the keyring did not respond within %s", timeout)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
