package server

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/operations"
)

func TestAPIServersAreQueriedWithTheCredentialsOfTheServerForItselfOnly(t *testing.T) {
	config := &rest.Config{Host: "https://10.0.0.1:6443", BearerToken: "own"}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	own := Options{Config: config, Cluster: &operations.Cluster{APIServers: servers}}
	direct := observeOptions(own, config, nil).Direct
	if direct == nil || direct.WrapTransport != nil || direct.Dial != nil || direct.BearerToken != "own" {
		t.Errorf("the own direct configuration is %+v", direct)
	}
	if observeOptions(own, rest.AnonymousClientConfig(config), nil).Direct != nil {
		t.Error("a caller uses the credentials of the server")
	}
	own.Cluster.APIServers = nil
	if observeOptions(own, config, nil).Direct != nil {
		t.Error("there is another configuration without other API servers")
	}
}
