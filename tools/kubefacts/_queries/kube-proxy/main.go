// Command kube-proxy prints facts about kube-proxy.
package main

import (
	"reflect"

	configv1alpha1 "k8s.io/kube-proxy/config/v1alpha1"
	"k8s.io/kubernetes/cmd/kube-proxy/app"
	"refit.testbed/query/result"
)

type proxy struct {
	result.Component
	Config []string `json:"config"`
}

func main() {
	command := app.NewProxyCommand()
	result.Run(command, func() {
		result.Print(proxy{
			Component: result.Component{Flags: result.Flags(command.Flags()), Gates: result.Gates()},
			Config:    result.Fields(reflect.TypeFor[configv1alpha1.KubeProxyConfiguration]()),
		})
	})
}
