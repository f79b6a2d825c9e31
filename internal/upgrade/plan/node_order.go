package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// sortControlPlane puts the holder of the endpoint's address last: the address moves once, to a
// node that is upgraded already.
func sortControlPlane(nodes []*cluster.Node, holder string) {
	slices.SortFunc(nodes, func(a, b *cluster.Node) int {
		return cmp.Or(compareBool(a.Name == holder, b.Name == holder), byName(a.Name, b.Name))
	})
}

// sortWorkers orders workers by zone, so that a fault of the new version affects one zone first.
// Within a zone, nodes that are cordoned already come first: upgrading them disrupts nothing.
func sortWorkers(nodes []*cluster.Node) {
	slices.SortFunc(nodes, func(a, b *cluster.Node) int {
		return cmp.Or(byName(a.Zone, b.Zone), compareBool(!a.Unschedulable, !b.Unschedulable), byName(a.Name, b.Name))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// byName orders names with their numbers as numbers: worker-2 before worker-10.
func byName(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			x, y := digits(a), digits(b)
			i, j := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(i) != len(j) {
				return len(i) - len(j)
			}
			if c := strings.Compare(i, j); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) string {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return s[:i]
		}
	}
	return s
}
