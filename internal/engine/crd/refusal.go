package crd

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func refusals(defect Defect, errs field.ErrorList) []Refusal {
	var all []Refusal
	for _, err := range errs {
		all = append(all, refusal(defect, err))
	}
	return all
}

// refusal describes an error of the API server without the value of the field, which may be secret.
func refusal(defect Defect, err *field.Error) Refusal {
	r := Refusal{Defect: defect, Field: err.Field, Detail: err.Detail}
	if r.Field == "<nil>" { // the path of the whole object
		r.Field = ""
	}
	if defect == CELRuleRefuses {
		return r
	}
	if r.Field == "" {
		r.Field, r.Detail = pathInDetail(r.Detail)
	}
	r.Detail = strings.TrimPrefix(r.Detail, r.Field+" in body ")
	switch err.Type { //nolint:exhaustive // the details of the others are complete
	case field.ErrorTypeRequired:
		r.Detail = "the field is required"
		if defect == SchemaTightened {
			r.Defect = RequiredFieldMissing
		}
	case field.ErrorTypeDuplicate:
		r.Detail = "the entry is a duplicate"
	case field.ErrorTypeTypeInvalid:
		// The text after the colon is the type of the value, or the value if its format is wrong.
		r.Detail, _, _ = strings.Cut(r.Detail, `: "`)
	}
	return r
}

// quotedFirst and namedLast are the errors of the validator that have their path in the text only.
var (
	quotedFirst = regexp.MustCompile(`^"([^"]+)" (must .*)$`)
	namedLast   = regexp.MustCompile(`^Checked value (must be of type .*) in (\S+)$`)
)

// pathInDetail returns the path that an error without a path has in its text, and the rest.
func pathInDetail(detail string) (path, rest string) {
	if m := quotedFirst.FindStringSubmatch(detail); m != nil {
		return m[1], m[2]
	}
	if m := namedLast.FindStringSubmatch(detail); m != nil {
		return m[2], m[1]
	}
	return "", detail
}
