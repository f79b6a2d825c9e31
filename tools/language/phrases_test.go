package main

import (
	"os"
	"testing"
)

const (
	phrasesFile = "phrases.yaml"
	ruleFile    = "../../.vale/styles/Refit/Words.yml"
)

func TestEachPhraseMatchesItsExample(t *testing.T) {
	for _, p := range phrases(t).Phrases {
		if !p.pattern.MatchString(p.Example) {
			t.Errorf("%q does not match %q", p.Not, p.Example)
		}
	}
}

func TestTheValeRuleIsUpToDate(t *testing.T) {
	want := rule(phrases(t))
	got, err := os.ReadFile(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("the Vale rule differs from phrases.yaml: run `make generate`")
	}
}

func phrases(t *testing.T) *list {
	t.Helper()
	l, err := readList(phrasesFile)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
