package sample

import (
	"net/http"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
)

func TestDirectIgnoresTheProxyOfTheEnvironment(t *testing.T) {
	own := &url.URL{Scheme: "http", Host: "proxy.example"}
	tests := map[string]struct {
		proxy func(*http.Request) (*url.URL, error)
		want  *url.URL
	}{
		"the config names no proxy": {nil, nil},
		"the config names a proxy":  {http.ProxyURL(own), own},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			c := direct(&rest.Config{Host: "https://api.example", Proxy: tt.proxy})
			if c.Proxy == nil {
				t.Fatal("client-go would take the proxy from the environment")
			}
			if got, err := c.Proxy(nil); err != nil || got != tt.want {
				t.Errorf("the proxy is %v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

func TestConfigMapURL(t *testing.T) {
	tests := map[string]struct {
		api  rest.Config
		want string
	}{
		"URL":                      {rest.Config{Host: "https://10.0.0.1:6443"}, "https://10.0.0.1:6443/api/v1/namespaces/ns/configmaps/cm"},
		"URL with a path":          {rest.Config{Host: "https://hub.example/clusters/a/"}, "https://hub.example/clusters/a/api/v1/namespaces/ns/configmaps/cm"},
		"host and port, with a CA": {rest.Config{Host: "10.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAFile: "ca.crt"}}, "https://10.0.0.1:6443/api/v1/namespaces/ns/configmaps/cm"},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			if got, err := configMapURL(&tt.api, "ns", "cm"); err != nil || got != tt.want {
				t.Errorf("the URL is %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}
