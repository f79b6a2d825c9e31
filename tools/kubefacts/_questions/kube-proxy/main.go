// Command kube-proxy answers for kube-proxy.
package main

import (
	"reflect"

	configv1alpha1 "k8s.io/kube-proxy/config/v1alpha1"
	"k8s.io/kubernetes/cmd/kube-proxy/app"
	"refit.testbed/ask/answer"
)

type proxy struct {
	answer.Component
	Config []string `json:"config"`
}

func main() {
	command := app.NewProxyCommand()
	answer.Run(command, func() {
		answer.Print(proxy{
			Component: answer.Component{Flags: answer.Flags(command.Flags()), Gates: answer.Gates()},
			Config:    answer.Fields(reflect.TypeFor[configv1alpha1.KubeProxyConfiguration]()),
		})
	})
}
