package document

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONKeepsWhatItEscapes(t *testing.T) {
	for _, text := range []string{"plain", "über → …", "\x1b[31m", "\u009b\u202e\u2066\ufeff", "<a> & b", "line\nline", "\u2028"} {
		out, err := JSON(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(out), "\x1b\u009b\u202e\u2066\ufeff\u2028") {
			t.Errorf("%q came through in %q", text, out)
		}
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil || back["text"] != text {
			t.Errorf("%q came back as %q, %v", text, back["text"], err)
		}
	}
}
