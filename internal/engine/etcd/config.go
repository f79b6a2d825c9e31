package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config is where a member answers, and the files with which a client shows who it is. Without files the connection is not encrypted.
type Config struct {
	Endpoints     []string
	CA, Cert, Key string
	// HTTP is where the member answers plain HTTP requests, if that is elsewhere.
	HTTP string
}

// manifest is what we read of a static pod.
type manifest struct {
	Spec struct {
		Containers []struct {
			Name         string
			Command      []string
			Args         []string
			VolumeMounts []struct{ Name, MountPath string }
		}
		Volumes []struct {
			Name     string
			HostPath *struct{ Path string }
		}
	}
}

// ConfigFromManifest finds out from etcd's own static pod how its member is asked from the same host.
func ConfigFromManifest(text []byte) (Config, error) {
	var pod manifest
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return Config{}, fmt.Errorf("reading the static pod of etcd: %w", err)
	}
	for _, c := range pod.Spec.Containers {
		flags := flagsOf(append(c.Command, c.Args...))
		if c.Name != "etcd" && flags["listen-client-urls"] == "" {
			continue
		}
		onHost := func(inPod string) string {
			for _, m := range c.VolumeMounts {
				rest, below := strings.CutPrefix(inPod, strings.TrimSuffix(m.MountPath, "/")+"/")
				for _, v := range pod.Spec.Volumes {
					if below && v.Name == m.Name && v.HostPath != nil {
						return filepath.Join(v.HostPath.Path, rest)
					}
				}
			}
			return inPod
		}
		return configFromFlags(flags, onHost)
	}
	return Config{}, errors.New("no container of the static pod is etcd")
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
		return Config{}, fmt.Errorf("reading listen-client-urls of etcd: %w", err)
	}
	config := Config{Endpoints: []string{local}}
	if other := flags["listen-client-http-urls"]; other != "" {
		if config.HTTP, err = nearest(other); err != nil {
			return Config{}, fmt.Errorf("reading listen-client-http-urls of etcd: %w", err)
		}
	}
	if !strings.HasPrefix(local, "https://") {
		return config, nil
	}
	config.CA, config.Cert, config.Key = onHost(flags["trusted-ca-file"]), onHost(flags["cert-file"]), onHost(flags["key-file"])
	if config.CA == "" || config.Cert == "" || config.Key == "" {
		return Config{}, errors.New("the static pod of etcd names no CA, certificate or key")
	}
	// kubeadm makes a certificate for clients. Where somebody else made them, the member's own usually serves.
	client := path.Join(path.Dir(config.CA), "healthcheck-client")
	if exists(client+".crt") && exists(client+".key") {
		config.Cert, config.Key = client+".crt", client+".key"
	}
	return config, nil
}

// nearest is that of some URLs which is surely on this host: loopback before others, and for one that listens everywhere, loopback.
func nearest(list string) (string, error) {
	var first string
	for raw := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(raw))
		if err != nil {
			return "", err
		}
		if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			return "", fmt.Errorf("%q is no address of a client", raw)
		}
		ip := net.ParseIP(u.Hostname())
		switch {
		case ip != nil && ip.IsUnspecified():
			loopback := "127.0.0.1"
			if ip.To4() == nil {
				loopback = "::1"
			}
			return u.Scheme + "://" + net.JoinHostPort(loopback, u.Port()), nil
		case u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback()):
			return u.Scheme + "://" + u.Host, nil
		case first == "":
			first = u.Scheme + "://" + u.Host
		}
	}
	if first == "" {
		return "", errors.New("it is empty")
	}
	return first, nil
}

func exists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
