package plaintext_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/plaintext"
)

func TestEscapedDocumentIsPrintableAndDecodesToTheSameValue(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                         "plain",
		"non-ASCII letters and symbols": "über → … 日本",
		"escape sequence":               "\x1b[31m",
		"C1 control character":          "\u009b31m",
		"bidirectional controls":        "\u202e\u2066",
		"zero-width characters":         "\ufeff\u200b\u2028",
		"unprintable outside the BMP":   "\U000e0041",
		"printable outside the BMP":     "𝄞",
		"line breaks and HTML":          "<a> & b\nline",
	} {
		t.Run(name, func(t *testing.T) {
			var buffer bytes.Buffer
			encoder := json.NewEncoder(&buffer)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(text); err != nil {
				t.Fatal(err)
			}
			escaped := plaintext.EscapeJSON(buffer.Bytes())
			if bytes.ContainsFunc(escaped, plaintext.Unprintable) {
				t.Errorf("unprintable characters remain: %q", escaped)
			}
			var again string
			if err := json.Unmarshal(escaped, &again); err != nil || again != text {
				t.Errorf("got %q, want %q (%v)", again, text, err)
			}
		})
	}
}

func TestPrintableDocumentIsNotCopied(t *testing.T) {
	document := []byte("{\"a\": \"über\"}\n")
	if escaped := plaintext.EscapeJSON(document); &escaped[0] != &document[0] {
		t.Error("it was copied")
	}
}
