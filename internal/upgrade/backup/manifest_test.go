package backup

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const testRecipient = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"

func testManifest() *Manifest {
	return &Manifest{
		Format: Format, ClusterUID: testCluster, BackupUID: testUID, Attempt: 2,
		Time: time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC), EtcdVersion: "3.6.6", Revision: 41,
		Parts: []Part{
			{Name: PartEtcd, Stored: Content{300, Digest([]byte("a"))}, Plain: Content{900, Digest([]byte("b"))}},
			{Name: PartHost, Stored: Content{200, Digest([]byte("c"))}, Plain: Content{400, Digest([]byte("d"))}},
		},
		Recipients: []string{testRecipient},
	}
}

func encoded(t *testing.T, m *Manifest) string {
	t.Helper()
	raw, _, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestManifestIsDecodedBack(t *testing.T) {
	raw, digest, err := testManifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeManifest(raw, digest)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, testManifest()) {
		t.Errorf("got %+v", got)
	}
	if got.StoredSize() != 500 {
		t.Errorf("stored size %d", got.StoredSize())
	}
}

func TestManifestHasOneEncoding(t *testing.T) {
	text := encoded(t, testManifest())
	for situation, changed := range map[string]string{
		"unknown field":         strings.Replace(text, `"format": 1,`, `"format": 1, "also": 2,`, 1),
		"duplicate field":       strings.Replace(text, `"attempt": 2,`, "\"attempt\": 2,\n  \"attempt\": 2,", 1),
		"field in another case": strings.Replace(text, `"attempt"`, `"Attempt"`, 1),
		"data after the end":    text + "{}\n",
		"spaces after the end":  text + " ",
		"no final newline":      strings.TrimSuffix(text, "\n"),
		"compact":               strings.ReplaceAll(text, "\n", ""),
		"time of another zone":  strings.Replace(text, "10:00:00Z", "11:00:00+01:00", 1),
		"fraction of a second":  strings.Replace(text, "10:00:00Z", "10:00:00.5Z", 1),
		"explicit zero":         strings.Replace(text, `"revision": 41`, `"revision": 0`, 1),
		"escaped letter":        strings.Replace(text, "3.6.6", `3.6.\u0036`, 1),
		"not JSON":              "manifest",
		"empty":                 "",
		"too large":             text + strings.Repeat(" ", MaxManifest),
	} {
		if changed == text {
			t.Fatalf("%s: the manifest is unchanged", situation)
		}
		if _, err := DecodeManifest([]byte(changed), Digest([]byte(changed))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestManifestWithAnotherDigestIsRefused(t *testing.T) {
	raw, _, err := testManifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeManifest(raw, Digest([]byte("other"))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestManifestOfALaterVersionIsNotCorrupt(t *testing.T) {
	text := strings.Replace(encoded(t, testManifest()), `"format": 1,`, `"format": 2, "also": 2,`, 1)
	if _, err := DecodeManifest([]byte(text), Digest([]byte(text))); !errors.Is(err, ErrFormat) || errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidManifestsAreNotWritten(t *testing.T) {
	for situation, change := range map[string]func(*Manifest){
		"newer format":          func(m *Manifest) { m.Format = 2 },
		"no cluster":            func(m *Manifest) { m.ClusterUID = "" },
		"no backup":             func(m *Manifest) { m.BackupUID = "x" },
		"no attempt":            func(m *Manifest) { m.Attempt = 0 },
		"no time":               func(m *Manifest) { m.Time = time.Time{} },
		"fraction of a second":  func(m *Manifest) { m.Time = m.Time.Add(time.Millisecond) },
		"time of another zone":  func(m *Manifest) { m.Time = m.Time.In(time.FixedZone("x", 3600)) },
		"version with a v":      func(m *Manifest) { m.EtcdVersion = "v3.6.6" },
		"long version":          func(m *Manifest) { m.EtcdVersion = "3.6.6-" + strings.Repeat("x", 65) },
		"negative revision":     func(m *Manifest) { m.Revision = -1 },
		"no parts":              func(m *Manifest) { m.Parts = nil },
		"no part of etcd":       func(m *Manifest) { m.Parts = m.Parts[1:] },
		"parts out of order":    func(m *Manifest) { m.Parts[0], m.Parts[1] = m.Parts[1], m.Parts[0] },
		"repeated part":         func(m *Manifest) { m.Parts[1] = m.Parts[0] },
		"unknown part":          func(m *Manifest) { m.Parts[1].Name = "../../other" },
		"empty part":            func(m *Manifest) { m.Parts[0].Stored.Size = 0 },
		"part beyond the limit": func(m *Manifest) { m.Parts[0].Plain.Size = MaxPart + 1 },
		"part without digest":   func(m *Manifest) { m.Parts[1].Plain.Digest = "" },
		"no recipients":         func(m *Manifest) { m.Recipients = nil },
		"repeated recipient":    func(m *Manifest) { m.Recipients = append(m.Recipients, testRecipient) },
		"too many recipients":   func(m *Manifest) { m.Recipients = make([]string, MaxRecipients+1) },
	} {
		m := testManifest()
		change(m)
		if _, _, err := m.Encode(); err == nil {
			t.Errorf("%s: accepted", situation)
		}
	}
}

func TestPastedSecretKeyIsNotRepeated(t *testing.T) {
	const secret = "AGE-SECRET-KEY-1QQQQQQ"
	if err := ValidateRecipients([]string{secret}); err == nil || strings.Contains(err.Error(), "QQQ") {
		t.Errorf("got %v", err)
	}
}
