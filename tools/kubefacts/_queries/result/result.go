// Package result contains the parts that several queries share. tools/kubefacts reads its JSON.
package result

import (
	"encoding/json"
	"fmt"
	"os"

	// Imports of every component's main package. The first one adds flags.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// A Component contains the facts of every component.
type Component struct {
	Flags []Flag `json:"flags"`
	Gates []Gate `json:"gates"`
}

// Print writes a result to standard output.
func Print(facts any) {
	if err := json.NewEncoder(os.Stdout).Encode(facts); err != nil {
		Fail(err)
	}
}

// Fail ends a query with an error.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
