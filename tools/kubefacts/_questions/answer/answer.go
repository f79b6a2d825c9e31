// Package answer holds what several questions have in common. Its JSON is read
// by tools/kubefacts.
package answer

import (
	"encoding/json"
	"fmt"
	"os"

	// What every component's main package imports besides its command. The first
	// adds flags; the others are here so that nothing that they add is missed.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// A Component is what each component is asked.
type Component struct {
	Flags []Flag `json:"flags"`
	Gates []Gate `json:"gates"`
}

// Print writes an answer to standard output.
func Print(answer any) {
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		Fail(err)
	}
}

// Fail ends a question that could not be answered.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
