package restore

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"regexp"
	"time"
)

// embedded is the client certificate in a kubeconfig.
var embedded = regexp.MustCompile(`(?m)^\s*client-certificate-data:\s*(\S+)\s*$`)

// certificate returns the first certificate in a file, or nil.
func certificate(f File) *x509.Certificate {
	text := f.Content
	if found := embedded.FindSubmatch(text); found != nil {
		decoded, err := base64.StdEncoding.DecodeString(string(found[1]))
		if err != nil {
			return nil
		}
		text = decoded
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil {
			return parsed
		}
	}
	return nil
}

func expired(f File, now time.Time) bool {
	c := certificate(f)
	return c != nil && c.NotAfter.Before(now)
}

// newer notes that the certificate of the host was issued after the one of the backup.
func newer(was, now File) string {
	backup, present := certificate(was), certificate(now)
	if backup == nil || present == nil || !present.NotBefore.After(backup.NotBefore) {
		return ""
	}
	return fmt.Sprintf("the certificate of this host is newer: it expires %s, and that of the backup %s",
		present.NotAfter.UTC().Format(time.DateOnly), backup.NotAfter.UTC().Format(time.DateOnly))
}
