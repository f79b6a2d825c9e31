package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// recipeFormat is raised when the way in which recipes work changes what they make.
const recipeFormat = "1"

// keyLength is how many hex digits of the hash name an entry.
const keyLength = 12

// A recipe makes one entry of the cache.
type recipe interface {
	// component and version name the entry for people.
	component() string
	version() string
	// inputs is everything besides component, version and needs that shapes the
	// result. What is forgotten here makes the cache serve a stale entry.
	inputs() []string
	// needs are the recipes whose entries this one is made from.
	needs() []recipe
	// usually is how long it takes on a small machine that has nothing cached.
	usually() time.Duration
	// build makes the entry in dir, which exists and is empty. It must stop when
	// ctx ends; what is then in dir is thrown away.
	build(ctx context.Context, shop *workshop, dir string) error
}

// keyOf hashes what shapes a recipe's result. Every text goes in with its length,
// so that moving a letter from one input to the next changes the key.
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

// title names a recipe for people.
func title(r recipe) string { return r.component() + " " + r.version() }
