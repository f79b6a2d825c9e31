package request

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// NameTakenError is returned for a name that another operation has, be it in progress or ended.
// Another name is required.
type NameTakenError struct{ Name string }

func (e NameTakenError) Error() string {
	return fmt.Sprintf("operation %s exists already, with another target or ended", e.Name)
}

// maxName is the maximum length of a name, as in api/v1alpha1.
const maxName = 63

// ValidateName rejects a name of an operation that the API server would reject.
func ValidateName(name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 || len(name) > maxName {
		return fmt.Errorf("%q does not consist of at most %d lowercase letters, digits, hyphens and periods", name, maxName)
	}
	return nil
}

// Name chooses the name of a new operation: the first of the preferred names that is not empty or,
// if all are, one made from the target, with a number where that is taken.
func Name(target refitv1alpha1.Target, existing []refitv1alpha1.ClusterUpgrade, preferred ...string) (string, error) {
	taken := map[string]bool{}
	for i := range existing {
		taken[existing[i].Name] = true
	}
	for _, name := range preferred {
		switch {
		case name == "":
		case taken[name]:
			return "", NameTakenError{name}
		default:
			return name, nil
		}
	}
	base := DefaultName(target)
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name, nil
}

// DefaultName is the name of an operation to a target.
func DefaultName(target refitv1alpha1.Target) string {
	if target.Release != "" {
		return "to-" + target.Release
	}
	return "to-" + strings.ReplaceAll(target.Kubernetes, ".", "-")
}
