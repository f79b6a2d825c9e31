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

// byMinor has one entry for each file in data. A file is read when its minor is
// asked for the first time.
var byMinor = sync.OnceValue(func() map[string]func() *Facts {
	entries, err := data.ReadDir("data")
	if err != nil {
		panic(fmt.Sprintf("kubefacts: reading what was embedded: %v", err))
	}
	loaders := map[string]func() *Facts{}
	for _, entry := range entries {
		minor := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), "v"), ".json")
		loaders[minor] = sync.OnceValue(func() *Facts {
			facts := load(entry.Name())
			if older, supported := loaders[before(minor)]; supported {
				facts.APIs = remember(facts, older())
			}
			return facts
		})
	}
	return loaders
})

// load reads one file. It was written by a program and is compiled in: if it cannot
// be read, this build is broken, and every test of the package says so.
func load(name string) *Facts {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("kubefacts: reading %s: %v", name, err))
	}
	var facts Facts
	if err := json.Unmarshal(text, &facts); err != nil {
		panic(fmt.Sprintf("kubefacts: reading %s: %v", name, err))
	}
	return &facts
}

// remember lists what a release knows of APIs, and what only the release before it
// knew: sources forget. A kind that is not served any more was removed by now,
// whatever was planned.
func remember(facts, older *Facts) []API {
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

// For returns the facts about a minor, and whether it is supported. A version of
// the minor, with or without its leading v, names the minor too.
func For(minor string) (*Facts, bool) {
	loader, supported := byMinor()[minorOf(minor)]
	if !supported {
		return nil, false
	}
	return loader(), true
}

// Supported lists the minors that have facts, oldest first.
func Supported() []string {
	minors := make([]string, 0, len(byMinor()))
	for minor := range byMinor() {
		minors = append(minors, minor)
	}
	slices.SortFunc(minors, compareMinors)
	return minors
}

// Minor is the minor that the facts are about: 1.36.
func (f *Facts) Minor() string { return minorOf(f.Version) }

// minorOf cuts "v1.36.3" down to "1.36".
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// compareMinors orders 1.9 before 1.10.
func compareMinors(a, b string) int { return cmp.Compare(minorNumber(a), minorNumber(b)) }

// before is the minor before another: 1.35 of 1.36.
func before(minor string) string { return fmt.Sprintf("1.%d", minorNumber(minor)-1) }

// minorNumber is the part behind the first dot, -1 where there is no number.
func minorNumber(minor string) int {
	_, after, _ := strings.Cut(minor, ".")
	number, err := strconv.Atoi(after)
	if err != nil {
		return -1
	}
	return number
}
