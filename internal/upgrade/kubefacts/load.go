package kubefacts

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/v*.json
var data embed.FS

// byMinor has an entry for each file in data. A file is read on first use.
var byMinor = sync.OnceValue(func() map[string]func() *Facts {
	entries, err := data.ReadDir("data")
	if err != nil {
		panic(fmt.Sprintf("kubefacts: cannot read the embedded data: %v", err))
	}
	loaders := map[string]func() *Facts{}
	for _, entry := range entries {
		minor := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), "v"), ".json")
		loaders[minor] = sync.OnceValue(func() *Facts {
			facts := load(entry.Name())
			if older, supported := loaders[previousMinor(minor)]; supported {
				facts.APIs = withRemovedAPIs(facts, older())
			}
			return facts
		})
	}
	return loaders
})

// load reads one file. The files are generated and embedded, so a failure is a broken build, which
// every test of the package detects.
func load(name string) *Facts {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("kubefacts: cannot read %s: %v", name, err))
	}
	var facts Facts
	if err := json.Unmarshal(text, &facts); err != nil {
		panic(fmt.Sprintf("kubefacts: cannot read %s: %v", name, err))
	}
	return &facts
}

// withRemovedAPIs lists the APIs of a release, and those that only the source of the previous
// release contains. A kind that is no longer served was removed, whatever was planned.
func withRemovedAPIs(facts, older *Facts) []API {
	apis := slices.Clone(facts.APIs)
	for _, api := range older.APIs {
		if _, known := facts.API(api.GVK()); known {
			continue
		}
		if api.Removed == "" || compareMinors(api.Removed, facts.Minor()) > 0 {
			api.Removed = facts.Minor()
		}
		api.Served, api.Default = false, false
		apis = append(apis, api)
	}
	slices.SortFunc(apis, func(a, b API) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	return apis
}

// For returns the facts about a minor version, and whether it is supported. A patch version, with
// or without its leading v, stands for its minor version.
func For(minor string) (*Facts, bool) {
	loader, supported := byMinor()[minorOf(minor)]
	if !supported {
		return nil, false
	}
	return loader(), true
}

// Supported lists the supported minor versions, the oldest first.
func Supported() []string {
	minors := make([]string, 0, len(byMinor()))
	for minor := range byMinor() {
		minors = append(minors, minor)
	}
	slices.SortFunc(minors, compareMinors)
	return minors
}

// Minor is the minor version of the facts: 1.36.
func (f *Facts) Minor() string { return minorOf(f.Version) }

// minorOf returns "1.36" for "v1.36.3".
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// compareMinors orders 1.9 before 1.10.
func compareMinors(a, b string) int { return cmp.Compare(minorNumber(a), minorNumber(b)) }

// previousMinor returns "1.35" for "1.36".
func previousMinor(minor string) string { return fmt.Sprintf("1.%d", minorNumber(minor)-1) }

// minorNumber is the number after the first dot, -1 if there is none.
func minorNumber(minor string) int {
	_, after, _ := strings.Cut(minor, ".")
	number, err := strconv.Atoi(after)
	if err != nil {
		return -1
	}
	return number
}
