package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config has the address of a member, and the files of the client certificate. Without files the
// connection is not encrypted.
type Config struct {
	Endpoints     []string
	CA, Cert, Key string
	// HTTP is the address for plain HTTP requests, if it is another one.
	HTTP string
}

// manifest has the fields of a static pod that are read here.
type manifest struct{ Spec podSpec }

type podSpec struct {
	Containers []container
	Volumes    []struct {
		Name     string
		HostPath *struct{ Path string }
	}
}

type container struct {
	Name         string
	Command      []string
	Args         []string
	VolumeMounts []struct{ Name, MountPath string }
}

// ConfigFromManifest returns the configuration for the member on this host from its static pod.
func ConfigFromManifest(text []byte) (Config, error) {
	var pod manifest
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return Config{}, fmt.Errorf("cannot parse the static pod of etcd: %w", err)
	}
	for _, c := range pod.Spec.Containers {
		flags := flagsOf(append(c.Command, c.Args...))
		if c.Name == "etcd" || flags["listen-client-urls"] != "" {
			return configFromFlags(flags, pod.Spec.onHost(c))
		}
	}
	return Config{}, errors.New("cannot find etcd in its static pod: no such container")
}

// ExternalConfigFromManifest returns the configuration for an external etcd from the static pod of
// the API server: its endpoints and its client certificate.
func ExternalConfigFromManifest(text []byte) (Config, error) {
	var pod manifest
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return Config{}, fmt.Errorf("cannot parse the static pod of the API server: %w", err)
	}
	for _, c := range pod.Spec.Containers {
		flags := flagsOf(append(c.Command, c.Args...))
		if flags["etcd-servers"] == "" {
			continue
		}
		onHost := pod.Spec.onHost(c)
		config := Config{CA: onHost(flags["etcd-cafile"]), Cert: onHost(flags["etcd-certfile"]), Key: onHost(flags["etcd-keyfile"])}
		for raw := range strings.SplitSeq(flags["etcd-servers"], ",") {
			at, err := clientURL(raw)
			if err != nil {
				return Config{}, fmt.Errorf("cannot parse etcd-servers of the API server: %w", err)
			}
			if at.Scheme == "https" && (config.CA == "" || config.Cert == "" || config.Key == "") {
				return Config{}, errors.New("cannot find the CA, certificate or key for etcd in the static pod of the API server")
			}
			config.Endpoints = append(config.Endpoints, at.Scheme+"://"+at.Host)
		}
		return config, nil
	}
	return Config{}, errors.New("the static pod of the API server has no etcd-servers")
}

// OnLoopback reports whether every endpoint is an address of loopback.
func (c Config) OnLoopback() bool {
	return !slices.ContainsFunc(c.Endpoints, func(endpoint string) bool {
		u, err := url.Parse(endpoint)
		return err != nil || !loopback(u)
	})
}

// onHost returns a function that returns the path on the host of a path in a container.
func (s *podSpec) onHost(c container) func(string) string {
	return func(inPod string) string {
		for _, m := range c.VolumeMounts {
			rest, below := strings.CutPrefix(inPod, strings.TrimSuffix(m.MountPath, "/")+"/")
			for _, v := range s.Volumes {
				if below && v.Name == m.Name && v.HostPath != nil {
					return filepath.Join(v.HostPath.Path, rest)
				}
			}
		}
		return inPod
	}
}

func flagsOf(args []string) map[string]string {
	flags := map[string]string{}
	for _, arg := range args {
		if name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "="); ok && strings.HasPrefix(arg, "-") {
			flags[name] = strings.Trim(value, `"`)
		}
	}
	return flags
}

func configFromFlags(flags map[string]string, onHost func(string) string) (Config, error) {
	local, err := nearest(flags["listen-client-urls"])
	if err != nil {
		return Config{}, fmt.Errorf("cannot parse listen-client-urls of etcd: %w", err)
	}
	config := Config{Endpoints: []string{local}}
	if other := flags["listen-client-http-urls"]; other != "" {
		if config.HTTP, err = nearest(other); err != nil {
			return Config{}, fmt.Errorf("cannot parse listen-client-http-urls of etcd: %w", err)
		}
	}
	if !strings.HasPrefix(local, "https://") {
		return config, nil
	}
	config.CA, config.Cert, config.Key = onHost(flags["trusted-ca-file"]), onHost(flags["cert-file"]), onHost(flags["key-file"])
	if config.CA == "" || config.Cert == "" || config.Key == "" {
		return Config{}, errors.New("cannot find the CA, certificate or key in the static pod of etcd")
	}
	// kubeadm creates a certificate for clients. Without it, the certificate of the member usually
	// works.
	client := path.Join(path.Dir(config.CA), "healthcheck-client")
	if exists(client+".crt") && exists(client+".key") {
		config.Cert, config.Key = client+".crt", client+".key"
	}
	return config, nil
}

// nearest returns a URL on this host: loopback before others, and loopback for a member that
// listens on all addresses.
func nearest(list string) (string, error) {
	var first string
	for raw := range strings.SplitSeq(list, ",") {
		u, err := clientURL(raw)
		if err != nil {
			return "", err
		}
		ip := net.ParseIP(u.Hostname())
		switch {
		case ip != nil && ip.IsUnspecified():
			local := "127.0.0.1"
			if ip.To4() == nil {
				local = "::1"
			}
			return u.Scheme + "://" + net.JoinHostPort(local, u.Port()), nil
		case loopback(u):
			return u.Scheme + "://" + u.Host, nil
		case first == "":
			first = u.Scheme + "://" + u.Host
		}
	}
	if first == "" {
		return "", errors.New("the list is empty")
	}
	return first, nil
}

func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

func clientURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, err
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return nil, fmt.Errorf("%q is not a client URL", raw)
	}
	return u, nil
}

func exists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
