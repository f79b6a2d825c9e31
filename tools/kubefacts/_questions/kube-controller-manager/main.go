// Command kube-controller-manager answers for kube-controller-manager.
package main

import (
	"slices"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"refit.testbed/ask/answer"
)

type controllerManager struct {
	answer.Component
	Controllers []controller `json:"controllers"`
}

type controller struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty"`
}

func main() {
	command := app.NewControllerManagerCommand()
	answer.Run(command, func() {
		answer.Print(controllerManager{
			Component:   answer.Component{Flags: answer.Flags(command.Flags()), Gates: answer.Gates()},
			Controllers: controllers(),
		})
	})
}

func controllers() []controller {
	off := app.ControllersDisabledByDefault()
	var all []controller
	for _, name := range slices.Sorted(slices.Values(app.KnownControllers())) {
		all = append(all, controller{Name: name, Default: !slices.Contains(off, name)})
	}
	return all
}
