package plaintext_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/plaintext"
)

func TestEscapedDocumentShowsEverythingAndMeansTheSame(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                            "plain",
		"letters and signs of the world":   "über → … 日本",
		"an escape sequence":               "\x1b[31m",
		"a C1 control character":           "\u009b31m",
		"what turns text around":           "\u202e\u2066",
		"what has no width":                "\ufeff\u200b\u2028",
		"what is unseen beyond the plane":  "\U000e0041",
		"a sign beyond the plane":          "𝄞",
		"line breaks and what HTML quotes": "<a> & b\nline",
	} {
		t.Run(name, func(t *testing.T) {
			var buffer bytes.Buffer
			encoder := json.NewEncoder(&buffer)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(text); err != nil {
				t.Fatal(err)
			}
			escaped := plaintext.EscapeJSON(buffer.Bytes())
			if bytes.ContainsFunc(escaped, plaintext.Unseen) {
				t.Errorf("it still has what is unseen: %q", escaped)
			}
			var again string
			if err := json.Unmarshal(escaped, &again); err != nil || again != text {
				t.Errorf("it reads %q, want %q (%v)", again, text, err)
			}
		})
	}
}

func TestDocumentWithoutAnythingUnseenIsLeftAsItIs(t *testing.T) {
	document := []byte("{\"a\": \"über\"}\n")
	if escaped := plaintext.EscapeJSON(document); &escaped[0] != &document[0] {
		t.Error("it was copied")
	}
}
