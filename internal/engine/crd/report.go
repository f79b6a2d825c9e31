package crd

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// maxFindings and maxPerField bound a Report, so that it fits into the status of an object.
	maxFindings = 50
	maxPerField = 3
	// maxMessageBytes bounds the text of CRDs and of their rules.
	maxMessageBytes = 512
)

// Report is the result of a judgement.
type Report struct {
	// Findings has at most 50 entries, and at most 3 for one defect of one field in one version.
	// Findings about the definition come first.
	Findings []Finding
	// Total is the number of all findings.
	Total int
	// Objects is the number of judged objects, Refused and Dropping are those with such findings.
	Objects, Refused, Dropping int
	// StatusFields are the fields of status that the change drops, at most 50: no findings.
	StatusFields []string

	perField     map[Finding]int
	statusFields sets.Set[string]
}

// Blocks reports whether a finding blocks the change.
func (r *Report) Blocks() bool {
	for i := range r.Findings {
		if r.Findings[i].Severity == Block {
			return true
		}
	}
	return false
}

func (r *Report) add(found ...Finding) {
	if r.perField == nil {
		r.perField = map[Finding]int{}
	}
	for _, f := range found {
		r.Total++
		f.Message = shorten(f.Message)
		group := Finding{Defect: f.Defect, Version: f.Version, Field: withoutIndexes(f.Field)}
		if f.Object != "" {
			r.perField[group]++
		}
		if len(r.Findings) < maxFindings && r.perField[group] <= maxPerField {
			r.Findings = append(r.Findings, f)
		}
	}
}

func (r *Report) addStatusField(path string) {
	if r.statusFields == nil {
		r.statusFields = sets.New[string]()
	}
	path = withoutIndexes(path)
	if len(r.StatusFields) < maxFindings && !r.statusFields.Has(path) {
		r.statusFields.Insert(path)
		r.StatusFields = append(r.StatusFields, path)
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

func withoutIndexes(path string) string { return index.ReplaceAllString(path, "[*]") }

func shorten(text string) string {
	if len(text) <= maxMessageBytes {
		return text
	}
	end := maxMessageBytes
	for end > 0 && text[end]&0xC0 == 0x80 { // never cut a rune
		end--
	}
	return text[:end] + "…"
}
