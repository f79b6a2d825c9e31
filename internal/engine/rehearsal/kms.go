package rehearsal

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// kmsTimeout bounds a connection to a KMS plugin on this host.
const kmsTimeout = 5 * time.Second

// kms returns a finding for each KMS plugin that the API server of a rehearsal cannot reach. Its
// socket is the one part of the live host that a rehearsal uses: without it, no Secret can be read.
// A configuration that cannot be parsed is left to the API server, which reports it.
func kms(ctx context.Context, m rehearsal.Manifest) ([]rehearsal.Finding, error) {
	file, ok := m.HostPath(m.Flag("encryption-provider-config"))
	if !ok {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the encryption configuration: %w", err)
	}
	var findings []rehearsal.Finding
	for _, endpoint := range kmsEndpoints(text) {
		socket := strings.TrimPrefix(endpoint, "unix://")
		host, mounted := m.HostPath(socket)
		if mounted && accepts(ctx, host) {
			continue
		}
		findings = append(findings, rehearsal.Finding{
			Reason: rehearsal.KMSUnavailable, Object: endpoint, Unknown: true,
			Message: "the encryption configuration names a KMS plugin that accepts no connections on this host",
			Remedy:  "Start the KMS plugin on this host and mount the directory of its socket, or rehearse on another control plane node",
		})
	}
	return findings, nil
}

// accepts reports whether a process listens on a socket: the file outlives the process.
func accepts(ctx context.Context, socket string) bool {
	conn, err := (&net.Dialer{Timeout: kmsTimeout}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// kmsEndpoints returns the endpoints of the KMS plugins in an EncryptionConfiguration.
func kmsEndpoints(text []byte) []string {
	var config struct {
		Resources []struct {
			Providers []struct {
				KMS *struct {
					Endpoint string `json:"endpoint"`
				} `json:"kms"`
			} `json:"providers"`
		} `json:"resources"`
	}
	if yaml.Unmarshal(text, &config) != nil {
		return nil
	}
	var found []string
	for _, resource := range config.Resources {
		for _, provider := range resource.Providers {
			if provider.KMS != nil {
				found = append(found, provider.KMS.Endpoint)
			}
		}
	}
	return found
}
