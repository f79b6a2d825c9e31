package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every fenced block names its language and is valid in it.
func TestCodeBlocksAreValid(t *testing.T) {
	pages, err := pagesOf(root)
	if err != nil {
		t.Fatal(err)
	}
	counts, total := map[string]int{}, 0
	for _, page := range pages {
		blocks, err := blocksOf(read(t, page))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		for _, b := range blocks {
			counts[b.language]++
			total++
			if err := b.check(t.Context()); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
	t.Logf("%d blocks of %d pages: %v", total, len(pages), counts)
	if total < 100 {
		t.Errorf("found %d blocks: this test looks at the wrong place", total)
	}
}

func TestInvalidCodeBlocksAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		page  string
		valid bool
	}{
		"shell":                   {"```bash\nfor a in b; do\n  echo $a   # all\ndone\n```\n", true},
		"shell without an end":    {"```bash\nfor a in b; do\n```\n", false},
		"yaml of two documents":   {"```yaml\na: 1\n---\nb: 2\n```\n", true},
		"yaml with a tab":         {"```yaml\na:\n\tb: 1\n```\n", false},
		"yaml with a key twice":   {"```yaml\na: 1\na: 2\n```\n", false},
		"json":                    {"```json\n{\"a\": 1}\n```\n", true},
		"json with a comma":       {"```json\n{\"a\": 1,}\n```\n", false},
		"text":                    {"```text\nif (\n```\n", true},
		"no language":             {"```\ntext\n```\n", false},
		"an unknown language":     {"```shel\ntext\n```\n", false},
		"a block in a list":       {"- item\n\n  ```yaml\n  a:\n  - 1\n  ```\n", true},
		"a bad block in a list":   {"- item\n\n  ```bash\n  if\n  ```\n", false},
		"a block without its end": {"```text\ntext\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			blocks, err := blocksOf(test.page)
			for _, b := range blocks {
				err = errors.Join(err, b.check(t.Context()))
			}
			if (err == nil) != test.valid {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// block is a fenced code block.
type block struct {
	language, text string
	line           int
}

func blocksOf(page string) ([]block, error) {
	var blocks []block
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		content := strings.TrimLeft(lines[i], " ")
		if !strings.HasPrefix(content, fence) {
			continue
		}
		indent := lines[i][:len(lines[i])-len(content)]
		b := block{language: strings.TrimPrefix(content, fence), line: i + 1}
		for i++; ; i++ {
			if i == len(lines) {
				return blocks, fmt.Errorf("line %d: the block has no end", b.line)
			}
			if lines[i] == indent+fence {
				break
			}
			b.text += strings.TrimPrefix(lines[i], indent) + "\n"
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func (b block) check(ctx context.Context) error {
	switch b.language {
	case "text", "go":
		return nil
	case "bash":
		cmd := exec.CommandContext(ctx, "bash", "-n")
		cmd.Stdin = strings.NewReader(b.text)
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	case "yaml":
		return decodes(yaml.NewDecoder(strings.NewReader(b.text)))
	case "json":
		return decodes(json.NewDecoder(bytes.NewBufferString(b.text)))
	}
	return fmt.Errorf("the block has the language %q, want text, bash, yaml, json or go", b.language)
}

// decodes reads all documents.
func decodes(decoder interface{ Decode(any) error }) error {
	for {
		var document any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
