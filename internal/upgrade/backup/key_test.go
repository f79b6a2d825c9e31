package backup

import (
	"strings"
	"testing"
)

const (
	testCluster = "11111111-2222-4333-8444-555555555555"
	testUID     = "0a1b2c3d-0000-4000-8000-00000000000a"
	otherUID    = "0a1b2c3d-0000-4000-8000-00000000000b"
)

var testID = ID{UID: testUID, Attempt: 2}

func TestKeyIsParsedBack(t *testing.T) {
	for _, prefix := range []string{"", "clusters", "clusters/prod-1.eu"} {
		key := Key(prefix, testID, PartEtcd)
		id, name, ok := ParseKey(prefix, key)
		if !ok || id != testID || name != PartEtcd {
			t.Errorf("%s: got %v %q %t", key, id, name, ok)
		}
	}
	if got, want := Key("a/b", testID, PartHost), "a/b/"+testUID+"/2/host.tar.zst.age"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestForeignKeysAreIgnored(t *testing.T) {
	for situation, key := range map[string]string{
		"another prefix":             "b/" + testUID + "/1/" + PartEtcd,
		"no attempt":                 "a/" + testUID + "/" + PartEtcd,
		"attempt with leading zero":  "a/" + testUID + "/01/" + PartEtcd,
		"attempt zero":               "a/" + testUID + "/0/" + PartEtcd,
		"attempt beyond the maximum": "a/" + testUID + "/10000/" + PartEtcd,
		"not a UID":                  "a/backup/1/" + PartEtcd,
		"upper case UID":             "a/" + strings.ToUpper(testUID) + "/1/" + PartEtcd,
		"a level deeper":             "a/" + testUID + "/1/x/" + PartEtcd,
		"parent directory":           "a/" + testUID + "/1/..",
		"hidden name":                "a/" + testUID + "/1/.etcd",
		"no name":                    "a/" + testUID + "/1/",
	} {
		if id, name, ok := ParseKey("a", key); ok {
			t.Errorf("%s: %s parsed as %v %s", situation, key, id, name)
		}
	}
}

func TestUnsafePrefixesAreRefused(t *testing.T) {
	for _, prefix := range []string{"/", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a b", "a%2fb", "a\\b", "ä", strings.Repeat("a", 257)} {
		if ValidatePrefix(prefix) == nil {
			t.Errorf("%q is accepted", prefix)
		}
	}
	for _, prefix := range []string{"", "a", "refit/prod_1.eu-west"} {
		if err := ValidatePrefix(prefix); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestManifestNameHoldsItsDigest(t *testing.T) {
	digest := Digest([]byte("x"))
	if got, ok := ManifestDigest(ManifestName(digest)); !ok || got != digest {
		t.Errorf("got %s %t", got, ok)
	}
	for _, name := range []string{"manifest.json", "manifest-abc.json", PartEtcd, ManifestName(digest) + "x"} {
		if _, ok := ManifestDigest(name); ok {
			t.Errorf("%s is taken for a manifest", name)
		}
	}
}
