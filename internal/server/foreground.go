package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/certificate"
	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/internal/server/protect"
)

// DefaultListen is the address that the server listens on.
const DefaultListen = "127.0.0.1:8443"

// Foreground serves the cluster of a kubeconfig for the person who has it.
type Foreground struct {
	Listen           string
	Directory        string // empty: one for each cluster in the directory of the user's state
	Certificate, Key string // files; empty: a certificate of the server's own
	AllowedHosts     []string
	AgentSocket      string // of the agent on this host, which may have none
	Issuer           oidc.Options
	Version          string // of Refit
}

// Started is what the person needs to know about a server that has started.
type Started struct {
	Cluster     string
	URL         string
	Code        string // empty unless the server listens on a loopback address
	Fingerprint string // of the certificate, SHA-256
	Directory   string
}

// Check validates the options.
func (f *Foreground) Check() error {
	host, _, err := net.SplitHostPort(f.Listen)
	switch {
	case err != nil:
		return fmt.Errorf("--listen: %q is not an address with a port, such as %s", f.Listen, DefaultListen)
	case (f.Certificate == "") != (f.Key == ""):
		return errors.New("--tls-cert and --tls-key belong together: set both or none")
	case isWildcard(host) && len(f.AllowedHosts) == 0:
		return fmt.Errorf("--listen %s: set --allowed-host to the names that browsers use for this host", f.Listen)
	}
	for _, host := range f.AllowedHosts {
		if host == "" || strings.ContainsAny(host, "/*: ") && net.ParseIP(host) == nil {
			return fmt.Errorf("--allowed-host: %q is not a name or an address", host)
		}
	}
	return f.Issuer.Check()
}

func isWildcard(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Serve serves until the context ends. It reports the start.
func (f *Foreground) Serve(ctx context.Context, cluster *operations.Cluster, config *rest.Config, log *slog.Logger, report func(Started)) error {
	directory, err := f.directory(cluster.Name, config.Host)
	if err != nil {
		return err
	}
	unlock, err := lock(directory)
	if err != nil {
		return fmt.Errorf("another server uses %s: %w. Stop it, or set --state-dir", directory, err)
	}
	defer unlock()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w. Choose another address with --listen", f.Listen, err)
	}
	defer listener.Close()
	host, hosts := f.hosts()
	source, err := f.source(directory, hosts, cluster, log)
	if err != nil {
		return err
	}
	s, err := New(Options{
		Cluster: cluster, Config: config, Directory: directory, Hosts: hosts, OneTimeCodes: isLoopback(host),
		AgentSocket: f.AgentSocket, Issuer: f.Issuer, Log: log, Version: f.Version,
	})
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // an address of TCP has a port
	started := Started{
		Cluster: cluster.Name, URL: "https://" + net.JoinHostPort(cmp.Or(host, hosts[0]), port) + "/", Fingerprint: source.Fingerprint(), Directory: directory,
	}
	if isLoopback(host) {
		started.Code = s.NewCode()
	}
	report(started)
	return s.Run(ctx, listener, source.Config())
}

// hosts returns the host of the URL, empty if it is any, and the hosts that the server answers for.
func (f *Foreground) hosts() (host string, all []string) {
	host, _, _ = net.SplitHostPort(f.Listen) // checked
	all = append(all, f.AllowedHosts...)
	switch {
	case isLoopback(host):
		all = append(all, "localhost", "127.0.0.1", "::1")
	case isWildcard(host):
		return "", all
	}
	if host = protect.HostOf(host); !slices.Contains(all, host) {
		all = append(all, host)
	}
	return host, all
}

func (f *Foreground) source(directory string, hosts []string, cluster *operations.Cluster, log *slog.Logger) (*certificate.Source, error) {
	if f.Certificate == "" {
		return certificate.Own(directory, hosts, cluster.Now)
	}
	return certificate.Files(f.Certificate, f.Key, cluster.Now, func(err error) {
		log.Error("the changed certificate is not used", "error", err)
	})
}

// directory returns the directory of the server, and creates it.
func (f *Foreground) directory(cluster, host string) (string, error) {
	directory := f.Directory
	if directory == "" {
		state, err := stateDirectory()
		if err != nil {
			return "", fmt.Errorf("cannot find a directory for the server: %w. Set --state-dir", err)
		}
		sum := sha256.Sum256([]byte(cluster + "\n" + host)) // two clusters never share one
		directory = filepath.Join(state, "refit", "serve", hex.EncodeToString(sum[:8]))
	}
	directory, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	if err := durable.MkdirAll(directory, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the directory of the server: %w. Set --state-dir", err)
	}
	return directory, nil
}

// stateDirectory is the directory for the state of commands, by the XDG specification.
func stateDirectory() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return state, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}
