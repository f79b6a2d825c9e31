package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// UnprovenError is content whose origin is not proven: it may be forged, or its proof is missing,
// damaged or expired. It must not be used.
type UnprovenError struct {
	// Content is the name or the address of the content.
	Content string
	// Missing reports that there is no proof, and not one of other content.
	Missing bool
	Err     error
}

func (e *UnprovenError) Error() string { return fmt.Sprintf("cannot prove %s: %v", e.Content, e.Err) }

func (e *UnprovenError) Unwrap() error { return e.Err }

func unproven(content, format string, args ...any) error {
	return &UnprovenError{Content: content, Err: fmt.Errorf(format, args...)}
}

func unsigned(content string) error {
	return &UnprovenError{Content: content, Missing: true, Err: errors.New("it has no signature")}
}

// missing reports whether a server does not have a document. Some return 403 for it.
func missing(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && slices.Contains([]int{http.StatusForbidden, http.StatusNotFound, http.StatusGone}, status.Status)
}

// reference is the size and the digest of a document that a verified document names.
type reference struct {
	path   string
	digest string // 64 hexadecimal digits
	size   int64
}

// check compares a document with its reference.
func (r reference) check(address string, content []byte) error {
	sum := sha256.Sum256(content)
	switch {
	case int64(len(content)) != r.size:
		return unproven(address, "it has %d bytes, but the signed metadata names %d", len(content), r.size)
	case hex.EncodeToString(sum[:]) != r.digest:
		return unproven(address, "its digest differs from the signed metadata")
	}
	return nil
}
