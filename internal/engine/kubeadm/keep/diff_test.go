package keep

import "testing"

func TestUnifiedDiff(t *testing.T) {
	const text = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"
	for situation, c := range map[string]struct{ after, want string }{
		"unchanged":                  {text, ""},
		"a line is added at the end": {text + "l\n", "--- x\n+++ x\n@@ -9,3 +9,4 @@\n i\n j\n k\n+l\n"},
		"a line is replaced":         {"a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n", "--- x\n+++ x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n"},
		"near changes share a hunk":  {"a\nB\nc\nd\nf\ng\nh\ni\nj\nk\n", "--- x\n+++ x\n@@ -1,8 +1,7 @@\n a\n-b\n+B\n c\n d\n-e\n f\n g\n h\n"},
		"far changes have their own": {"b\nc\nd\ne\nf\ng\nh\ni\nj\nK\n", "--- x\n+++ x\n@@ -1,4 +1,3 @@\n-a\n b\n c\n d\n@@ -8,4 +7,4 @@\n h\n i\n j\n-k\n+K\n"},
	} {
		t.Run(situation, func(t *testing.T) {
			if got, err := unified("x", text, c.after); err != nil || got != c.want {
				t.Errorf("got\n%s\nwant\n%s (%v)", got, c.want, err)
			}
		})
	}
}
