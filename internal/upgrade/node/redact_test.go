package node

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var hex64 = strings.Repeat("0123456789abcdef", 4)

// secretTexts are texts with a secret, which is the second value.
var secretTexts = map[string][2]string{
	"a bootstrap token":               {"created abcdef.0123456789abcdef for it", "0123456789abcdef"},
	"a field of a configuration":      {"token: sesame\nx: y", "sesame"},
	"a field of JSON":                 {`{"token":"sesame","password": "sesame"}`, "sesame"},
	"a header":                        {"Authorization: Bearer sesame", "sesame"},
	"a header in small letters":       {`"authorization":"bearer sesame"`, "sesame"},
	"a header with a password":        {"Authorization: Basic c2VzYW1l", "c2VzYW1l"},
	"a JSON web token":                {"got eyJhbGciOi.eyJpc3Mi.c2VzYW1l back", "c2VzYW1l"},
	"a private key":                   {"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEsesame\n-----END RSA PRIVATE KEY-----\nb", "sesame"},
	"a private key without its end":   {"a\n-----BEGIN PRIVATE KEY-----\nMIIE\nsesame", "sesame"},
	"a private key without its begin": {"IIEsesame\nAA/sesame=\n-----END EC PRIVATE KEY-----\nb", "sesame"},
	"a private key in a string":       {`"-----BEGIN PRIVATE KEY-----\nMIIEsesame\n-----END PRIVATE KEY-----\n"`, "sesame"},
	"a kubeconfig":                    {"client-key-data: LS0tsesame", "sesame"},
	"a kubeconfig in JSON":            {`{"client-key-data":"LS0tLS1CRUdJTisesame=="}`, "sesame"},
	"a certificate key":               {"use " + hex64 + " to join", hex64},
	"a flag with a certificate key":   {"--certificate-key sesame --v=5", "sesame"},
	"a flag with a token":             {"kubeadm join 10.0.0.1:6443 --token=sesame", "sesame"},
	"a flag with a password":          {"--etcd-password 'sesame' failed", "sesame"},
	"a flag with one dash":            {"curl -password=sesame", "sesame"},
	"an environment":                  {"PROXY_PASSWORD=sesame /usr/bin/x", "sesame"},
	"a URL":                           {`Get "https://jane:sesame@mirror.example/x": EOF`, "sesame"},
	"a URL whose password has an @":   {"https://jane:ses@me@mirror.example/x", "me@"},
	"a URL without a user":            {"http://:sesame@mirror.example", "sesame"},
	"a signed URL":                    {"https://mirror.example/x?X-Amz-Signature=sesame&y=1", "sesame"},
}

func TestRedactRemovesSecrets(t *testing.T) {
	for situation, text := range secretTexts {
		got := Redact(text[0])
		if strings.Contains(got, text[1]) || !strings.Contains(got, redacted) {
			t.Errorf("%s: %q became %q", situation, text[0], got)
		}
		if again := Redact(got); again != got {
			t.Errorf("%s: redacting twice gives %q, once %q", situation, again, got)
		}
	}
}

func TestRedactKeepsOtherText(t *testing.T) {
	for _, text := range []string{
		"registry.k8s.io/etcd:3.6.1@sha256:" + hex64 + " is missing",
		"open /var/lib/refit/store/whole/" + hex64 + ": permission denied",
		`Get "https://10.0.0.1:6443/api/v1/nodes?timeout=10s": dial tcp 10.0.0.1:6443: connect: connection refused`,
		"http://[fd00::1]:6443/readyz and https://jane@mirror.example/x",
		"unknown flag: --pod-infra-container-image\nUsage of it",
		"--tls-private-key-file=/etc/kubernetes/pki/apiserver.key --token-auth-file=/x",
		"secrets \"bootstrap-token-abcdef\" is forbidden",
		"see journalctl -u kubelet.service on the host, fix the cause, then run refit retry",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"",
	} {
		if got := Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestPersistentFailureHasNoSecrets(t *testing.T) {
	for situation, text := range secretTexts {
		f := ManualIntervention("X", errors.New(text[0]), text[0], "output: %s", text[0])
		f.LogTail = text[0]
		persistent := f.Persistent()
		if all := strings.Join([]string{persistent.Message, persistent.Remedy, persistent.LogTail, f.Text()}, "\n"); strings.Contains(all, text[1]) {
			t.Errorf("%s: %s", situation, all)
		}
		if f.LogTail != text[0] || persistent.Err != nil {
			t.Error("the original was modified, or the copy keeps its error")
		}
	}
	// A key is recognized by its first line, which must not be cut off before redaction.
	f := ManualIntervention("X", nil, "", "x")
	f.LogTail = "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("k: sesame\n", refitv1alpha1.MaxLogTail)
	if text, err := json.Marshal(f.Persistent()); err != nil || strings.Contains(string(text), "sesame") {
		t.Errorf("the rest of a long key is not redacted (%v)", err)
	}
}
