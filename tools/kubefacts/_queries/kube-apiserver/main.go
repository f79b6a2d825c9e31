// Command kube-apiserver prints facts about kube-apiserver: flags, feature gates, admission plugins
// and APIs.
package main

import (
	"os"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/pkg/kubeapiserver/options"
	"refit.testbed/query/result"
)

type apiServer struct {
	result.Component
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
		result.Fail(err)
	}
	command := app.NewAPIServerCommand()
	result.Run(command, func() {
		result.Print(apiServer{
			Component:        result.Component{Flags: result.Flags(command.Flags()), Gates: result.Gates()},
			AdmissionPlugins: plugins(),
			RuntimeConfig:    groupVersions(),
			APIs:             apis,
		})
	})
}

// plugins returns the admission plugins in execution order.
func plugins() []plugin {
	off := options.DefaultOffAdmissionPlugins()
	var all []plugin
	for _, name := range options.AllOrderedPlugins {
		all = append(all, plugin{Name: name, Default: !off.Has(name)})
	}
	return all
}
