package rehearsal

import (
	"fmt"
	"os"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// memoryVariable is the soft memory limit of a Go process.
const memoryVariable = "GOMEMLIMIT"

// limited returns a soft memory limit below the bound of a process, so that it collects garbage
// before it is killed.
func limited(memory uint64) []string {
	return []string{fmt.Sprintf("%s=%d", memoryVariable, memory/10*9)}
}

// environmentFile is the file with the variables of a unit.
func (r *Runner) environmentFile(unit string) string { return r.file(unit + ".env") }

// writeEnvironment writes the variables of a manifest for a unit. They can be secrets, and only
// root can read the manifest, but every user can read the properties of a unit.
func (r *Runner) writeEnvironment(unit string, m rehearsal.Manifest) (string, error) {
	var text strings.Builder
	for _, variable := range m.Environment() {
		name, value, _ := strings.Cut(variable, "=")
		if name != memoryVariable {
			fmt.Fprintf(&text, "%s=\"%s\"\n", name, escaped.Replace(value))
		}
	}
	file := r.environmentFile(unit)
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return "", fmt.Errorf("cannot write the environment of %s: %w", unit, err)
	}
	return file, nil
}

// escaped escapes a value in double quotes, as systemd reads it.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
