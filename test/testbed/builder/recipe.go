package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// recipeFormat is incremented when a change of the builder changes all results.
const recipeFormat = "1"

// keyLength is the number of hex digits of the hash in the name of an entry.
const keyLength = 12

// A recipe builds one entry of the cache.
type recipe interface {
	// component and version name the entry.
	component() string
	version() string
	// inputs are everything except component, version and needs that determines the result. An
	// omission makes the cache return stale entries.
	inputs() []string
	// needs are the recipes whose entries this one uses.
	needs() []recipe
	// usually returns the usual duration on a small machine without a cache.
	usually() time.Duration
	// build builds the entry in dir, which exists and is empty. It must stop when ctx ends; dir is
	// discarded then.
	build(ctx context.Context, shop *workshop, dir string) error
}

// keyOf hashes everything that determines a recipe's result. Each text is hashed with its length,
// so that moving a letter between inputs changes the key.
func keyOf(r recipe) string {
	sum := sha256.New()
	add := func(text string) { fmt.Fprintf(sum, "%d:%s\n", len(text), text) }
	add(recipeFormat)
	add(r.component())
	add(r.version())
	for _, input := range r.inputs() {
		add(input)
	}
	add("needs")
	for _, need := range r.needs() {
		add(keyOf(need))
	}
	return hex.EncodeToString(sum.Sum(nil))[:keyLength]
}

// title names a recipe for display.
func title(r recipe) string { return r.component() + " " + r.version() }
