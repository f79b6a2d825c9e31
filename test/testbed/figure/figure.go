package figure

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
)

var (
	validName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	validUnit = regexp.MustCompile(`^[A-Za-z%/]+$`)
)

// Print writes the line `figure NAME VALUE UNIT` to standard output, for example `figure
// up_3_2_warm 81.4 s`.
func Print(name string, value float64, unit string) error {
	return Fprint(os.Stdout, name, value, unit)
}

// Fprint writes such a line to w. Names are composed at run time, so an invalid one is an error: a
// line that scripts cannot parse is worse than none.
func Fprint(w io.Writer, name string, value float64, unit string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("figure %q: the name must be lower_snake", name)
	}
	if !validUnit.MatchString(unit) {
		return fmt.Errorf("figure %s: %q is not a valid unit", name, unit)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("figure %s: %v is not a number", name, value)
	}
	if _, err := fmt.Fprintf(w, "figure %s %s %s\n", name, plain(value), unit); err != nil {
		return fmt.Errorf("print figure %s: %w", name, err)
	}
	return nil
}

// plain formats without an exponent, with at most six decimals.
func plain(value float64) string {
	s := strings.TrimRight(strconv.FormatFloat(value, 'f', 6, 64), "0")
	return strings.TrimSuffix(s, ".")
}
