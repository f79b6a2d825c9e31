package request

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// knownCheck rejects the name of a check that does not exist: a waiver for it would have no effect.
func knownCheck(name string) error {
	nearest, least := "", 0
	for _, check := range preflight.Checks() {
		if check.ID == name {
			return nil
		}
		if d := distance(strings.ToLower(name), strings.ToLower(check.ID)); nearest == "" || d < least {
			nearest, least = check.ID, d
		}
	}
	if least > max(2, len(name)/3) { // another name, not a misspelled one
		return fmt.Errorf("there is no check %q: `refit check --list` lists all", name)
	}
	return fmt.Errorf("there is no check %q; did you mean %s?", name, nearest)
}

// distance is the number of bytes to insert, delete or replace that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
