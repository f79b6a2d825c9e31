// Command kube-apiserver answers for kube-apiserver: flags and feature gates,
// admission plugins and APIs.
package main

import (
	"os"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/pkg/kubeapiserver/options"
	"refit.testbed/ask/answer"
)

type apiServer struct {
	answer.Component
	AdmissionPlugins []plugin `json:"admissionPlugins"`
	RuntimeConfig    []string `json:"runtimeConfig"`
	APIs             []api    `json:"apis"`
}

type plugin struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty"`
}

func main() {
	apis, err := apis(os.Args[1])
	if err != nil {
		answer.Fail(err)
	}
	command := app.NewAPIServerCommand()
	answer.Run(command, func() {
		answer.Print(apiServer{
			Component:        answer.Component{Flags: answer.Flags(command.Flags()), Gates: answer.Gates()},
			AdmissionPlugins: plugins(),
			RuntimeConfig:    groupVersions(),
			APIs:             apis,
		})
	})
}

// plugins are in the order in which they run.
func plugins() []plugin {
	off := options.DefaultOffAdmissionPlugins()
	var all []plugin
	for _, name := range options.AllOrderedPlugins {
		all = append(all, plugin{Name: name, Default: !off.Has(name)})
	}
	return all
}
