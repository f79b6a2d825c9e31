// Command kube-controller-manager prints facts about kube-controller-manager.
package main

import (
	"slices"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"refit.testbed/query/result"
)

type controllerManager struct {
	result.Component
	Controllers []controller `json:"controllers"`
}

type controller struct {
	Name    string   `json:"name"`
	Default bool     `json:"default,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
}

func main() {
	command := app.NewControllerManagerCommand()
	result.Run(command, func() {
		result.Print(controllerManager{
			Component:   result.Component{Flags: result.Flags(command.Flags()), Gates: result.Gates()},
			Controllers: controllers(),
		})
	})
}

func controllers() []controller {
	off := app.ControllersDisabledByDefault()
	aliases := map[string][]string{}
	for alias, name := range app.ControllerAliases() {
		aliases[name] = append(aliases[name], alias)
	}
	var all []controller
	for _, name := range slices.Sorted(slices.Values(app.KnownControllers())) {
		slices.Sort(aliases[name])
		all = append(all, controller{Name: name, Default: !slices.Contains(off, name), Aliases: aliases[name]})
	}
	return all
}
