package rehearsal

// Difference is a flag that differs from the manifest, because its value would reach the live
// cluster or cannot work without a network. All other flags stay as they are.
type Difference struct {
	Flag string
	// Value is the value in a rehearsal; "" removes the flag.
	Value string
	// Reason is part of the documentation.
	Reason string
}

// apply returns the arguments of a manifest with the differences, which come last.
func (m Manifest) apply(differences []Difference) []string {
	replaced := map[string]bool{}
	for _, d := range differences {
		replaced[d.Flag] = true
	}
	var words []string
	for _, f := range parseFlags(m.Command) {
		if replaced[f.name] {
			continue
		}
		for _, word := range f.words {
			words = append(words, m.expand(word))
		}
	}
	for _, d := range differences {
		if d.Value != "" {
			words = append(words, "--"+d.Flag+"="+d.Value)
		}
	}
	return words
}
