package main

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// `make docs` writes what is out of date.
func TestDocsAreUpToDate(t *testing.T) {
	if err := run(root, true); err != nil {
		t.Error(err)
	}
}

func TestAScreenGetsTheContentOfItsGoldenFile(t *testing.T) {
	goldens := func(name string) (string, error) {
		if name != "a.golden" {
			return "", errors.New("no such file")
		}
		return "one\n\ntwo\nthree\n", nil
	}
	page := "# Page\n<!-- screen: a.golden -->\n```text\nold\n```\nafter\n"
	for name, test := range map[string]struct{ page, want string }{
		"all lines":                 {page, strings.Replace(page, "old\n", "one\n\ntwo\nthree\n", 1)},
		"the first lines":           {strings.Replace(page, ".golden", ".golden head 2", 1), "# Page\n<!-- screen: a.golden head 2 -->\n```text\none\n…\n```\nafter\n"},
		"more lines than there are": {strings.Replace(page, ".golden", ".golden head 9", 1), "# Page\n<!-- screen: a.golden head 9 -->\n```text\none\n\ntwo\nthree\n```\nafter\n"},
		"a page without screens":    {"text\n```\nold\n```\n", "text\n```\nold\n```\n"},
		"an unknown file":           {strings.Replace(page, "a.golden", "b.golden", 1), ""},
		"no file":                   {strings.Replace(page, "a.golden", "", 1), ""},
		"no block":                  {"<!-- screen: a.golden -->\ntext\n", ""},
		"a block without an end":    {"<!-- screen: a.golden -->\n```text\nold\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fill(test.page, goldens)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q and the error %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestThePictureHasTheTextAndTheBars(t *testing.T) {
	svg := string(draw("ESC[1mUpgradeESC[0m of <prod>\n  Workers  ESC[32m██ESC[0mESC[2m░░░ESC[0m  2 of 5\n"))
	for _, want := range []string{
		`<text class="bold" x="20.0" y="35" textLength="58.8">Upgrade</text>`, `of &lt;prod&gt;</text>`, `>Workers</text>`,
		`<rect class="done green" x="112.4" y="45" width="16.8" height="11"/>`, `<rect class="open dim" x="129.2" y="45" width="25.2" height="11"/>`, `>2 of 5</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %s:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "ESC") || strings.Contains(svg, "█") {
		t.Errorf("the picture has codes or characters of a bar:\n%s", svg)
	}
	for reader := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := reader.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// The number of requests in the text is the one of the screens.
func TestReadmeCountsTheRequestsOfItsScreens(t *testing.T) {
	text := read(t, "README.md")
	said := regexp.MustCompile(`few requests: (\d+) for a cluster of five nodes`).FindStringSubmatch(text)
	shown := regexp.MustCompile(`2 workers, .*; read with (\d+) requests`).FindAllStringSubmatch(text, -1)
	if said == nil || len(shown) == 0 {
		t.Fatalf("the text has %v, the screens %v", said, shown)
	}
	for _, screen := range shown {
		if screen[1] != said[1] {
			t.Errorf("the text has %s requests, a screen %s", said[1], screen[1])
		}
	}
}

// A command with its output would go stale: output is a screen, which has a golden file.
func TestOutputOfCommandsIsAScreen(t *testing.T) {
	pages, err := pagesOf(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for i, line := range strings.Split(read(t, page), "\n") {
			if strings.HasPrefix(line, "$ ") {
				t.Errorf("%s:%d: %s: show the command without a prompt, and its output as a screen", page, i+1, line)
			}
		}
	}
}
